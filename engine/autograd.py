"""Autograd on paper: which tensors of a run of operators are alive, moment by moment.

Replaying a tape gives, for every moment at which memory is about to fall, the bytes alive. The
rules are those of PyTorch's autograd engine:

- an operator's output dies with its last reader, unless an operator keeps it for its backward;
- the backward runs in the reverse order; an operator makes the gradients of all its inputs and
  parameters first, then drops what it kept and the gradient that came in;
- gradients that meet at a tensor with two readers are added in place, unless the older one is a
  view, as the gradient that a matrix product hands back is: then the sum is a third tensor.

Sizes are bytes, as polynomials in the ring of `engine.symbols`.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache

from sympy.polys.rings import PolyElement

from engine.tape import ZERO, Operator, Tape, Value, total, total_gradients


@cache
def forward(tape: Tape, *, keeping: bool = True) -> tuple[PolyElement, ...]:
    """Return the bytes alive at each moment of the forward pass, inputs from outside too.

    With `keeping` false nothing is kept for the backward pass, as under a checkpoint.
    """
    last = tape.operators[-1].output
    readers = Counter(value for op in tape.operators for value in (*op.read, *op.holds))
    readers.update((*tape.holds, *tape.beside, last))
    live = _Live()
    for value in tape.entries:
        live.need(value)
    for op in tape.operators:
        if op.inner is not None:
            live.moments_of(forward(op.inner, keeping=False), inside=total(op.inputs))
        for value in (*op.made, *op.kept):
            live.need(value)
        live.moment(op.workspace)
        live.pin(op.kept if keeping else ())
        readers.subtract((*op.read, *op.holds))
        over = (*op.read, *op.holds, *op.kept, *op.made)
        live.drop(value for value in over if readers[value] <= 0 and not value.cached)
    return live.moments


@cache
def backward(
    tape: Tape, *, keeps_gradients: bool, held: tuple[Value, ...] = ()
) -> tuple[PolyElement, ...]:
    """Return the bytes alive at each moment of the backward pass, saved tensors too.

    It begins with everything saved and the gradient of the last output. With
    `keeps_gradients` parameter gradients stay; without, they are added to older ones. What is
    `held` from outside stays to the end.
    """
    replay = _Backward(tape, held, keeps_gradients=keeps_gradients)
    for op in tape.backwards:
        if op.inner is not None:
            replay.again(op)
        replay.through(op)
    return tuple(replay.moments)


@cache
def arrivals(tape: Tape, *, held: tuple[Value, ...] = ()) -> tuple[PolyElement, ...]:
    """Return the bytes alive each time that a parameter's gradient has come.

    The operator that made it is done, and the gradients before it are gone.
    """
    pins = Counter(kept for op in tape.operators for kept in op.kept)
    pins.update(held)
    saved = total((*tape.saved, *held))
    gradients = _Gradients(tape.operators[-1].output)
    found: dict[PolyElement, None] = {}
    for op in tape.backwards:
        if op.inner is not None:
            outside = saved + gradients.live - total(op.inputs) - op.output.size
            come = arrivals(op.inner, held=op.read)
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


def passed_back(tape: Tape) -> PolyElement:
    """Bytes of gradients when the backward pass first asks for something kept."""
    gradients = _Gradients(tape.operators[-1].output)
    for op in Tape(operators=tape.operators[tape.stop :]).backwards:
        gradients.through(op)
        gradients.live += total(op.summed)
        gradients.drop(op.output, *op.also)
        gradients.add_up()
    return gradients.live


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
        for moment in forward(inner.recomputed):
            self.moments[outside + passed_back(inner) + moment] = None
        for moment in backward(inner, keeps_gradients=self.keeps_gradients, held=op.read):
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
            self._moments_of(op, made + wide - narrow)
        self._drop_kept(op)
        if self.held:
            # What a checkpoint made again dies with its operator, before the engine casts or sums.
            if wide:
                self._moment(made + wide)
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

    def _moments_of(self, op: Operator, made: PolyElement) -> None:
        for beside in (op.backward_workspace, *op.backward_moments):
            self._moment(made + beside)

    def _moment(self, beside: PolyElement) -> None:
        self.moments[self.saved + self.gradients.live + beside] = None

    def _drop_kept(self, op: Operator) -> None:
        for kept in op.kept:
            self.pins[kept] -= 1
            if not self.pins[kept]:
                self.saved -= kept.size


class _Buffer:
    """Bytes of the gradient of one tensor, or of several."""

    def __init__(self, value: Value) -> None:
        self.size: PolyElement = value.size
        self.owners = [value]


class _Gradients:
    """The gradients alive in a backward pass; one buffer may stand for several tensors."""

    def __init__(self, last: Value) -> None:
        self.live: PolyElement = last.size
        self.sums: PolyElement = ZERO
        self._buffers: dict[Value, _Buffer] = {last: _Buffer(last)}
        self._views: set[Value] = set()
        self._met: PolyElement = ZERO

    def through(self, op: Operator) -> None:
        """Make the gradients of the operator's inputs but those summed up, before dropping any."""
        incoming = self._buffers[op.output]
        for value in op.inputs:
            if not value.differentiable:
                continue
            handed_on = op.hands_on and (op.joins or value.size == op.output.size)
            if not handed_on and value not in op.summed:
                self.live += value.size
            if value in self._buffers:
                self._meet(value, handed_on=handed_on)
            elif handed_on:
                self._buffers[value] = incoming
                incoming.owners.append(value)
            else:
                self._buffers[value] = _Buffer(value)
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
            buffer = self._buffers.pop(value)
            buffer.owners.remove(value)
            if not buffer.owners:
                self.live -= buffer.size

    def add_up(self) -> None:
        """Let each sum take the place of the gradients that met."""
        self.live -= self._met
        self.sums = self._met = ZERO
