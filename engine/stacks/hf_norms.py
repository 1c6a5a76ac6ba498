"""RMSNorm of the `hf` stack: plain operators in fp32, in three classes' ways.

Read from Transformers 5.24, models/{llama,olmo2,gemma2}/modeling_*.py, and traced operator by
operator. Llama's casts to 16 bits before the weight multiplies it, the two others' behind it;
Gemma 2's weight is 1 + w, a tensor that is made anew.
"""

from sympy.polys.rings import PolyElement

from engine.stacks.block import Block
from engine.stacks.pen import Pen, tokens
from engine.tape import ZERO, Value

WHY = "Transformers' RMSNorm computes in fp32, one operator after another"


def is_olmo2(block: Block) -> bool:
    """Say whether the class is that of OLMo 2."""
    return block.norm_outputs and not block.norm_inputs


def is_gemma2(block: Block) -> bool:
    """Say whether the class is that of Gemma 2."""
    return block.norm_outputs and block.norm_inputs


def rms_norm(pen: Pen, x: Value, width: PolyElement, *, name: str) -> Value:
    """Write a norm over the `width` elements of each token of `x`."""
    wide, normed = _normed(pen, x, 4 * tokens * width)
    out = Value(name=name, size=x.size, why="input of the matrices behind the norm")
    if pen.block.norm_outputs:
        _weighted_in_fp32(pen, normed, out, width)
    else:
        _weighted(pen, normed, out, width)
    if wide is not x:
        pen.hold(x)  # the call's argument
    return out


def _normed(pen: Pen, x: Value, size: PolyElement) -> tuple[Value, Value]:
    """Write x / rms; return `x` in fp32 and the result."""
    wide = x
    if x.size != size:
        wide = pen.write(x, output=Value(name="fp32 norm inputs", size=size, why=WHY))
    squares = Value(name="squares", size=size)
    pen.write(wide, output=squares, keeps=(wide,), backward_workspace=2 * size)
    scale = Value(name="norm statistics", size=4 * tokens, why="1 / rms of each row, in fp32")
    pen.write(squares, output=scale)
    normed = Value(name="normed", size=size, why=WHY)
    pen.write(wide, scale, output=normed, keeps=(wide, scale), backward_workspace=size)
    return wide, normed


def _weighted(pen: Pen, normed: Value, out: Value, width: PolyElement) -> None:
    if normed.size != out.size:
        narrow = Value(
            name="normed in 16 bits", size=out.size, why="the norm's weight multiplies it"
        )
        normed = pen.write(normed, output=narrow)
    pen.write(
        normed,
        output=out,
        keeps=(normed,),
        gradients=pen.gradient * width,
        backward_workspace=out.size,
    )


def _weighted_in_fp32(pen: Pen, normed: Value, out: Value, width: PolyElement) -> None:
    why = "Gemma 2's norms multiply by 1 + w, made in fp32 in each pass"
    plus = Value(name="1 + norm weights", size=4 * width, why=why, differentiable=False)
    is_cast = normed.size != out.size
    weighted = Value(name="weighted", size=normed.size) if is_cast else out
    pen.write(
        normed,
        output=weighted,
        keeps=(normed, plus) if is_gemma2(pen.block) else (normed,),
        gradients=pen.gradient * width,
        backward_workspace=normed.size if pen.gradient else ZERO,
    )
    if is_cast:
        pen.write(weighted, output=out)
