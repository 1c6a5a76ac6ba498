"""Who holds which weights under ZeRO-1 and 2.

All weights lie one after another, from the embedding to the head, and are cut into N equal parts.

Source: deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, traced by
engine/verify/zero.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from engine.architecture import Architecture, Tensor
from engine.scenario import Scenario
from engine.stacks.registry import stack

ALIGNED = 2  # a part has a multiple of this many elements
EMBEDDING, FIRST_LAYER = -1, 0
# A layer's kinds of weights by how their names begin, the last to have gradients first; the
# matrices of the MLP have the rest of the names.
TURNS = (
    *("attention norm", "query", "key", "value", "attention output", "attention output norm"),
    *("MLP norm", "", "MLP output norm"),
)
# The norms of a layer that are as wide as its residual stream.
OF_STREAM = ("attention norm", "MLP norm", "attention output norm", "MLP output norm")
IN_LAYERS = frozenset({"layer", "dense-layer", "moe-layer"})


@dataclass(frozen=True, kw_only=True)
class Weight:
    """Elements `begin` to `end` of the flat weights.

    Attributes:
        layer: from 0; EMBEDDING below the layers, and above them first the final norm, then the
            head.
        turn: of two weights of a layer, the gradient of the one with the higher turn comes first;
            the first number tells kinds of weights apart, the second those of a kind.
    """

    begin: int
    end: int
    layer: int
    turn: tuple[int, int]

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
    last = a.norm in stack(scenario.implementation).norms_last
    return Flat(architecture=a, ranks=scenario.parallel.data, norms_last=last)


@lru_cache(maxsize=1024)
def weights(flat: Flat) -> tuple[Weight, ...]:
    """Return all weights in their order in the flat tensor."""
    found: list[Weight] = []
    at = turn = 0
    for tensor, layer in _in_order(flat):
        # Of a matrix and its bias, which lies behind it, the matrix's gradient comes first.
        turn = turn - 1 if tensor.name.endswith(" bias") else at
        turns = (_turn(tensor.name), turn)
        found.append(Weight(begin=at, end=at + tensor.size, layer=layer, turn=turns))
        at += tensor.size
    return tuple(found)


def _in_order(flat: Flat) -> Iterator[tuple[Tensor, int]]:
    """Yield each weight's tensor and layer: a layer's experts are one."""
    a = flat.architecture
    yield from ((tensor, EMBEDDING) for tensor in a.tensors if tensor.place == "embedding")
    inside = [t for t in a.tensors if t.place in IN_LAYERS]
    dense = a.experts.dense_layers if a.experts else 0
    if flat.norms_last:
        inside.sort(key=lambda tensor: tensor.name.startswith(OF_STREAM))
    for layer in range(a.layers):
        for tensor in inside:
            if tensor.place != ("moe-layer" if layer < dense else "dense-layer"):
                yield tensor, layer
    yield from ((tensor, a.layers) for tensor in a.tensors if tensor.place == "final")
    yield from ((tensor, a.layers + 1) for tensor in a.tensors if tensor.place == "head")


def _turn(name: str) -> int:
    """Return the turn of a layer's kind of weights: those of attention come late."""
    return max((len(one), turn) for turn, one in enumerate(TURNS) if name.startswith(one))[1]


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
