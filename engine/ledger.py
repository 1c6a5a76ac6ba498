"""The ledger: every byte of a step as one line, and the peak over the step's phases.

Phases, fixed here. Each is an interval of the step; a line is alive in it if it is alive at the
moment in it at which most is alive.

- forward: from the first operator to the loss; its maximum is the loss being computed
- loss: the backward of loss and head, up to the gradient that enters the last layer
- backward-first: the backward of the last layer, the first that the backward pass reaches
- backward-last: the backward of the first layer and of the embedding
- reduce: gradients exchanged between ranks
- step: the optimizer's step

Inference has two phases of its own, with all sequences at their full length in both:

- prefill: a forward pass over a chunk of prompts, up to the first token behind them
- decode: a forward pass over one token of each sequence

Between backward-first and backward-last memory is linear in the layer's index, so the maximum
lies on one of the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from sympy import Add, Expr, Integer, Symbol

from engine.stages import Stage
from engine.symbols import N


class Phase(StrEnum):
    """An interval of the training step, or of inference."""

    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD_FIRST = "backward-first"
    BACKWARD_LAST = "backward-last"
    REDUCE = "reduce"
    STEP = "step"
    PREFILL = "prefill"
    DECODE = "decode"


class Category(StrEnum):
    """What kind of memory a line is. All but the last three are in PyTorch's allocator."""

    WEIGHTS = "weights"
    MASTER_WEIGHTS = "master_weights"
    GRADIENTS = "gradients"
    OPTIMIZER_STATE = "optimizer_state"
    ACTIVATIONS = "activations"
    LOGITS = "logits"
    TEMPORARY = "temporary"
    COMMUNICATION = "communication"
    KV_CACHE = "kv_cache"
    UNIFIED_MEMORY = "unified_memory"
    ALLOCATOR_SLACK = "allocator_slack"
    CUDA_CONTEXT = "cuda_context"


class Evidence(StrEnum):
    """How a line is known."""

    EXACT = "exact"
    TRACED = "traced"
    MEASURED = "measured"
    ASSUMED = "assumed"


SERVING_PHASES = (Phase.PREFILL, Phase.DECODE)
ALL_PHASES = tuple(phase for phase in Phase if phase not in SERVING_PHASES)
BESIDE_PYTORCH = (Category.UNIFIED_MEMORY, Category.CUDA_CONTEXT)
OUTSIDE = (*BESIDE_PYTORCH, Category.ALLOCATOR_SLACK)
MODEL_STATES = (
    Category.WEIGHTS,
    Category.MASTER_WEIGHTS,
    Category.GRADIENTS,
    Category.OPTIMIZER_STATE,
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One use of memory.

    Args:
        name: what it is, unique in its ledger.
        category: the kind of memory.
        size: bytes, a sympy expression over the symbols of `engine.symbols`.
        phases: when it is alive, in the steady state.
        why: one sentence that could be said aloud.
        source: the paper, the framework's file or the trace that it comes from.
        evidence: how it is known.
        low: the lower end where `size` is the upper end of an interval.
        before_states: whether it is gone when the first step makes the optimizer states.
    """

    name: str
    category: Category
    size: Expr
    phases: tuple[Phase, ...] = ALL_PHASES
    why: str
    source: str
    evidence: Evidence = Evidence.EXACT
    low: Expr | None = None
    before_states: bool = False


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Lines with their sizes in bytes.

    Args:
        lines: every line, alive or not at the peak.
        sizes: bytes of each line, aligned with `lines`.
        lows: the lower end of each line's bytes; equal to `sizes` but for intervals.
        values: what the symbols stand for.
        stage: the stage of the pipeline that the rank is in.
        possible: the phases of a step; not every step has them all.
    """

    lines: tuple[Line, ...]
    sizes: tuple[int, ...]
    lows: tuple[int, ...]
    values: Mapping[Symbol, int]
    stage: Stage
    possible: tuple[Phase, ...] = ALL_PHASES

    def size(self, name: str) -> int:
        """Return the bytes of the line called `name`.

        Raises:
            KeyError: there is no such line.
        """
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, int]:
        return {line.name: size for line, size, _ in self._rows}

    @cached_property
    def _rows(self) -> tuple[tuple[Line, int, int], ...]:
        return tuple(zip(self.lines, self.sizes, self.lows, strict=True))

    def total(self, *categories: Category, phase: Phase | None = None) -> int:
        """Return the bytes of all lines in `categories`, of those alive in `phase` if given."""
        return sum(
            size
            for line, size, _ in self._rows
            if line.category in categories and (phase is None or phase in line.phases)
        )

    @cached_property
    def phases(self) -> Mapping[Phase, int]:
        """Allocated bytes in each phase that the step has, in the steady state."""
        return self._allocated(first_step=False)

    @cached_property
    def first_step(self) -> Mapping[Phase, int]:
        """Allocated bytes in each phase of the first step, which creates the optimizer states."""
        return self._allocated(first_step=True)

    @property
    def _before_states(self) -> int:
        return sum(size for line, size, _ in self._rows if line.before_states)

    def _allocated(self, *, first_step: bool) -> Mapping[Phase, int]:
        totals = dict.fromkeys(self.possible, 0)
        inside = [row for row in self._rows if row[0].category not in OUTSIDE]
        for line, size, _ in inside:
            late = first_step and line.category is Category.OPTIMIZER_STATE
            for phase in line.phases:
                if not late or phase is Phase.STEP:
                    totals[phase] += size
        if first_step and Phase.STEP in totals:
            states = self.total(Category.OPTIMIZER_STATE)
            totals[Phase.STEP] -= min(states, self._before_states)
        if self.values[N] == 1:
            totals.pop(Phase.REDUCE, None)
        if not self.stage.last:
            totals.pop(Phase.LOSS, None)
        return totals

    @property
    def peak_phase(self) -> Phase:
        """The phase in which most is allocated; the earliest of several."""
        return max(self.phases, key=lambda phase: self.phases[phase])

    @property
    def peak(self) -> int:
        """Most bytes allocated at any moment of the step."""
        return self.phases[self.peak_phase]

    @property
    def alive(self) -> tuple[tuple[Line, int], ...]:
        """The allocated lines alive at the peak with their bytes, largest first, none empty."""
        rows = [
            (line, size)
            for line, size, _ in self._rows
            if size and self.peak_phase in line.phases and line.category not in OUTSIDE
        ]
        return tuple(sorted(rows, key=lambda row: -row[1]))

    def formula(self, phase: Phase) -> Expr:
        """Return the allocated bytes of `phase` as an expression."""
        sizes = [
            line.size
            for line in self.lines
            if line.category not in OUTSIDE and phase in line.phases
        ]
        return Add(Integer(0), *sizes)

    @property
    def reserved(self) -> tuple[int, int]:
        """Lower and upper estimate of the bytes that PyTorch's allocator has reserved."""
        return self._with(Category.ALLOCATOR_SLACK)

    @property
    def nvidia_smi(self) -> tuple[int, int]:
        """Lower and upper estimate of the bytes that nvidia-smi would show."""
        return self._with(*OUTSIDE)

    def _with(self, *categories: Category) -> tuple[int, int]:
        low = high = self.peak
        for line, size, least in self._rows:
            if line.category in categories:
                low, high = low + least, high + size
        return low, high
