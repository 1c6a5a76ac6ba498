"""Writes the operators of a stack onto a tape."""

from dataclasses import replace

from sympy.polys.rings import PolyElement

from engine.architecture import NORM_VECTORS
from engine.stacks.block import Block
from engine.symbols import RING
from engine.tape import Operator, Value

b, s, h, f, V, _, a, k, d, positions, r, E, K = RING.gens[:13]
q, kv = a * d, k * d
tokens = b * s


class Pen:
    """Writes operators onto a tape."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.compute = block.precision.compute
        self.residual = block.precision.residual
        self.gradient = block.precision.weights
        self.operators: list[Operator] = []

    @property
    def of_stream(self) -> str:
        """Why the residual stream is kept between the parts of a layer."""
        norm = self.block.norm_inputs
        return "a norm keeps its input" if norm else "input of the matrices"

    @property
    def of_branch(self) -> str:
        """Why the result of attention or MLP is kept, where it is."""
        norm = self.block.norm_outputs
        return "a norm keeps its input" if norm else "goes to the residual stream"

    def write(self, *inputs: Value, output: Value, keeps: tuple[Value, ...] = (), **more) -> Value:  # type: ignore[no-untyped-def] # noqa: ANN003 - handed on to Operator, which is typed
        """Write an operator and return its output; `more` goes to `Operator`."""
        self.operators.append(Operator(inputs=inputs, output=output, keeps=keeps, **more))
        return output

    def hold(self, *values: Value) -> None:
        """Have the last operator run while `values` are still referred to."""
        last = self.operators.pop()
        self.operators.append(replace(last, holds=(*last.holds, *values)))

    def norm(
        self, x: Value, width: PolyElement, *, name: str, rows: PolyElement, size: PolyElement
    ) -> Value:
        """Write a fused norm over the last dimension of `x`, which has `rows` rows."""
        numbers = {"rmsnorm": 4, "layernorm": 8, "layernorm-no-weight": 8}[self.block.norm]
        statistics = Value(
            name="norm statistics",
            size=numbers * rows,
            why="a norm keeps one or two fp32 numbers for each row it normalised",
        )
        return self.write(
            x,
            output=Value(name=name, size=size, why="input of the matrices behind the norm"),
            keeps=(x, statistics),
            gradients=self.gradient * NORM_VECTORS[self.block.norm] * width,
        )

    def linear(
        self, x: Value, shape: tuple[PolyElement, PolyElement], *, name: str, bias: bool, why: str
    ) -> Value:
        """Write a matrix of `shape` (out, in) that `x` is multiplied with."""
        rows, columns = shape
        out = Value(name=name, size=self.compute * tokens * rows, why=why)
        matrix, vector = self.gradient * rows * columns, self.gradient * rows * bias
        if not self.block.precision.casts:
            return self.write(
                x, output=out, keeps=(x,), gradients=matrix, late=vector, makes_views=True
            )
        # Autocast casts the arguments of a product from the last to the first.
        biases = self._cast(rows, vector, name="bias casts") if bias else ()
        weight = self._cast(rows * columns, matrix, name="weight casts")
        narrow = x
        if x.size != self.compute * tokens * columns:
            narrow = self.write(
                x,
                output=Value(
                    name=f"{x.name} in 16 bits",
                    size=self.compute * tokens * columns,
                    why="autocast casts the input of every matrix anew, and each keeps its copy",
                ),
            )
        return self.write(
            narrow,
            *weight,
            *biases,
            output=out,
            keeps=(narrow, *weight),
            summed=biases,
            holds=(x.storage,),
        )

    def _cast(self, elements: PolyElement, gradients: PolyElement, *, name: str) -> tuple[Value]:
        cast = Value(name=name, size=self.compute * elements, cached=True)
        return (self.write(output=cast, gradients=gradients),)

    def dropout(self, x: Value, elements: PolyElement, why: str = "") -> Value:
        """Write a dropout of `elements` elements, where there is one."""
        if not self.block.dropout:
            return x
        mask = Value(
            name="dropout masks",
            size=elements,
            why="dropout keeps one byte an element to know what it dropped",
        )
        return self.write(
            x, output=Value(name=f"{x.name} behind dropout", size=x.size, why=why), keeps=(mask,)
        )

    def add(self, x: Value, y: Value, *, name: str) -> Value:
        """Write the sum of the residual stream `x` and what a branch made of it."""
        out = Value(name=name, size=x.size, why=self.of_stream)
        return self.write(x, y, output=out, hands_on=True)
