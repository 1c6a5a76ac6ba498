"""What reducing gradients takes under ZeRO-1 and 2, in elements.

Gradients come from the last weight to the first. They go into a bucket; when the next one has no
room the bucket is summed up over the ranks, through a copy where a border of parts cuts it, and
each rank copies out the gradients of the weights that its part touches: whole weights, not only
its part of them. A weight that is larger than the bucket waits where it is.

Source: deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, traced by
engine/verify/zero.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.partition import EMBEDDING, FIRST_LAYER, Flat, Weight, fullest, weights

BUCKET = 500_000_000
DOUBLE = 4  # a number in double precision, in 16-bit elements


@dataclass(frozen=True, kw_only=True)
class Emptied:
    """A moment at which the bucket was emptied.

    Attributes:
        below: layers that are done by then, counted from the top; with the one that runs if late.
        more: elements beyond the bucket and what had been kept before the layers, with the
            gradient that has just come if late; 0 for none.
        late: whether the layer's attention is done, so that little of the layer is left.
    """

    below: int = 0
    more: int = 0
    late: bool = False


@dataclass(frozen=True, kw_only=True)
class InLayers:
    """Elements beyond the bucket while the layers but the first run backward (ZeRO-2).

    Attributes:
        kept: reduced gradients that the rank keeps when the last layer is reached.
        full: the first time that the bucket is emptied through a copy, with that copy.
        own: the first time that reduced gradients are kept, with these.
        both: the first time that it is emptied beside those, with the most of all such times.
    """

    kept: int
    full: Emptied
    own: Emptied
    both: Emptied


@dataclass(frozen=True, kw_only=True)
class AtTheBottom:
    """Elements beyond the bucket in first layer and embedding (ZeRO-2).

    Attributes:
        kept: reduced gradients that the rank keeps when the first layer is reached.
        attention: further ones when its attention is.
        embedding: further ones when the embedding is.
        copied: the most beyond `kept` at a moment between first layer and its attention.
        table: the same behind the attention and in the embedding, with the gradient just made.
    """

    kept: int
    attention: int
    embedding: int
    copied: int
    table: int


@dataclass(frozen=True, kw_only=True)
class Reducing:
    """Elements that ZeRO-2 holds beyond the bucket on the fullest rank.

    Attributes:
        top: the most while head and final norm run backward, with the gradient just made; None
            where no gradient comes there.
        norm: what of that is there when the final norm runs backward; None where nothing has come.
        layers: what the layers but the first hold.
        bottom: what first layer and embedding hold.
        end: the most when the backward pass is over.
    """

    top: int | None
    norm: int | None
    layers: InLayers
    bottom: AtTheBottom
    end: int


@lru_cache(maxsize=1024)
def at_the_end(flat: Flat, *, bucket: int = BUCKET) -> int:
    """Return the most elements beyond the bucket while ZeRO-1 reduces all gradients.

    They leave as they are copied into the bucket, from the first weight to the last.
    """
    full = _Bucket(flat, bucket)
    left = most = flat.architecture.parameters
    kept = 0
    for weight in (*weights(flat), None):
        if weight is None or not full.has_room(weight):
            most = max(most, left + kept + full.copied)
            kept = full.part.touched if full.mine or kept else 0
            most = max(most, left + kept)
            left -= full.beyond if full.mine else 0
            full.empty()
        if weight:
            full.take(weight)
            left -= weight.size if weight.size <= bucket else 0
    return most


@lru_cache(maxsize=1024)
def scattered(
    flat: Flat, *, keeps: bool = True, normed: bool = False, bucket: int = BUCKET
) -> Reducing:
    """Return what reducing gradients as they come takes (ZeRO-2).

    Args:
        flat: the weights.
        keeps: whether reduced gradients are copied out of the bucket, and not added elsewhere.
        normed: whether each one's norm is taken when it has been reduced, in double precision.
        bucket: elements of the bucket.
    """
    times = tuple(_times(_Bucket(flat, bucket, normed=normed), weights(flat), keeps))
    a = flat.architecture
    layers = a.layers
    top = [time.most + time.made for time in times if time.layer >= layers]
    behind_head = next(number for number, time in enumerate(times) if time.layer <= layers)
    table = a.vocab * a.hidden if a.tied else 0
    return Reducing(
        top=max(top) if top else None,
        norm=times[behind_head].held if behind_head else None,
        layers=_in_layers(times, layers),
        bottom=_at_the_bottom(times, table),
        end=times[-1].most,
    )


def _in_layers(times: Sequence["_Time"], layers: int) -> InLayers:
    kept = max((t.after for t in times if t.layer >= layers), default=0)
    between = [time for time in times if FIRST_LAYER < time.layer < layers]
    full = [t for t in between if t.copied]
    own = [t for t in between if t.after > max(t.before, kept)]
    both = [t for t in full if t.before > kept]
    return InLayers(
        kept=kept,
        full=_first(full, layers, max((t.most for t in full[:1]), default=0) - kept),
        own=_first(own, layers, max((t.after for t in own), default=0) - kept),
        both=_first(both, layers, max((t.most for t in both), default=0) - kept),
    )


def _at_the_bottom(times: Sequence["_Time"], waiting: int) -> AtTheBottom:
    """Return what first layer and embedding hold.

    Args:
        times: of all gradients.
        waiting: elements of a tied head's gradient, which waits for the embedding's.
    """
    kept = max((t.after for t in times if t.layer > FIRST_LAYER), default=0)
    early = [t for t in times if t.layer == FIRST_LAYER and not t.late]
    late = [t for t in times if t.layer == FIRST_LAYER and t.late]
    last = [t.most + t.made for t in times if t.layer == EMBEDDING]
    return AtTheBottom(
        kept=kept,
        attention=max(t.after for t in early) - kept,
        embedding=max(t.after for t in (*early, *late)) - kept,
        copied=max(t.most for t in early) - kept,
        table=max((*last, *(t.most + t.made + waiting for t in late if t.emptied))) - kept,
    )


END = -2
OUTPUT = 4  # the turn of the matrix behind attention


@dataclass(frozen=True, kw_only=True)
class _Time:
    """A gradient that comes, or the end: elements before, at most, and after.

    `made` is the gradient itself, `held` what is there already; `before` and `after` are what the
    rank has kept. `late` is behind the attention itself, where little of a layer is left; `copied`
    tells whether the bucket was emptied through a copy.
    """

    layer: int
    late: bool
    made: int
    held: int
    emptied: bool
    copied: bool
    before: int
    most: int
    after: int


def _times(full: "_Bucket", found: tuple[Weight, ...], keeps: bool) -> Iterator[_Time]:  # noqa: FBT001 - private
    kept = waiting = 0
    for weight in (*_in_turn(found), None):
        before, copied = kept, 0
        held = most = kept + waiting
        emptied = weight is None or not full.has_room(weight)
        if emptied:
            copied = full.copied
            most = max(most, kept + waiting + copied)
            kept = full.part.touched if keeps and (full.mine or kept) else 0
            most = max(most, kept + waiting)
            full.empty()
            waiting = 0
        yield _Time(
            layer=weight.layer if weight else END,
            late=weight is not None and weight.turn[0] < OUTPUT,
            made=weight.size if weight else 0,
            held=held,
            emptied=emptied,
            copied=copied > 0,
            before=before,
            most=most,
            after=kept,
        )
        if weight:
            full.take(weight)
            waiting = weight.size if weight.size > full.capacity else 0


def _first(times: Sequence[_Time], layers: int, more: int) -> Emptied:
    if not times:
        return Emptied()
    first = times[0]
    return Emptied(
        below=layers - 1 - first.layer + first.late,
        more=more + (first.made if first.late and first.copied else 0),
        late=first.late,
    )


class _Bucket:
    """The weights whose gradients are in the bucket."""

    def __init__(self, flat: Flat, capacity: int, *, normed: bool = False) -> None:
        self.part = fullest(flat)
        self.capacity, self.normed = capacity, normed
        self._size = flat.part_size
        self.empty()

    def empty(self) -> None:
        self._taken: list[Weight] = []
        self._elements = 0

    def has_room(self, weight: Weight) -> bool:
        return self._elements + weight.size <= self.capacity

    def take(self, weight: Weight) -> None:
        self._taken.append(weight)
        self._elements += weight.size

    @property
    def mine(self) -> bool:
        """Whether the fullest rank's part holds some of it."""
        begin = self.part.rank * self._size
        return any(one.begin < begin + self._size and begin < one.end for one in self._taken)

    @property
    def beyond(self) -> int:
        """Elements, where it is one weight beyond the capacity, which was not copied in."""
        return self._elements if self._elements > self.capacity else 0

    @property
    def copied(self) -> int:
        """Elements of the largest copy that emptying it makes.

        To be summed up nothing is copied where all of it belongs to one rank.
        """
        doubled = DOUBLE * self._piece if self.normed else 0
        return max(doubled, self._summed_up())

    @property
    def _piece(self) -> int:
        """Elements of the largest piece that the rank has of one weight."""
        begin = self.part.rank * self._size
        end = begin + self._size
        return max((min(w.end, end) - max(w.begin, begin) for w in self._taken), default=0)

    def _summed_up(self) -> int:
        if self.beyond:
            return in_batches(self._taken[0], self._size, self.capacity)
        owners = {at // self._size for one in self._taken for at in (one.begin, one.end - 1)}
        return self._elements if len(owners) > 1 else 0


def in_batches(weight: Weight, part: int, capacity: int) -> int:
    """Return the elements of the largest copy that summing up one large weight makes.

    It goes in batches of pieces, one piece for each part that it lies in, and a batch ends with
    the piece that takes it beyond the capacity. A batch of one piece is not copied.

    Args:
        weight: larger than the bucket.
        part: elements of a part.
        capacity: elements of the bucket.
    """
    first = min(weight.size, part - weight.begin % part)
    begun = min(weight.size, first + part * max(0, -(-(capacity + 1 - first) // part)))
    rest = min(weight.size - begun, part * (capacity // part + 1))
    # Where the rest is one piece, what was begun with is more.
    return max(begun if begun > first else 0, rest if part <= capacity else 0)


def _in_turn(found: tuple[Weight, ...]) -> list[Weight]:
    """Return weights in the order in which their gradients come."""
    return sorted(found, key=lambda one: (one.layer, one.turn), reverse=True)
