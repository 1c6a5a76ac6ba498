"""A forward pass on paper: operators in their order, and what each keeps for its backward.

Sizes are bytes, as polynomials in the ring of `engine.symbols`. `engine.autograd` replays a tape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

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
        joins: with that: its output is its inputs side by side, and their gradients are parts.
        workspace: bytes alive only while the forward operator runs.
        backward_workspace: bytes alive only while the backward operator runs.
        backward_moments: the same at further moments, of several products in one backward; the
            gradients that are not made by then are taken off.
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
        makes_all: its backward makes the gradients of all inputs, of those too that need none.
        keeps_last: what it keeps is put away when it is done, as a Python function's is: a
            checkpoint that runs it last makes its output too.
    """

    inputs: tuple[Value, ...]
    output: Value
    keeps: tuple[Value, ...] = ()
    gradients: PolyElement = ZERO
    hands_on: bool = False
    joins: bool = False
    workspace: PolyElement = ZERO
    backward_workspace: PolyElement = ZERO
    backward_moments: tuple[PolyElement, ...] = ()
    uncast: tuple[PolyElement, PolyElement] = (ZERO, ZERO)
    inner: "Tape | None" = None
    makes_views: bool = False
    holds: tuple[Value, ...] = ()
    also: tuple[Value, ...] = ()
    late: PolyElement = ZERO
    summed: tuple[Value, ...] = ()
    meeting: PolyElement = ZERO
    makes_all: bool = False
    keeps_last: bool = False

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
    def backwards(self) -> tuple[Operator, ...]:
        """The operators whose outputs have a gradient, in the order of the backward pass."""
        return tuple(op for op in reversed(self.operators) if op.output.differentiable)

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
        again, rest = self.operators[: self.stop], self.operators[self.stop :]
        last = again[-1]
        if not last.keeps_last and all(kept in last.read for kept in last.kept):
            again = (*again[:-1], replace(last, output=Value(name="not made", size=ZERO)))
        wanted = {value for op in rest for value in (*op.read, *op.holds)}
        waiting = (value for op in again for value in op.made if value in wanted)
        later = {value for op in rest for value in op.made}
        held = (value for value in self.holds if value not in later)
        return Tape(operators=again, holds=(*held, *waiting))

    @property
    def stop(self) -> int:
        """How many operators a checkpoint runs again: up to the last that keeps anything."""
        return 1 + max(i for i, op in enumerate(self.operators) if op.keeps)


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


def without_gradients(tape: Tape) -> Tape:
    """Return `tape` as it runs where entries need no gradient: what hangs on them alone has none.

    Nothing is kept for a gradient that is not made.
    """
    return _Pruned().tape(tape)


class _Pruned:
    """Replaces tensors by ones without a gradient, everywhere."""

    def __init__(self) -> None:
        self._now: dict[Value, Value] = {}

    def tape(self, tape: Tape) -> Tape:
        return Tape(
            operators=tuple(self._operator(op) for op in tape.operators),
            holds=self._all(tape.holds),
            beside=self._all(tape.beside),
        )

    def _all(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(self._now.get(value, value) for value in values)

    def _operator(self, op: Operator) -> Operator:
        inputs = self._all(op.inputs)
        inner = self.tape(op.inner) if op.inner else None
        passing = ZERO
        below = inner is not None and inner.operators[-1].output.differentiable
        trains = bool(op.gradients or op.late) or below
        if not trains and not any(value.differentiable for value in inputs):
            for value in (op.output, *op.also):
                self._now.setdefault(value, replace(value, differentiable=False))
            kept: tuple[Value, ...] = ()
            passing = total(one for one in op.kept if one not in (*op.read, *op.made))
        elif (
            op.keeps == op.inputs and len(inputs) == 2
        ):  # a product: each for the other's gradient
            kept = tuple(
                one
                for one, other in zip(inputs, inputs[::-1], strict=True)
                if other.differentiable
            )
        else:
            kept = self._all(op.keeps)
        unwanted = [value for value in inputs if op.makes_all and not value.differentiable]
        return replace(
            op,
            inputs=inputs,
            output=self._now.get(op.output, op.output),
            also=self._all(op.also),
            keeps=kept,
            holds=self._all(op.holds),
            inner=inner,
            workspace=op.workspace + passing,
            backward_workspace=op.backward_workspace + total(unwanted),
        )
