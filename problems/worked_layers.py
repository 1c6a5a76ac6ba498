"""Lines of a worked answer about what layers keep: tokens, one tensor, all layers."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.architecture import Architecture
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from problems.layers import Term, layer_terms
from problems.wording import number
from problems.worked import Line, WrongLine

RULE = 34  # bytes of hidden size a token in 16 bits, arXiv 2205.05198 equation 2 without scores
EACH = "bytes a token"
MOST_SEQUENCES = 24  # of a micro-batch


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What the layers of a step keep for the backward pass."""

    scenario: Scenario

    @property
    def shape(self) -> Architecture:
        """The model."""
        return self.scenario.architecture

    @property
    def width(self) -> int:
        """Bytes of an activation."""
        return PRECISIONS[self.scenario.recipe.precision].compute

    @property
    def terms(self) -> tuple[Term, ...]:
        """What a layer saves for a token where nothing is recomputed."""
        return layer_terms(self.scenario, recompute="none")

    @property
    def rule(self) -> int:
        """How many times the hidden size the rule of a GPT block with dropout has."""
        return RULE * self.width // 2

    def about(self, *, letters: bool) -> str:
        """Return the model and its micro-batch; with all letters of a layer, or without."""
        a, work = self.shape, self.scenario.workload
        shape = f"L = {a.layers} layers of h = {number(a.hidden)}"
        if letters:
            shape += (
                f", a = {a.heads} heads of d = {a.head_dim}, k = {a.kv_heads} for keys and values"
                f", {'gated' if a.gated else 'plain'} MLP of f = {number(a.ffn)}"
            )
        return (
            f"{self.scenario.model.title}: {shape}. A micro-batch is {work.micro_batch} sequences "
            f"of {number(work.sequence)} tokens; an activation has {self.width} bytes."
        )

    def tokens(self) -> Line:
        """Return the tokens of a micro-batch."""
        work, tokens = self.scenario.workload, self.scenario.tokens
        return Line(
            key="tokens",
            says=f"tokens: {work.micro_batch} × {number(work.sequence)}",
            of=lambda _: tokens,
            form="count",
        )

    def one(self) -> Line:
        """Return one tensor as wide as the hidden size."""
        h, width = self.shape.hidden, self.width
        return Line(
            key="tensor",
            says=f"one tensor of width h: {{tokens}} × {number(h)} × {width} bytes",
            of=lambda values: values["tokens"] * h * width,
        )

    def all_of(self, key: str) -> Line:
        """Return what all layers have of what one has."""
        layers = self.shape.layers
        return Line(
            key="all",
            says=f"all layers: {layers} × {{{key}}}",
            of=lambda values: layers * values[key],
        )

    def whole_layer(self) -> Line:
        """Return what one layer saves for all tokens."""
        return Line(
            key="layer",
            says="a layer: {tokens} tokens × {each} bytes",
            of=lambda values: values["tokens"] * values["each"],
        )

    def everything(self) -> Line:
        """Return what all layers save for all tokens."""
        layers = self.shape.layers
        return Line(
            key="all",
            says=f"all layers: {layers} × {{tokens}} tokens × {{each}} bytes",
            of=lambda values: layers * values["tokens"] * values["each"],
        )

    def one_sequence(self) -> WrongLine:
        """Return the mistake of counting one sequence."""
        work = self.scenario.workload
        return self.tokens().wrong(
            "micro-batch forgotten",
            f"tokens: {number(work.sequence)}",
            lambda _: work.sequence,
            why=f"is one sequence; the micro-batch has {work.micro_batch}, {{off}} tokens more.",
            nudge="How many tokens go through the layers at once?",
        )

    def other_units(self) -> Iterator[WrongLine]:
        """Yield the mistakes in the bytes of one tensor."""
        h, width = self.shape.hidden, self.width
        said = f"one tensor of width h: {{tokens}} × {number(h)}"
        yield self.one().wrong(
            "elements taken for bytes",
            said,
            lambda values: values["tokens"] * h,
            why=f"counts elements, and each has {width} bytes: {{off}} more.",
            nudge="Is every number one of bytes?",
        )
        yield self.one().wrong(
            "bits for bytes",
            f"{said} × {8 * width}",
            lambda values: values["tokens"] * h * 8 * width,
            why="counts bits, and a byte has eight: {off} less.",
            nudge="Is every number one of bytes?",
        )
