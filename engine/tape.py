"""Autograd on paper: which tensors of a run of operators are alive, moment by moment.

A tape is a list of operators in the order of the forward pass. Replaying it gives what the
backward pass will need (the saved activations) and, for every moment at which memory is about
to fall, the bytes alive. The rules are those of PyTorch's autograd engine:

- an operator's output dies with its last reader, unless an operator keeps it for its backward;
- the backward runs in the reverse order; an operator makes the gradients of all its inputs and
  parameters first, then drops what it kept and the gradient that came in;
- gradients that meet at a tensor with two readers are added in place, unless the older one is a
  view, as the gradient that a matrix product hands back is: then the sum is a third tensor.

Sizes are bytes, as polynomials in the ring of `engine.symbols`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

from sympy.polys.rings import PolyElement

from engine.symbols import RING

ZERO = RING.zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Value:
    """A tensor of a forward pass.

    Args:
        name: what it is; tensors of one name are one line of the ledger.
        size: bytes; its gradient takes as many.
        why: why the backward pass needs it, where it does.
        differentiable: whether a gradient flows through it.
        cached: it lives until the pass is over, whoever reads it.
        view_of: the tensor whose bytes it shows; only its gradient takes bytes of its own.
    """

    name: str
    size: PolyElement
    why: str = ""
    differentiable: bool = True
    cached: bool = False
    view_of: "Value | None" = None

    @property
    def storage(self) -> "Value":
        """The tensor that holds the bytes."""
        return self.view_of or self


@dataclass(frozen=True, kw_only=True, eq=False)
class Operator:
    """One operator.

    Args:
        inputs: tensors that it reads.
        output: the tensor that it makes.
        also: further ones.
        keeps: what its backward needs: inputs, the output, or others that it makes (masks).
        gradients: bytes of the parameter gradients that its backward makes.
        hands_on: its backward makes no new tensor, the gradient goes to the inputs as it is.
        workspace: bytes alive only while the forward operator runs.
        backward_workspace: bytes alive only while the backward operator runs.
        uncast: bytes of a gradient that it makes in a wider dtype, and bytes of the same
            gradient in the dtype of its tensor, to which the engine casts it afterwards.
        inner: the operators behind this one, which a checkpoint runs again in the backward.
        makes_views: the gradients that its backward makes are views of larger-lived storages.
        holds: tensors that Python still refers to while the forward operator runs.
        late: bytes of the parameter gradients that it makes last: a bias's, which is the incoming
            gradient summed up. Behind a checkpoint what the operator kept is gone by then.
        summed: inputs whose gradient is made last too, a cast bias.
        meeting: bytes alive when a parameter gradient has met an older one of the same parameter
            and the gradient that came in is gone.
    """

    inputs: tuple[Value, ...]
    output: Value
    keeps: tuple[Value, ...] = ()
    gradients: PolyElement = ZERO
    hands_on: bool = False
    workspace: PolyElement = ZERO
    backward_workspace: PolyElement = ZERO
    uncast: tuple[PolyElement, PolyElement] = (ZERO, ZERO)
    inner: "Tape | None" = None
    makes_views: bool = False
    holds: tuple[Value, ...] = ()
    also: tuple[Value, ...] = ()
    late: PolyElement = ZERO
    summed: tuple[Value, ...] = ()
    meeting: PolyElement = ZERO

    @property
    def kept(self) -> tuple[Value, ...]:
        """What holds the bytes of what it keeps, each once."""
        return tuple(dict.fromkeys(value.storage for value in self.keeps))

    @property
    def read(self) -> tuple[Value, ...]:
        """What holds the bytes of what it reads."""
        return tuple(value.storage for value in self.inputs)

    @property
    def made(self) -> tuple[Value, ...]:
        """What holds the bytes of what it makes, kept or not."""
        return tuple(value.storage for value in (self.output, *self.also))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tape:
    """Operators in forward order.

    Args:
        operators: in the order of the forward pass.
        holds: tensors that live until the last one is done.
        beside: tensors that are there while the forward pass runs, but not when a checkpoint
            runs it again.
    """

    operators: tuple[Operator, ...]
    holds: tuple[Value, ...] = ()
    beside: tuple[Value, ...] = ()

    @cached_property
    def saved(self) -> tuple[Value, ...]:
        """Every tensor kept for the backward pass, once, in the order in which it is kept."""
        return tuple(dict.fromkeys(kept for op in self.operators for kept in op.kept))

    @cached_property
    def saved_bytes(self) -> PolyElement:
        """Bytes of all saved tensors."""
        return total(self.saved)

    @cached_property
    def counted_bytes(self) -> PolyElement:
        """Bytes of all that is left when the forward pass is over, saved or cached."""
        return total((*self.saved, *self.cached))

    @property
    def cached(self) -> tuple[Value, ...]:
        """Every cached tensor, behind checkpoints too."""
        inner = (value for op in self.operators if op.inner for value in op.inner.cached)
        return (*(op.output for op in self.operators if op.output.cached), *inner)

    @property
    def entries(self) -> tuple[Value, ...]:
        """Tensors from outside: those that are read or held and made by no operator."""
        made = {value for op in self.operators for value in op.made}
        read = (value for op in self.operators for value in op.read)
        wanted = dict.fromkeys((*self.holds, *self.beside, *read))
        return tuple(value for value in wanted if value not in made)

    @property
    def recomputed(self) -> "Tape":
        """The operators that a checkpoint runs again, until all that was kept is there again.

        The last one does not get to make its output if it keeps nothing but its inputs.
        """
        again, rest = self.operators[: self._stop], self.operators[self._stop :]
        last = again[-1]
        if all(kept in last.read for kept in last.kept):
            again = (*again[:-1], replace(last, output=Value(name="not made", size=ZERO)))
        wanted = {value for op in rest for value in (*op.read, *op.holds)}
        waiting = (value for op in again for value in op.made if value in wanted)
        return Tape(operators=again, holds=(*self.holds, *waiting))

    @property
    def passed_back(self) -> PolyElement:
        """Bytes of gradients when the backward pass first asks for something kept."""
        gradients = _Gradients(self.operators[-1].output)
        for op in reversed(self.operators[self._stop :]):
            gradients.through(op)
            gradients.live += total(op.summed)
            gradients.drop(op.output, *op.also)
            gradients.add_up()
        return gradients.live

    @property
    def _stop(self) -> int:
        return 1 + max(i for i, op in enumerate(self.operators) if op.keeps)

    @cache  # noqa: B019 - a process has few tapes and keeps them all
    def forward(self, *, keeping: bool = True) -> tuple[PolyElement, ...]:
        """Return the bytes alive at each moment of the forward pass, inputs from outside too.

        With `keeping` false nothing is kept for the backward pass, as under a checkpoint.
        """
        last = self.operators[-1].output
        readers = Counter(value for op in self.operators for value in (*op.read, *op.holds))
        readers.update((*self.holds, *self.beside, last))
        live = _Live()
        for value in self.entries:
            live.need(value)
        for op in self.operators:
            if op.inner is not None:
                live.moments_of(op.inner.forward(keeping=False), inside=total(op.inputs))
            for value in (*op.made, *op.kept):
                live.need(value)
            live.moment(op.workspace)
            live.pin(op.kept if keeping else ())
            readers.subtract((*op.read, *op.holds))
            over = (*op.read, *op.holds, *op.kept, *op.made)
            live.drop(value for value in over if readers[value] <= 0 and not value.cached)
        return live.moments

    @cache  # noqa: B019 - a process has few tapes and keeps them all
    def backward(
        self, *, keeps_gradients: bool, held: tuple[Value, ...] = ()
    ) -> tuple[PolyElement, ...]:
        """Return the bytes alive at each moment of the backward pass, saved tensors too.

        It begins with everything saved and the gradient of the last output. With
        `keeps_gradients` parameter gradients stay; without, they are added to older ones. What is
        `held` from outside stays to the end.
        """
        replay = _Backward(self, held, keeps_gradients=keeps_gradients)
        for op in reversed(self.operators):
            if op.inner is not None:
                replay.again(op)
            replay.through(op)
        return tuple(replay.moments)

    @cache  # noqa: B019 - a process has few tapes and keeps them all
    def arrivals(self, *, held: tuple[Value, ...] = ()) -> tuple[PolyElement, ...]:
        """Return the bytes alive each time that a parameter's gradient has come.

        The operator that made it is done, and the gradients before it are gone.
        """
        pins = Counter(kept for op in self.operators for kept in op.kept)
        pins.update(held)
        saved = total((*self.saved, *held))
        gradients = _Gradients(self.operators[-1].output)
        found: dict[PolyElement, None] = {}
        for op in reversed(self.operators):
            if op.inner is not None:
                outside = saved + gradients.live - total(op.inputs) - op.output.size
                come = op.inner.arrivals(held=op.inputs)
                found.update(dict.fromkeys(outside + moment for moment in come))
            gradients.through(op)
            gradients.live += total(op.summed)
            gradients.drop(op.output, *op.also)
            pins.subtract(op.kept)
            saved -= total(kept for kept in op.kept if not pins[kept])
            gradients.add_up()
            made = op.gradients + op.late
            if made:
                found[saved + made + gradients.live] = None
        return tuple(found)


def total(values: Iterable[Value]) -> PolyElement:
    """Return the bytes that hold `values`."""
    storages = dict.fromkeys(value.storage for value in values)
    size: PolyElement = sum((value.size for value in storages), ZERO)
    return size


def total_gradients(tape: Tape) -> PolyElement:
    """Return the bytes of all parameter gradients that the backward of `tape` makes."""
    size: PolyElement = ZERO
    for op in tape.operators:
        size += op.gradients + op.late + (total_gradients(op.inner) if op.inner else ZERO)
    return size


class _Live:
    """The tensors alive in a forward pass."""

    def __init__(self) -> None:
        self.alive: dict[Value, bool] = {}
        self.total: PolyElement = ZERO
        self._moments: dict[PolyElement, None] = {}

    @property
    def moments(self) -> tuple[PolyElement, ...]:
        return tuple(self._moments)

    def need(self, value: Value) -> None:
        if value not in self.alive:
            self.alive[value] = False
            self.total += value.size

    def pin(self, values: Iterable[Value]) -> None:
        for value in values:
            self.alive[value] = True

    def moment(self, workspace: PolyElement) -> None:
        self._moments[self.total + workspace] = None

    def moments_of(self, moments: Iterable[PolyElement], *, inside: PolyElement) -> None:
        for moment in moments:
            self._moments[self.total - inside + moment] = None

    def drop(self, values: Iterable[Value]) -> None:
        for value in dict.fromkeys(values):
            if self.alive.get(value) is False:
                del self.alive[value]
                self.total -= value.size


class _Backward:
    """A backward pass over a tape; behind a checkpoint where something is held."""

    def __init__(self, tape: Tape, held: tuple[Value, ...], *, keeps_gradients: bool) -> None:
        self.moments: dict[PolyElement, None] = {}
        self.held, self.keeps_gradients = held, keeps_gradients
        self.pins = Counter(kept for op in tape.operators for kept in op.kept)
        self.pins.update(held)
        self.saved = total((*tape.saved, *held))
        self.gradients = _Gradients(tape.operators[-1].output)
        self.lasting: PolyElement = ZERO

    def again(self, op: Operator) -> None:
        """Run what is behind a checkpoint: forward once more, then back."""
        inner = op.inner
        if inner is None:
            return
        outside = self.saved + self.lasting + self.gradients.live
        outside -= total(op.inputs) + op.output.size
        for moment in inner.recomputed.forward():
            self.moments[outside + inner.passed_back + moment] = None
        for moment in inner.backward(keeps_gradients=self.keeps_gradients, held=op.inputs):
            self.moments[outside + moment] = None
        if self.keeps_gradients:
            self.lasting += total_gradients(inner)

    def through(self, op: Operator) -> None:
        """Make the gradients of what the operator read, then let go what it kept."""
        self.gradients.through(op)
        made = self.lasting + op.gradients
        wide, narrow = op.uncast
        if not self.held:
            made, narrow = self._summed(op, made), ZERO
        if op.inner is None:
            self._moment(made + op.backward_workspace + wide - narrow)
        self._drop_kept(op)
        if self.held:
            # What a checkpoint made again dies with its operator, before the engine casts or sums.
            if wide:
                self._moment(made + op.backward_workspace + wide)
            if op.late or op.summed:
                made = self._summed(op, made)
                self._moment(made)
        self.gradients.drop(op.output, *op.also)
        if self.gradients.sums or op.meeting:
            self._moment(made + self.gradients.sums + op.meeting)
        self.gradients.add_up()
        if self.keeps_gradients:
            self.lasting = made

    def _summed(self, op: Operator, made: PolyElement) -> PolyElement:
        self.gradients.live += total(op.summed)
        summed: PolyElement = made + op.late
        return summed

    def _moment(self, beside: PolyElement) -> None:
        self.moments[self.saved + self.gradients.live + beside] = None

    def _drop_kept(self, op: Operator) -> None:
        for kept in op.kept:
            self.pins[kept] -= 1
            if not self.pins[kept]:
                self.saved -= kept.size


class _Gradients:
    """The gradients alive in a backward pass; one buffer may stand for several tensors."""

    def __init__(self, last: Value) -> None:
        self.live: PolyElement = last.size
        self.sums: PolyElement = ZERO
        self._owners: dict[Value, list[Value]] = {last: [last]}
        self._views: set[Value] = set()
        self._met: PolyElement = ZERO

    def through(self, op: Operator) -> None:
        """Make the gradients of the operator's inputs but those summed up, before dropping any."""
        incoming = self._owners[op.output]
        for value in op.inputs:
            if not value.differentiable:
                continue
            handed_on = op.hands_on and value.size == op.output.size
            if not handed_on and value not in op.summed:
                self.live += value.size
            if value in self._owners:
                self._meet(value, handed_on=handed_on)
            elif handed_on:
                self._owners[value] = incoming
                incoming.append(value)
            else:
                self._owners[value] = [value]
                if op.makes_views:
                    self._views.add(value)

    def _meet(self, value: Value, *, handed_on: bool) -> None:
        """Note that two gradients of `value` are there, and whether their sum is a third."""
        if value in self._views:
            self._views.remove(value)
            self.sums += value.size
        if not handed_on:
            self._met += value.size

    def drop(self, *values: Value) -> None:
        """Drop the gradients of `values`, unless they were handed on."""
        for value in values:
            owners = self._owners.pop(value)
            owners.remove(value)
            if not owners:
                self.live -= value.size

    def add_up(self) -> None:
        """Let each sum take the place of the gradients that met."""
        self.live -= self._met
        self.sums = self._met = ZERO
