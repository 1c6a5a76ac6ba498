"""From a scenario to its ledger, and from the ledger to the answer: does it fit?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sympy import Symbol

from engine import symbols
from engine.ledger import OUTSIDE, SERVING_PHASES, Category, Ledger, Line
from engine.lines import (
    activations,
    communication,
    of_stack,
    outside,
    serving,
    states,
    step,
    working_set,
)
from engine.optimizers import optimizers
from engine.scenario import Scenario
from engine.served import Served, served_of
from engine.served_values import served_values
from engine.stages import Stage, differing
from engine.state_forms import form_of, in_pages
from engine.structure import Sharing, Structure, on_device, structure_of
from engine.symbols import Evaluate, compiled
from engine.units import MIB
from engine.values import values_of

Fits = Literal["yes", "tight", "no"]
PARTS = (
    states.lines,
    activations.lines,
    activations.weight_casts,
    working_set.lines,
    step.lines,
    communication.lines,
    of_stack.lines,
    outside.lines,
)
LASTING = (Category.WEIGHTS, Category.KV_CACHE)


def ledger(scenario: Scenario) -> Ledger:
    """Return every line of `scenario` with its bytes on one rank, the fullest of all."""
    return fullest(ledgers(scenario))


def fullest(books: Sequence[Ledger]) -> Ledger:
    """Return the ledger of `books` with the highest peak, the first of several."""
    return max(books, key=lambda book: book.peak)


def ledgers(scenario: Scenario) -> tuple[Ledger, ...]:
    """Return the ledger of one rank of each stage of the pipeline, of those that differ.

    Lines are built once for each set of switches; a further scenario with the same switches only
    puts its numbers in.
    """
    return tuple(_ledger(scenario, stage) for stage in differing(scenario))


def lines_of(switches: Structure | Served) -> tuple[Line, ...]:
    """Return the lines of a rank with these switches, in the order of its ledger's rows."""
    return tuple(row.line for row in _rows(switches))


def switches_of(scenario: Scenario, stage: Stage) -> Structure | Served:
    """Return the switches of a rank of `stage`, of training or of inference."""
    return served_of(scenario, stage) if scenario.served else structure_of(scenario, stage)


def _ledger(scenario: Scenario, stage: Stage) -> Ledger:
    rows = _rows(switches_of(scenario, stage))
    if scenario.served:
        return _served(rows, scenario, stage)
    values = dict(values_of(scenario, stage))
    inner = _book([row for row in rows if row.line.category not in OUTSIDE], values, stage)
    values[symbols.M] = inner.peak
    outer = _book([row for row in rows if row.line.category in OUTSIDE], values, stage)
    return Ledger(
        lines=inner.lines + outer.lines,
        sizes=inner.sizes + outer.sizes,
        lows=inner.lows + outer.lows,
        values=values,
        stage=stage,
    )


def _served(rows: Sequence["_Row"], scenario: Scenario, stage: Stage) -> Ledger:
    """Return the ledger of a rank that serves.

    The pool has what is left when all else has its bytes, at the upper estimate, and those that
    are outside PyTorch's allocator depend on what is inside it.
    """
    values = dict(served_values(scenario, stage))
    inside = [row for row in rows if row.line.category not in OUTSIDE]
    values[symbols.n_free] = 0
    inner = replace(_book(inside, values, stage), possible=SERVING_PHASES)
    values[symbols.M] = inner.peak
    values[symbols.M_passing] = inner.peak - inner.total(*LASTING, phase=inner.peak_phase)
    whole = replace(_book(rows, values, stage), possible=SERVING_PHASES)
    free = room_of(scenario) - whole.nvidia_smi[1]
    if not scenario.serving.utilization or free <= 0:
        return whole
    values[symbols.n_free] = free // values[symbols.B_block]
    return replace(_book(rows, values, stage), possible=SERVING_PHASES)


def _book(rows: Sequence["_Row"], values: Mapping[Symbol, int], stage: Stage) -> Ledger:
    sizes = tuple(row.size(values) for row in rows)
    return Ledger(
        lines=tuple(row.line for row in rows),
        sizes=sizes,
        lows=tuple(
            size if row.low is None else row.low(values)
            for row, size in zip(rows, sizes, strict=True)
        ),
        values=values,
        stage=stage,
    )


def model_states(
    parameters: int,
    *,
    precision: str,
    optimizer: str = "adamw",
    zero: int = 0,
    ranks: int = 1,
    on_host: Literal["nothing", "optimizer", "parameters"] = "nothing",
) -> Mapping[str, int]:
    """Return the model states of one rank in bytes, by line, for any number of parameters.

    Args:
        parameters: P; no architecture is needed, so FSDP2's shards are not padded to whole rows.
        precision: a name of `engine.precisions.PRECISIONS`.
        optimizer: a name of `engine.optimizers.optimizers`; none whose states depend on the
            shape of each tensor. Those of 8 bits, and paged ones, are taken for those of one.
        zero: the ZeRO stage.
        ranks: N, data-parallel ranks.
        on_host: what is offloaded; the optimizer's states go where the parameters are.

    Raises:
        ValueError: the optimizer's states depend on the shape of each tensor.

    Source: arXiv 1910.02054 (ZeRO), section 5.
    """
    form = form_of(optimizers()[optimizer])
    if not form.by_elements:
        raise ValueError(optimizer)
    sharing = Sharing(
        **on_device(
            precision,
            zero if ranks > 1 else 0,
            offloaded=on_host != "nothing",
            weights_on_host=on_host == "parameters",
        ),
        optimizer=optimizers()[optimizer],
        many=ranks > 1,
    )
    share = -(-parameters // ranks)
    stepped = share if sharing.zero else parameters
    values = {
        symbols.P: parameters,
        symbols.N: ranks,
        symbols.P_shard: share,
        **form.counts([((stepped,), 1)]),
        **in_pages([((stepped,), 1)]),
    }
    return {line.name: compiled(line.size)(values) for line in states.model_states(sharing)}


def capacity(scenario: Scenario) -> int:
    """Return the bytes of one GPU as its driver reports them."""
    return scenario.hardware.gpu.memory_mib * MIB


def room_of(scenario: Scenario) -> int:
    """Return the bytes of one GPU that may be taken: all, or an inference engine's share."""
    share = scenario.serving.utilization
    whole = capacity(scenario)
    return int(Fraction(str(share)) * whole) if share else whole


def fits(scenario: Scenario, of: Ledger | None = None) -> Fits:
    """Say whether the step fits on one GPU, or into the share of it that an engine may take.

    "yes" if the upper estimate of what nvidia-smi would show is within the card, "no" if the
    allocated peak alone exceeds it, "tight" between the two. `of` is the ledger, where it is
    at hand already.
    """
    return fits_in(of or ledger(scenario), room_of(scenario))


def fits_in(book: Ledger, room: int) -> Fits:
    """Say whether a step fits into `room` bytes of a GPU, as `fits` does of all of it."""
    if book.peak > room:
        return "no"
    return "yes" if book.nvidia_smi[1] <= room else "tight"


@dataclass(frozen=True, kw_only=True)
class _Row:
    line: Line
    size: Evaluate
    low: Evaluate | None


@lru_cache(maxsize=4096)
def _rows(switches: Structure | Served) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            line=line,
            size=compiled(line.size),
            low=None if line.low is None else compiled(line.low),
        )
        for line in _lines(switches)
    )


def _lines(switches: Structure | Served) -> Iterator[Line]:
    if isinstance(switches, Served):
        yield from serving.lines(switches)
        return
    for part in PARTS:
        yield from part(switches)
