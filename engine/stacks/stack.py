"""A software stack: what its modules run and save, and what of a scenario it has lines for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from engine.architecture import Norm
from engine.errors import Fault
from engine.settings import Settings
from engine.stacks.block import Block

if TYPE_CHECKING:  # loading sympy takes longer than what asks for the names of stacks
    from sympy.polys.rings import PolyElement

    from engine.tape import Tape


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A software stack; a switch that is not given is as for plain modules of PyTorch.

    Attributes:
        layer: returns the tape of one layer, as a checkpoint where everything is recomputed.
        embedding: returns the tape of the embedding, up to the first layer's residual stream.
        head: returns the tape of final norm, head and loss; the norm's output is called
            `engine.stacks.parts.FINAL_NORM` in it.
        shared: returns the bytes of what all layers share, such as rotary tables.
        shared_lasts: whether that is there when no pass runs, too.
        lines: "module:function", from a `Structure` to lines that this stack alone has.
        gaps: yields every part of a scenario that the tapes do not know. What most stacks refuse
            is in `engine.stacks.gaps`.
        brings: keys of `[recipe]` with what they are where the scenario does not say.
        source: what the tapes were read from; empty where steps of them are traced here.
        evidence: how the tapes are known.
        builder: "module:function", from a scenario and a dtype of weights to the model that
            `memquiz verify` runs; empty where it runs none.
        why_not_run: why it runs none.
        held_to: what the ledger is held to then.
        library: what the model needs beside PyTorch, as people call it.
        extra: the extra of pyproject.toml that has it.
        trains_adapters: whether adapters beside frozen matrices are modelled.
        saves_on_host: whether activations that wait on the host are modelled.
        steps_on_host: whether an optimizer that steps on the host is, and weights there.
        pages_cache: whether inference keeps its cache in blocks and in place, as serving engines
            do, and not in one tensor a layer that each token makes anew.
        serves: whether inference is modelled.
        no_float8: what is missing where its matrices multiply in float8; empty where nothing is.
        highest_zero: the highest ZeRO stage that it has.
        norms_last: norms that a layer registers behind its matrices, so that they lie behind
            them in flat weights.
        one_sequence: whether a micro-batch of one sequence runs other operators than a larger one.
        fused_kernels: whether activation and gate, softmax and mask, dropout and add, and rotary
            positions are a kernel each, and not a kernel for each operator.
        fused_accumulation: whether products add to the gradients themselves, so that a further
            micro-batch moves no more bytes (gradient accumulation fusion).
        overlaps_tensor_parallel: whether the sums of input gradients over tensor ranks hide
            behind the products of weight gradients.
    """

    layer: Callable[[Block], "Tape"]
    embedding: Callable[[Block], "Tape"]
    head: Callable[[Block], "Tape"]
    shared: Callable[[Block], "PolyElement"]
    shared_lasts: bool = True
    lines: str = ""
    gaps: Callable[[Settings], Iterable[Fault]]
    brings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    evidence: Literal["traced", "measured", "assumed"] = "assumed"
    builder: str = ""
    why_not_run: str = "no module here does what its tapes say"
    held_to: str = ""
    library: str = ""
    extra: str = "verify"
    trains_adapters: bool = False
    saves_on_host: bool = False
    steps_on_host: bool = True
    pages_cache: bool = False
    serves: bool = False
    no_float8: str = "no step of its modules with float8 is traced"
    highest_zero: int = 3
    norms_last: frozenset[Norm] = frozenset()
    one_sequence: bool = False
    fused_kernels: bool = False
    fused_accumulation: bool = False
    overlaps_tensor_parallel: bool = False
