"""Topic B, activations: what the layers save, and how it grows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.estimate import ledger
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved, saved_rows
from problems.kind import kind_at_levels
from problems.layers import Term, layer_terms, per_token
from problems.letters import letters
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.wording import gb, listed, number, paper
from problems.wrong_sizes import other_batches, wrong_size

ROWS_SHOWN = 5
# A mistake's name, the bytes of a token and layer that it leads to, and why.
_PerToken = tuple[str, int, str]


@kind_at_levels(
    name="layer-activations",
    topic="B",
    levels=("mid", "senior"),
    title="Activations that one layer saves",
    sources=(
        "arXiv 2205.05198 section 4.1",
        "traced steps of PyTorch 2.13",
    ),
)
def layer_activations(draw: Draw, level: Level) -> Draft | None:
    """Ask for what one layer saves for the backward pass, with eager attention at senior level."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none", "none", "selective"))
    if (scenario.recipe.attention == "eager") != (level == "senior"):
        return None
    return Saved(scenario=scenario, layers=1).draft()


@kind_at_levels(
    name="model-activations",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="Activations that all layers save",
    sources=(
        "arXiv 2205.05198 sections 4.1 and 5",
        "traced steps of PyTorch 2.13",
    ),
)
def model_activations(draw: Draw, level: Level) -> Draft | None:
    """Ask for what all layers save together: a junior of their inputs alone, all recomputed."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none", "full", "selective"))
    if _level_of(scenario) != level:
        return None
    return Saved(scenario=scenario, layers=scenario.architecture.layers).draft()


def _level_of(scenario: Scenario) -> Level:
    if scenario.recipe.recompute == "full":
        return "junior"
    return "senior" if scenario.recipe.attention == "eager" else "mid"


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What so many layers of a run save for the backward pass, as a question."""

    scenario: Scenario
    layers: int

    @property
    def terms(self) -> tuple[Term, ...]:
        """What a layer keeps of each token."""
        return layer_terms(self.scenario)

    @property
    def scale(self) -> int:
        """What the bytes of a token and layer are multiplied by."""
        return self.layers * self.scenario.tokens

    def draft(self) -> Draft:
        """Return the question."""
        scenario = self.scenario
        book = ledger(scenario)
        of_one = scenario.architecture.layers if self.layers == 1 else 1
        size = saved(book) // of_one
        rows = [(name, row // of_one) for name, row in saved_rows(book)]
        prompt = render(
            "layer-activations",
            model=scenario.model,
            work=scenario.workload,
            recipe=scenario.recipe,
            one=self.layers == 1,
        )
        return Draft(
            prompt=prompt,
            answer=QuantityAnswer(
                value=Fraction(size), band="estimate", symbols=letters(scenario, prompt)
            ),
            hints=self._hints(),
            solution=tuple(self._steps(rows, size)),
            mistakes=tuple(self._mistakes(size)),
            scenario=scenario,
        )

    def _hints(self) -> tuple[str, str, str]:
        formula = " + ".join(term.formula for term in self.terms)
        factors = f"{number(self.scenario.tokens)} tokens"
        if self.layers > 1:
            factors += f" and {self.layers} layers"
        return (
            (
                "An operator keeps what its backward needs: a matrix its input, a norm its "
                "input, an activation function its input. Count these for one token of one "
                "layer."
            ),
            f"For each token a layer keeps: {'; '.join(term.name for term in self.terms)}.",
            f"That is {formula} bytes a token and layer; multiply by {factors}.",
        )

    def _steps(self, rows: list[tuple[str, int]], size: int) -> Iterator[Step]:
        for term in self.terms:
            yield Step(
                text=f"{term.name}: {term.formula} = {number(term.each)} bytes a token",
                depth="whiteboard",
            )
        each = per_token(self.terms)
        layers = f"{self.layers} layers × " if self.layers > 1 else ""
        yield Step(
            text=f"{layers}{number(self.scenario.tokens)} tokens × {number(each)} bytes = "
            f"{paper(each * self.scale)}",
            depth="whiteboard",
        )
        for name, row in rows[:ROWS_SHOWN]:
            yield Step(text=f"{name}: {gb(row)}")
        if rows[ROWS_SHOWN:]:
            names = listed([name for name, _ in rows[ROWS_SHOWN:]])
            yield Step(text=f"{names}: {gb(sum(row for _, row in rows[ROWS_SHOWN:]))}")
        rest = size - each * self.scale
        what = "Nothing is left of the difference"
        if rest:
            what = f"The rest of the difference is statistics of norms and attention, {gb(rest)}"
        yield Step(text=f"{what}: exactly {gb(size)}")

    def _mistakes(self, size: int) -> Iterator[Mistake]:
        yield from self._other_terms(size)
        work, depth = self.scenario.workload, self.scenario.architecture.layers
        each = PRECISIONS[self.scenario.recipe.precision].compute
        if self.layers == 1:
            why = f"is all {depth} layers; one layer was asked, {{off}} less."
            yield wrong_size(size * depth, size, "all layers counted", why)
        else:
            why = f"is one layer; there are {depth}, {{off}} more."
            yield wrong_size(Fraction(size, depth), size, "one layer for all", why)
        gone = "each one's activations are gone before the next begins"
        yield from other_batches(size, work, gone)
        yield wrong_size(
            Fraction(size, each),
            size,
            "elements taken for bytes",
            f"counts elements; each has {each} bytes, {{off}} more.",
        )

    def _other_terms(self, size: int) -> Iterator[Mistake]:
        each = per_token(self.terms)
        for name, wrong, why in (*self._other_layers(), *self._left_out()):
            yield wrong_size(size + (wrong - each) * self.scale, size, name, why)

    def _other_layers(self) -> Iterator[_PerToken]:
        """Yield what the layers would save under another recipe."""
        each, width = per_token(self.terms), PRECISIONS[self.scenario.recipe.precision].compute
        yield (
            "scores forgotten",
            each - self._squares,
            (
                "leaves out what eager attention keeps for every pair of tokens, {off}: it grows "
                "with the square of the sequence."
            ),
        )
        yield (
            "layer inputs only",
            width * self.scenario.architecture.hidden,
            (
                f"is one hidden state a layer, {width}h a token; that is what full recomputation "
                "keeps. Without it the layer keeps {off} more."
            ),
        )
        yield (
            "recomputation forgotten",
            per_token(layer_terms(self.scenario, recompute="none")),
            "is what the layers would save without recomputation, {off} too many.",
        )
        yield self._in_another_width(each, width)
        if self.scenario.recipe.attention == "flash":
            yield self._with_scores()

    def _left_out(self) -> Iterator[_PerToken]:
        """Yield what is left without a part of the layer, and by the rule for another layer."""
        recipe, each = self.scenario.recipe, per_token(self.terms)
        if recipe.recompute == "full":
            return
        yield (
            "MLP forgotten",
            each - next(term.each for term in self.terms if term.formula.endswith("f")),
            "leaves out the MLP, {off}: each of its f-wide tensors is kept.",
        )
        yield (
            "attention forgotten",
            each - next(term.each for term in self.terms if term.name.startswith("q, k, v")),
            "leaves out q, k, v and attention's output, {off}.",
        )
        if PRECISIONS[recipe.precision].compute == 2:
            yield (
                "the 34·h rule",
                34 * self.scenario.architecture.hidden + self._squares,
                (
                    "is the rule of 34·h bytes a token, made for a GPT block with dropout and an "
                    "MLP of 4h; this block is {off} off it."
                ),
            )

    @property
    def _squares(self) -> int:
        """Bytes a token of what grows with the square of the sequence."""
        return sum(term.each for term in self.terms if term.scores)

    def _with_scores(self) -> _PerToken:
        """Return what the layers would save if attention kept its scores."""
        scenario = self.scenario
        eager = replace(scenario, recipe=replace(scenario.recipe, attention="eager"))
        why = "counts b·a·s² scores for each layer; fused attention never keeps them, {off} less."
        return "scores counted although fused", per_token(layer_terms(eager)), why

    def _in_another_width(self, each: int, width: int) -> _PerToken:
        """Return what the layers would save with elements of 4 bytes, or of 2 where 4 is right."""
        wrong = 2 if width == 4 else 4
        why = f"takes {wrong} bytes an element; they have {width}, {{off}} "
        why += "more." if wrong < width else "less."
        return f"activations in {8 * wrong} bits", each * wrong // width, why
