"""Bytes that casts to float8 move, in one micro-batch: of all inputs, matrices and gradients.

Kernel by kernel, as `engine.verify.float8` runs them; compiled, they are one or two kernels.
"""

from engine.costs.held import matrices, tokens
from engine.costs.passes import Moved
from engine.precisions import FLOAT8, PRECISIONS
from engine.settings import Settings
from engine.stages import Stage

FP32 = 4


def casts(settings: Settings, stage: Stage) -> Moved:
    """Return what casts of a rank of `stage` move; nothing where no product is in float8.

    Forward, each matrix and its input; backward, the gradient twice, then the matrix and its input
    once more. Copies of three of those follow, in the order that the kernel wants them.
    """
    precision = PRECISIONS[settings.recipe.precision]
    forward = backward = count = 0
    if precision.float8:
        each = cast(precision.compute)
        for tensor, copies in matrices(settings, stage):
            read, made = (tokens(settings) * width for width in (tensor.columns, tensor.rows))
            copied = 2 * FLOAT8 * (read + made + tensor.size)
            forward += copies * each * (read + tensor.size)
            backward += copies * (each * (2 * made + read + tensor.size) + copied)
            count += copies
    again = settings.recipe.recompute == "full"
    return Moved(
        forward=forward,
        backward=backward,
        recomputed=again * forward,
        operators=2 * count,
        repeated=2 * count * (1 + again),  # of four casts in backward, two are beyond the first
    )


def cast(width: int) -> int:
    """Return the bytes an element that a cast moves, of a tensor `width` bytes wide.

    Magnitudes are written and their largest found; then come an fp32 copy, the scaled, the clamped
    and the narrow one.
    """
    scale = 2 * width + width
    return scale + (width + FP32) + 2 * (FP32 + FP32) + (FP32 + FLOAT8)
