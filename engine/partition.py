"""Who holds which gradients under ZeRO-1 and 2, and what reducing them takes, in elements.

All weights lie one after another, from the embedding to the head, and are cut into N equal parts.
Gradients come from the last weight to the first. They go into a bucket; when the next one has no
room the bucket is summed up over the ranks, through a copy where a border of parts cuts it, and
each rank copies out the gradients of the weights that its part touches: whole weights, not only
its part of them. A weight that is larger than the bucket waits where it is.

Source: deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py (0.18), traced by
engine/verify/zero.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.architecture import Architecture, Tensor
from engine.scenario import Scenario

BUCKET = 500_000_000
ALIGNED = 2  # a part has a multiple of this many elements
EMBEDDING, FIRST_LAYER = -1, 0


@dataclass(frozen=True, kw_only=True)
class Weight:
    """Elements `begin` to `end` of the flat weights.

    Attributes:
        layer: from 0; EMBEDDING below the layers, and above them first the final norm, then the
            head.
        turn: of two weights of a layer, the gradient of the one with the higher turn comes first.
    """

    begin: int
    end: int
    layer: int
    turn: int

    @property
    def size(self) -> int:
        """Elements."""
        return self.end - self.begin


@dataclass(frozen=True, kw_only=True)
class Part:
    """What the fullest rank's part touches.

    Attributes:
        rank: the rank whose part touches the most elements; the last of several.
        touched: elements of all weights that the part holds or cuts.
        piece: the most elements of one weight in it.
    """

    rank: int
    touched: int
    piece: int


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


@dataclass(frozen=True, kw_only=True)
class Flat:
    """All weights of a model, one after another, in equal parts.

    Attributes:
        architecture: has the weights.
        ranks: N, the number of parts.
        norms_last: whether a layer's norms lie behind its matrices, not before theirs.
    """

    architecture: Architecture
    ranks: int
    norms_last: bool = False

    @property
    def part_size(self) -> int:
        """Elements of a part."""
        return ALIGNED * -(-self.architecture.parameters // (ALIGNED * self.ranks))


def flat_of(scenario: Scenario) -> Flat:
    """Return the flat weights of `scenario`."""
    a = scenario.architecture
    # Transformers' classes after Llama register their norms behind attention and MLP.
    last = scenario.implementation == "hf" and a.norm == "rmsnorm"
    return Flat(architecture=a, ranks=scenario.parallel.data, norms_last=last)


@lru_cache(maxsize=1024)
def weights(flat: Flat) -> tuple[Weight, ...]:
    """Return all weights in their order in the flat tensor."""
    found: list[Weight] = []
    at = 0
    for size, layer, turn in _sizes(flat):
        found.append(Weight(begin=at, end=at + size, layer=layer, turn=turn))
        at += size
    return tuple(found)


def _sizes(flat: Flat) -> Iterator[tuple[int, int, int]]:
    """Yield elements, layer and turn of each weight; the experts of a layer are one."""
    a = flat.architecture
    yield from ((t.size, EMBEDDING, 0) for t in a.tensors if t.place == "embedding")
    inside = [t for t in a.tensors if t.place not in {"embedding", "final", "head"}]
    if flat.norms_last:
        inside.sort(key=lambda tensor: tensor.name.startswith(("attention norm", "MLP norm")))
    for layer in range(a.layers):
        yield from ((size, layer, turn) for size, turn in _of_layer(inside, layer, a.layers))
    yield from ((t.size, a.layers, 0) for t in a.tensors if t.place == "final")
    yield from ((t.size, a.layers + 1, 0) for t in a.tensors if t.place == "head")


def _of_layer(tensors: Iterable[Tensor], layer: int, layers: int) -> Iterator[tuple[int, int]]:
    """Yield elements and turn of a layer's tensors; kinds of layers are spread evenly."""
    for tensor in tensors:
        copies = (layer + 1) * tensor.copies // layers - layer * tensor.copies // layers
        if copies:
            yield tensor.size * copies, _turn(tensor.name)


def _turn(name: str) -> int:
    """Return the turn of a layer's weights of that name: those of attention come late."""
    turns = ("attention norm", "query", "key", "value", "attention output", "MLP norm")
    return next((turn for turn, one in enumerate(turns) if name.startswith(one)), len(turns))


def _in_turn(found: tuple[Weight, ...]) -> list[Weight]:
    """Return weights in the order in which their gradients come."""
    return sorted(found, key=lambda one: (one.layer, one.turn, one.begin), reverse=True)


@lru_cache(maxsize=1024)
def fullest(flat: Flat) -> Part:
    """Return the part that touches the most elements."""
    size = flat.part_size
    touched: dict[int, int] = {}
    pieces: dict[int, int] = {}
    for weight in weights(flat):
        for rank in {weight.begin // size, (weight.end - 1) // size}:
            low, high = max(weight.begin, rank * size), min(weight.end, (rank + 1) * size)
            touched[rank] = touched.get(rank, 0) + weight.size
            pieces[rank] = max(pieces.get(rank, 0), high - low)
    rank = max(touched, key=lambda one: (touched[one], one))
    return Part(rank=rank, touched=touched[rank], piece=pieces[rank])


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
def scattered(flat: Flat, *, keeps: bool = True, bucket: int = BUCKET) -> Reducing:
    """Return what reducing gradients as they come takes (ZeRO-2).

    Args:
        flat: the weights.
        keeps: whether reduced gradients are copied out of the bucket, and not added elsewhere.
        bucket: elements of the bucket.
    """
    times = tuple(_times(_Bucket(flat, bucket), weights(flat), keeps))
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
    full = [t for t in between if t.most > kept]
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
        attention=max((t.after for t in early), default=kept) - kept,
        embedding=max((t.after for t in (*early, *late)), default=kept) - kept,
        copied=max((t.most for t in early), default=kept) - kept,
        table=max((*last, *(t.most + t.made + waiting for t in late if t.emptied))) - kept,
    )


@dataclass(frozen=True, kw_only=True)
class _Time:
    """A gradient that comes, or the end: elements before, at most, and after.

    `made` is the gradient itself, `held` what is there already; `before` and `after` are what the
    rank has kept. `late` is behind the attention itself, where little of a layer is left.
    """

    layer: int
    late: bool
    made: int
    held: int
    emptied: bool
    before: int
    most: int
    after: int


END = -2
OUTPUT = 4


def _times(full: "_Bucket", found: tuple[Weight, ...], keeps: bool) -> Iterator[_Time]:  # noqa: FBT001 - private
    kept = waiting = 0
    for weight in (*_in_turn(found), None):
        before = kept
        held = most = kept + waiting
        emptied = weight is None or not full.has_room(weight)
        if emptied:
            most = max(most, kept + waiting + full.copied)
            kept = full.part.touched if keeps and (full.mine or kept) else 0
            most = max(most, kept + waiting)
            full.empty()
            waiting = 0
        yield _Time(
            layer=weight.layer if weight else END,
            late=weight is not None and weight.turn < OUTPUT,
            made=weight.size if weight else 0,
            held=held,
            emptied=emptied,
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
        more=more + (first.made if first.late and first.most > first.before else 0),
        late=first.late,
    )


class _Bucket:
    """The weights whose gradients are in the bucket."""

    def __init__(self, flat: Flat, capacity: int) -> None:
        self.part = fullest(flat)
        self.capacity = capacity
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
        """Elements of the largest copy that summing it up makes.

        Nothing is copied where all of it belongs to one rank. A single weight beyond the
        capacity goes in batches of parts, each just beyond it.
        """
        whole = self._elements
        owners = {at // self._size for one in self._taken for at in (one.begin, one.end - 1)}
        if whole <= self.capacity or len(owners) == 1:
            return whole if len(owners) > 1 else 0
        first = min(whole, self._size - self._taken[0].begin % self._size)
        batch = max(0, -(-(self.capacity + 1 - first) // self._size))
        begun = min(whole, first + batch * self._size)
        later = self._size * (self.capacity // self._size + 1)
        rest = min(whole - begun, later)
        several = self._size <= self.capacity and rest > self._size
        return max(begun if begun > first else 0, rest if several else 0)
