"""What Megatron-LM with Transformer Engine holds beside model states and activations."""

from collections.abc import Iterator

from sympy import Integer

from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.structure import Structure
from engine.symbols import P_shapes, b, h, s_t
from engine.units import MIB

WORKSPACE = 32 * MIB
STREAMS = 4
BASE = "NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py"
SCHEDULE = "NVIDIA/Megatron-LM megatron/core/pipeline_parallel/schedules.py"
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield the buffers of Transformer Engine and of the pipeline's schedule."""
    yield Line(
        name="stand-ins for weight gradients",
        category=Category.TEMPORARY,
        size=structure.precision.weights * P_shapes,
        why="gradients are added into fp32 buffers, but autograd wants a tensor of each weight's "
        "shape: one of each is kept for all layers",
        source=f"{BASE}, get_dummy_wgrad",
        evidence=Evidence.MEASURED,
    )
    yield Line(
        name="Transformer Engine's workspace",
        category=Category.TEMPORARY,
        size=Integer(WORKSPACE),
        why="its matrix products have a scratch buffer of their own",
        source=f"{BASE.replace('module/base', 'cpp_extensions/gemm')}, get_cublas_workspace",
        evidence=Evidence.MEASURED,
    )
    if structure.block.experts and structure.with_experts:
        yield Line(
            name="workspaces of the experts' products",
            category=Category.TEMPORARY,
            size=Integer(STREAMS * WORKSPACE),
            why="products of several experts run at once, on streams with a scratch buffer each",
            source=f"{BASE.replace('module/base', 'cpp_extensions/gemm')}, get_cublas_workspace",
            evidence=Evidence.MEASURED,
        )
    if structure.last and not structure.first and structure.accumulates:
        yield _handed_on(structure, ALL_PHASES[: ALL_PHASES.index(Phase.REDUCE)], "in front of")
    elif not structure.last:
        yield _handed_on(structure, (Phase.FORWARD,), "behind")


def _handed_on(structure: Structure, phases: tuple[Phase, ...], where: str) -> Line:
    return Line(
        name="a gradient between stages",
        category=Category.COMMUNICATION,
        size=structure.precision.compute * b * s_t * h,
        phases=phases,
        why=f"the schedule refers to the last micro-batch's gradient, of the stage {where} this "
        "one, until the next is there",
        source=f"{SCHEDULE}, forward_backward_pipelining_without_interleaving",
        evidence=Evidence.MEASURED,
    )
