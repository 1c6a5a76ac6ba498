"""A frozen matrix and the adapters beside it: out = W·x + (B·(A·x))·scale.

Written after pytorch/torchtune torchtune/modules/peft/lora.py, LoRALinear. A frozen matrix keeps
no input: only A needs it, and B needs what A makes. In 4 bits the matrix is put into 16 bits for
as long as its product runs, forward and backward (arXiv 2305.14314 equation 5).
"""

from collections.abc import Mapping

from sympy.polys.rings import PolyElement

from engine.stacks.block import Block
from engine.stacks.pen import Pen, tokens
from engine.symbols import RING, r_a
from engine.tape import ZERO, Value

# What a matrix makes, and what the matrix is called; the head is in neither.
MATRICES: Mapping[str, str] = {
    "queries": "query",
    "keys": "key",
    "values": "value",
    "attention result": "output",
    "MLP gate": "gate",
    "MLP up": "up",
    "MLP result": "down",
}
_rank = RING(r_a)


class AdapterPen(Pen):
    """Writes operators of a model of which adapters alone are trained."""

    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self.gradient = 0

    def linear(
        self, x: Value, shape: tuple[PolyElement, PolyElement], *, name: str, bias: bool, why: str
    ) -> Value:
        """Write a frozen matrix of `shape` (out, in), its bias frozen too, and its adapters."""
        del bias
        out = Value(name=name, size=self.compute * tokens * shape[0], why=why)
        matrix = MATRICES.get(name, "")
        base = self._frozen(x, out, shape, four_bit=bool(matrix) and self.block.four_bit)
        if matrix not in self.block.adapted:
            return base
        scaled = self._adapter(x, out, shape)
        added = Value(name=name, size=out.size, why=why)
        self.write(base, scaled, output=added, hands_on=True)
        self.hold(x)
        return added

    def _frozen(
        self, x: Value, out: Value, shape: tuple[PolyElement, PolyElement], *, four_bit: bool
    ) -> Value:
        if four_bit:
            whole = self.compute * shape[0] * shape[1]
            return self.write(
                x, output=out, workspace=whole, backward_workspace=whole, makes_views=True
            )
        # Its bytes are a line of their own; what is kept makes a checkpoint run again up to here.
        weight = Value(name="frozen weight", size=ZERO, differentiable=False)
        return self.write(x, weight, output=out, keeps=(weight,), makes_views=True)

    def _adapter(self, x: Value, out: Value, shape: tuple[PolyElement, PolyElement]) -> Value:
        rows, columns = shape
        each = self.block.precision.weights
        entry = self._dropped(x, columns) if self.block.adapter_dropout else x
        low = Value(
            name="inside the adapters",
            size=self.compute * tokens * _rank,
            why="r numbers a token between an adapter's two matrices, input of the second",
        )
        wide = Value(name="adapter output", size=out.size)
        scaled = Value(name="adapter part", size=out.size)
        first, second = each * _rank * columns, each * rows * _rank
        self.write(entry, output=low, keeps=(entry,), gradients=first, makes_views=True)
        self.write(low, output=wide, keeps=(low,), gradients=second, makes_views=True)
        self.write(wide, output=scaled)
        self.hold(low)
        return scaled

    def _dropped(self, x: Value, columns: PolyElement) -> Value:
        mask = Value(
            name="dropout masks",
            size=tokens * columns,
            why="dropout keeps one byte an element to know what it dropped",
        )
        out = Value(
            name="adapters' dropped inputs",
            size=x.size,
            why="each adapter has a dropped copy of its input, which it keeps in place of it",
        )
        return self.write(x, output=out, keeps=(mask,))


def pen_of(block: Block) -> Pen:
    """Return the pen for `block`: one that freezes what has no adapters, where there are some."""
    return AdapterPen(block) if block.frozen else Pen(block)
