"""The large tensors of a training step: what each takes by itself, when, and beside how much."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.architecture import Architecture
from engine.settings import Settings
from problems.artefacts.message import size as said
from problems.wording import gb, number


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor that is asked for in one piece.

    Args:
        name: as a choice has it.
        short: another name that may be typed.
        moment: when it is asked for: "logits", "copy", "forward", "backward", "head" or "states".
        bytes: an element's.
        factors: whose product is its elements.
    """

    name: str
    short: str
    moment: str
    bytes: int
    factors: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        product = self.bytes
        for factor in self.factors:
            product *= factor
        return product

    @property
    def product(self) -> str:
        """The product and what it comes to: "4 × 8,192 × 128,256 = 4.20 GB"."""
        factors = " × ".join(number(factor) for factor in (self.bytes, *self.factors))
        return f"{factors} = {gb(self.size)}"

    @property
    def both(self) -> str:
        """The same, and in the unit of the message."""
        return f"{self.product} = {said(self.size)}"


def tensors(x: Settings) -> tuple[Tensor, ...]:
    """Return the large tensors of a step in mixed precision: 16 bits but where it says fp32."""
    return (*_of_logits(x), *_of_layers(x), *_of_parameters(x))


def _of_logits(x: Settings) -> Iterator[Tensor]:
    shape = (x.workload.micro_batch, x.workload.sequence, x.architecture.vocab)
    yield Tensor(
        name="logits cast to fp32",
        short="fp32 logits",
        moment="copy",
        bytes=4,
        factors=shape,
    )
    yield Tensor(
        name="logits in 16 bits",
        short="16-bit logits",
        moment="logits",
        bytes=2,
        factors=shape,
    )


def _of_layers(x: Settings) -> Iterator[Tensor]:
    a, work = x.architecture, x.workload
    tokens = (work.micro_batch, work.sequence)
    yield Tensor(
        name="MLP hidden of one layer",
        short="MLP hidden",
        moment="forward",
        bytes=2,
        factors=(*tokens, a.ffn),
    )
    yield Tensor(
        name="residual stream behind one layer",
        short="residual stream",
        moment="forward",
        bytes=2,
        factors=(*tokens, a.hidden),
    )
    if x.recipe.attention == "eager":
        yield Tensor(
            name="attention scores of one layer",
            short="scores",
            moment="forward",
            bytes=2,
            factors=(work.micro_batch, a.heads, work.sequence, work.sequence),
        )


def _of_parameters(x: Settings) -> Iterator[Tensor]:
    a, parallel = x.architecture, x.parallel
    yield Tensor(
        name="gradient of one MLP matrix",
        short="MLP gradient",
        moment="backward",
        bytes=2,
        factors=(a.ffn, a.hidden),
    )
    yield Tensor(
        name="gradient of the head",
        short="head",
        moment="head",
        bytes=2,
        factors=(a.vocab, a.hidden),
    )
    if parallel.zero == 3:
        yield Tensor(
            name="weights of one layer, gathered",
            short="gathered layer",
            moment="forward",
            bytes=2,
            factors=(layer(a),),
        )
    elif parallel.zero:
        yield Tensor(
            name="flat fp32 moment of this rank's share",
            short="moment",
            moment="states",
            bytes=4,
            factors=(-(-a.parameters // parallel.shards),),
        )


def layer(a: Architecture) -> int:
    """Return the parameters of one layer."""
    return sum(t.size for t in a.tensors if t.place in {"layer", "dense-layer"})
