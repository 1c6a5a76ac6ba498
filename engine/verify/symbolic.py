"""The closed form held to the traced step as a formula: batch and sequence stay symbols.

Sizes that hold b or s are expressions of PyTorch's `ShapeEnv`, so what is alive at the peak of a
phase is a polynomial in b and s. The ledger's formula, with every other number put in, must be
the same polynomial. What the two do not share is listed by name, and read from the trace.

The moment of a peak is the one at the scenario's own b and s, and each `Max` of the ledger is its
largest argument there: in another region of b and s another moment may bind.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import cast

import torch
from sympy import Add, Basic, Expr, Integer, Max, Min, Symbol, expand
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    GuardOnDataDependentSymNode,
    ShapeEnv,
)

from engine.allocator import block
from engine.errors import Fault, InputError
from engine.estimate import ledger
from engine.ledger import Category, Ledger, Phase
from engine.scenario import Scenario
from engine.stages import differing
from engine.symbols import W, b, compiled, s, s_t
from engine.values import values_of
from engine.verify.live import LiveBytes
from engine.verify.models import Model
from engine.verify.ranks import alone, fake_ranks, fsdp2, is_offloaded
from engine.verify.steps import Parts, Progress, run, silent
from engine.verify.timeline import Allocation, Moment, Timeline

# What PyTorch says of a symbol that it needs as a number, as exceptions and, from C++, as a text.
UNKNOWN = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
)
ASKS_FOR_NUMBERS = "symbolic sizes/strides"

COUNTERS = "the optimizer's step counters"
SCALARS = "loss scalars"
RANDOM_STATE = "random state of fused attention"
POSITION_IDS = "position ids"
CONSTANTS = "constants of the model"
LEFTOVERS: Mapping[str, str] = {
    COUNTERS: "AdamW counts its steps in an fp32 number for each tensor",
    SCALARS: "the loss, the weight that it was divided by, and its gradient",
    RANDOM_STATE: "a seed and an offset, which each layer keeps even where nothing is dropped",
    POSITION_IDS: "8 bytes a position, which the backward of the position table needs",
    CONSTANTS: "buffers that hold neither weights nor tokens, such as rotary frequencies",
}


class SymbolError(RuntimeError):
    """PyTorch needs a number in place of b or s; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Peak:
    """What the trace has alive at the peak of a phase, in the steady state.

    Attributes:
        phase: the phase.
        traced: bytes, as tensors count them, over b and s.
        leftovers: those of them for which the ledger has no line, by a name of `LEFTOVERS`.
        rounding: bytes that blocks of 512 bytes add, at the scenario's own b and s.
    """

    phase: Phase
    traced: Expr
    leftovers: tuple[tuple[str, Expr], ...]
    rounding: int

    def against(self, book: Ledger) -> "Equality":
        """Return this peak beside what `book` has for its phase."""
        return Equality(
            phase=self.phase,
            traced=self.traced,
            leftovers=self.leftovers,
            rounding=self.rounding,
            predicted=predicted(book, self.phase),
        )


@dataclass(frozen=True, kw_only=True)
class Equality(Peak):
    """A traced peak beside the ledger's formula, `predicted`: bytes over b and s."""

    predicted: Expr

    @property
    def difference(self) -> Expr:
        """Bytes that the trace has more and no leftover explains, over b and s; 0 where equal."""
        explained = Add(self.predicted, *(size for _, size in self.leftovers))
        difference: Expr = expand(self.traced - explained)
        return difference


def symbolic(scenario: Scenario, *, progress: Progress = silent) -> tuple[Equality, ...]:
    """Trace a steady step with b and s as symbols, and put the ledger's formulas beside it.

    Raises:
        InputError: the ranks share what is not traced; see `peaks`.
        SymbolError: PyTorch made a number of b or s, so the trace holds for that number only.
    """
    traced = peaks(scenario, progress=progress)
    book = ledger(scenario)
    return tuple(peak.against(book) for peak in traced)


def predicted(book: Ledger, phase: Phase) -> Expr:
    """Return the ledger's bytes in `phase` over b and s, the cuBLAS workspace left out."""
    numbers = {x: Integer(value) for x, value in book.values.items() if x not in {b, s, s_t}}
    chosen = _chosen(book.formula(phase), book.values)
    size: Expr = expand(chosen.xreplace(numbers | {W: Integer(0)}))
    return size


def _chosen(expression: Basic, values: Mapping[Symbol, int]) -> Basic:
    """Put in place of each `Max` and `Min` the argument that it is at `values`."""
    if isinstance(expression, Max | Min):
        pick = max if isinstance(expression, Max) else min
        return _chosen(pick(expression.args, key=lambda x: compiled(x)(values)), values)
    if not expression.args:
        return expression
    made: Basic = expression.func(*(_chosen(part, values) for part in expression.args))
    return made


def peaks(scenario: Scenario, *, progress: Progress = silent) -> tuple[Peak, ...]:
    """Trace a steady step of one rank with b and s as symbols; return the peak of each phase.

    The rank is alone or the first of several under FSDP2.

    Args:
        scenario: what to run.
        progress: called with the number of layers that have run forward.

    Raises:
        InputError: the ranks share what is not traced: buckets of plain data parallelism, ZeRO-1
            and 2.
        SymbolError: PyTorch made a number of b or s, so the trace holds for that number only.
    """
    many, offloaded = scenario.parallel.data > 1, is_offloaded(scenario)
    if (many and scenario.parallel.zero != 3) or (offloaded and not many):
        stack = f"ZeRO-{scenario.parallel.zero}" if scenario.parallel.zero else "DDP"
        stack = "offload" if offloaded else stack
        what = f"{stack} makes buckets where sizes cannot stay symbols"
        raise InputError(Fault("--symbolic", what, "take one GPU, or zero = 3"))
    if scenario.recipe.loss == "chunked":
        what = "how many rows a chunk has depends on b and s, and is no polynomial of them"
        raise InputError(Fault("--symbolic", what, 'take loss = "eager" or "fused"'))
    sizes = _Sizes(scenario)
    live = _SymbolicBytes(scenario, sizes)
    with (
        _symbols_only(),
        fake_ranks(scenario) as mesh,
        FakeTensorMode(allow_non_fake_inputs=True, shape_env=sizes.environment),
        enable_python_dispatcher(),  # operators that are put together in C++ ask for numbers
        live.counting(),
    ):
        parts = fsdp2(scenario, mesh) if mesh else alone(scenario)
        # Sizes are typed as integers throughout, and these stand for integers.
        batch = cast(Model, parts.model).batch(*cast(tuple[int, int], sizes.batch()))
        parts = replace(parts, batch=batch)
        live.where.name(parts.model)
        _create_states(parts)
        run(scenario, parts, live, steps=1, progress=progress)
    timeline = live.timeline()
    sizes.check()
    found = timeline.peaks(timeline.last_step)
    return tuple(_peak(phase, moment, timeline, sizes) for phase, moment in found.items())


@contextmanager
def _symbols_only() -> Iterator[None]:
    """Tell errors of symbols from all others, which are faults.

    Raises:
        SymbolError: PyTorch needs a number inside.
    """
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, UNKNOWN) and ASKS_FOR_NUMBERS not in str(error):
            raise
        why = str(error).splitlines()
        raise SymbolError(why[0] if why else type(error).__name__) from error


def _create_states(parts: Parts) -> None:
    """Step once on gradients of 0, so that the one step that is traced is a steady one."""
    for weight in parts.stepper.weights:
        weight.grad = torch.zeros_like(weight)
    parts.stepper.step()


def _peak(phase: Phase, moment: Moment, timeline: Timeline, sizes: "_Sizes") -> Peak:
    alive = timeline.alive(moment.events)
    before = timeline.alive(timeline.marks[0].at)
    traced, leftovers = [], dict.fromkeys(LEFTOVERS, cast(Expr, Integer(0)))
    for number in alive:
        allocation = timeline.allocations[number]
        expression = sizes.polynomial(allocation.requested)
        traced.append(expression)
        name = _leftover(allocation, expression, lasting=number in before)
        if name:
            leftovers[name] += expression
    return Peak(
        phase=phase,
        traced=Add(*traced),
        leftovers=tuple((name, size) for name, size in leftovers.items() if size != 0),
        rounding=sum(block(size) - size for size in alive.values()),
    )


def _leftover(allocation: Allocation, size: Expr, *, lasting: bool) -> str:
    """Return the name under which `allocation` is left over; empty where the ledger has it."""
    if not allocation.shape:
        states = allocation.category is Category.OPTIMIZER_STATE
        return RANDOM_STATE if allocation.dtype == "uint64" else COUNTERS if states else SCALARS
    if allocation.dtype == "uint64":
        return RANDOM_STATE
    if allocation.dtype == "int64" and size == 8 * s:
        return POSITION_IDS
    constant = lasting and allocation.category is Category.TEMPORARY and size.is_Integer
    return CONSTANTS if constant else ""


class _Sizes:
    """b and s as symbols of a `ShapeEnv`, and the sizes over them."""

    def __init__(self, scenario: Scenario) -> None:
        self.environment = ShapeEnv(duck_shape=False)
        work = scenario.workload
        self._own = {b: Integer(work.micro_batch), s: Integer(work.sequence)}
        self._numbers = _stand_ins(scenario)
        self._symbols: dict[Symbol, Symbol] = {}  # PyTorch's, and ours
        self._polynomials: dict[Expr, Expr] = {}

    def batch(self) -> tuple[object, ...]:
        """Return b and s as PyTorch has them."""
        return tuple(self._new(symbol, number) for symbol, number in self._numbers.items())

    def _new(self, symbol: Symbol, number: int) -> object:
        source = ConstantSource(symbol.name)
        new = self.environment.create_symbol(number, source, dynamic_dim=DimDynamic.DYNAMIC)
        self._symbols[cast(Symbol, new)] = symbol
        return self.environment.create_symintnode(new, hint=number, source=source)

    def polynomial(self, size: object) -> Expr:
        """Return `size`, an integer of Python or of PyTorch, over the ledger's b and s."""
        if not isinstance(size, torch.SymInt):
            number: Expr = Integer(size)
            return number
        theirs: Expr = size.node.expr
        if theirs not in self._polynomials:
            self._polynomials[theirs] = expand(theirs.xreplace(self._symbols))
        return self._polynomials[theirs]

    def number(self, size: object) -> int:
        """Return `size` at the scenario's own b and s."""
        return int(self.polynomial(size).xreplace(self._own))

    def check(self) -> None:
        """Make sure that b and s have stayed symbols."""
        for theirs, symbol in self._symbols.items():
            if theirs in self.environment.replacements:
                number = self.environment.replacements[theirs]
                message = f"PyTorch's operators ask that {symbol} be {number}"
                raise SymbolError(message)


def _stand_ins(scenario: Scenario) -> Mapping[Symbol, int]:
    """Return numbers at which PyTorch compares sizes, near the scenario's own b and s.

    It takes 0 and 1 for what they are, and two sizes that are equal at these numbers might be
    taken for one; so neither b nor s nor b·s may be another size of the scenario.
    """
    work, a = scenario.workload, scenario.architecture
    taken = {a.query_width, a.kv_width, a.rotary_dim, a.rotary_dim // 2, a.heads // a.kv_heads}
    sizes = values_of(scenario, differing(scenario)[0])
    taken |= {value for x, value in sizes.items() if x not in {b, s, s_t}}
    batch = next(n for n in count(max(2, work.micro_batch)) if n not in taken)
    taken.add(batch)
    free = (n for n in count(max(2, work.sequence)) if not taken & {n, n * batch})
    return {b: batch, s: next(free)}


class _SymbolicBytes(LiveBytes):
    """Counts storages whose sizes hold symbols, unrounded, at the scenario's own b and s."""

    def __init__(self, scenario: Scenario, sizes: _Sizes) -> None:
        super().__init__(scenario.architecture.vocab)
        self._sizes = sizes

    def size(self, storage: torch.UntypedStorage) -> int:
        """Return the bytes of `storage`."""
        return self._sizes.number(storage.nbytes())
