"""A linear layer whose three products are in float8, and which keeps its input in 16 bits.

Written after pytorch/ao torchao/float8 (float8_linear.py, matmul_with_hp_or_float8_args), recipe
"tensorwise", run as it is: a tensor that is cast has its scaled and its clamped fp32 copy beside
it, and in the backward pass casts live until both products are done.
"""

from sympy.polys.rings import PolyElement

from engine.precisions import FLOAT8
from engine.stacks.adapters import pen_of
from engine.stacks.block import Block
from engine.stacks.pen import Pen, tokens
from engine.tape import Value

# A tensor that is cast: scaled in fp32, then clamped in fp32, then cast.
COPIES = 4 + 4


class Float8Pen(Pen):
    """Writes operators of a layer whose matrices multiply in float8."""

    def linear(
        self, x: Value, shape: tuple[PolyElement, PolyElement], *, name: str, bias: bool, why: str
    ) -> Value:
        """Write a matrix of `shape` (out, in), its input and itself cast on the way."""
        rows, columns = shape
        out = Value(name=name, size=self.compute * tokens * rows, why=why)
        self.write(
            x,
            self._narrow(x, tokens * columns),
            self._narrow(None, rows * columns),
            output=out,
            keeps=(x,),
            gradients=self.gradient * rows * columns,
            makes_views=True,
            keeps_last=True,
            **self._backward(tokens * rows, tokens * columns, rows * columns),
        )
        if not bias:
            return out
        biased = Value(name=name, size=out.size, why=why)
        self.write(out, output=biased, hands_on=True, gradients=self.gradient * rows)
        self.hold(x.storage)
        return biased

    def _narrow(self, x: Value | None, elements: PolyElement) -> Value:
        """Write the cast of `x`, or of a weight where there is none."""
        narrow = Value(name="in float8", size=FLOAT8 * elements, differentiable=False)
        return self.write(*((x,) if x else ()), output=narrow, workspace=COPIES * elements)

    def _backward(
        self, made: PolyElement, read: PolyElement, matrix: PolyElement
    ) -> dict[str, PolyElement | tuple[PolyElement, ...]]:
        """Return what is alive beside gradients, of so many elements of output, input and weight.

        In their order: weight cast, product for the input, output's gradient cast once more,
        input cast, product for the weight. A factor that lies in the wrong order is copied: the
        weight for the first product, both factors for the second.
        """
        of_read, of_matrix = self.compute * read, self.gradient * matrix
        cast = FLOAT8 + COPIES
        return {
            "backward_moments": (
                FLOAT8 * made + cast * matrix - of_read - of_matrix,
                FLOAT8 * (made + 2 * matrix) - of_matrix,
                FLOAT8 * (made + matrix) + cast * made - of_matrix,
                FLOAT8 * (2 * made + matrix) + cast * read - of_matrix,
            ),
            "backward_workspace": FLOAT8 * (3 * made + matrix + 2 * read),
        }


def pen_of_layer(block: Block) -> Pen:
    """Return the pen for a layer of `block`; embedding and head stay in 16 bits."""
    return Float8Pen(block) if block.precision.float8 else pen_of(block)
