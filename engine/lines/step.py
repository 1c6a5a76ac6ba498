"""The optimizer's own temporaries."""

from collections.abc import Iterator

from engine.ledger import Category, Evidence, Line, Phase
from engine.lines import zero
from engine.lines.states import held
from engine.structure import Structure
from engine.symbols import P, P_largest

STEP = (Phase.STEP,)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what lives only while the optimizer steps."""
    optimizer, each = structure.optimizer, structure.precision.stepped
    if optimizer.temporaries:
        yield Line(
            name="optimizer temporaries",
            category=Category.TEMPORARY,
            size=optimizer.temporaries * each * held(structure, 1),
            phases=STEP,
            why=f"foreach steps all tensors at once: a root of every second moment, "
            f"{each} bytes a parameter; fused=True has none",
            source=optimizer.source,
            evidence=Evidence.TRACED,
        )
    if structure.zero in {1, 2} and not structure.main_gradients:
        yield from zero.step(structure)
        return
    if not structure.precision.master or structure.sharded or structure.main_gradients:
        return
    if optimizer.at_once:
        yield Line(
            name="fp32 copies of the gradients",
            category=Category.TEMPORARY,
            size=4 * P,
            phases=STEP,
            why="the master copy is fp32, so 16-bit gradients are cast before the step",
            source="deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, step",
            evidence=Evidence.TRACED,
        )
    else:
        yield Line(
            name="fp32 copy of one gradient",
            category=Category.TEMPORARY,
            size=4 * P_largest,
            phases=STEP,
            why="a fused step goes tensor by tensor and casts one gradient at a time",
            source="the reference optimizer (engine/verify/stepper.py)",
            evidence=Evidence.TRACED,
            # The largest is the embedding, which is stepped first; a tied head is not there last.
            before_states=structure.block.tied,
        )
