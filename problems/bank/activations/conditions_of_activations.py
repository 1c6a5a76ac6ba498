"""Topic B, activations: what must be said before a figure for them means anything."""

from collections.abc import Iterator
from fractions import Fraction

from engine.scenario import Hardware, Recipe, Scenario, Workload
from problems import scenarios
from problems.answers.conditions import ConditionsAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.layers import layer_terms, per_token
from problems.problem import Level, Step
from problems.prompts import render
from problems.stated import CONDITIONS, in_words, others, size
from problems.wording import gb, listed, number, paper

OPEN = {
    "junior": ("micro-batch", "length", "recomputation"),
    "mid": ("micro-batch", "length", "attention", "recomputation"),
}
LONGEST = 4096
SAYS = (
    "A candidate",
    "A slide",
    "A colleague",
    "A report",
    "A blog post",
    "A lecturer",
    "A ticket",
    "A vendor",
    "A customer",
)


@kind_at_levels(
    name="activations-conditions",
    topic="B",
    levels=("junior", "mid"),
    title="What a figure for activations depends on",
    sources=("yongjin360.com/news/266850", "arXiv 2205.05198 section 4"),
)
def activations_conditions(draw: Draw, level: Level) -> Draft | None:
    """Ask for the conditions that activations depend on, and for their size under them."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    eager = level == "junior" and draw.chance(40)
    base = Scenario(
        model=model,
        workload=Workload(sequence=min(model.max_sequence, LONGEST)),
        recipe=Recipe(
            optimizer="adamw-fused",
            precision=draw.weighted((("mixed", 3), ("fp32", 1))),
            attention="eager" if eager else "flash",
        ),
        hardware=Hardware(gpu=scenarios.gpu_for(draw, 1, precision="pure-bf16")),
    )
    left, value = OPEN[level], size(base, "activations")
    return Draft(
        prompt=render(
            "activations-conditions",
            who=draw.choice(SAYS),
            model=model,
            recipe=base.recipe,
            gpu=base.hardware.gpu,
            attention_given=level == "junior",
        ),
        answer=ConditionsAnswer(
            open=left,
            given=("precision", "attention") if level == "junior" else ("precision",),
            measure="activations",
            value=Fraction(value),
            example=", ".join(in_words(key, base) for key in left),
        ),
        hints=_hints(base, left),
        solution=tuple(_steps(base, left, value)),
        mistakes=(),
        scenario=base,
    )


def _hints(base: Scenario, left: tuple[str, ...]) -> tuple[str, str, str]:
    formula = " + ".join(term.formula for term in layer_terms(base))
    attention = ", and something decides what of attention is kept" if "attention" in left else ""
    return (
        f"{len(left)} things are left open, and none of them is the number of parameters.",
        (
            f"Activations are so many bytes a token and layer: what sets the tokens{attention}, "
            "and what lets a layer forget them?"
        ),
        (
            f"Without recomputation and with {in_words('attention', base)} a layer keeps "
            f"{formula} bytes a token."
        ),
    )


def _steps(base: Scenario, left: tuple[str, ...], value: int) -> Iterator[Step]:
    said = ", ".join(in_words(key, base) for key in left)
    asked = listed([CONDITIONS[key] for key in left])
    yield Step(text=f"it depends on {asked}; for example {said}:", depth="whiteboard")
    terms = layer_terms(base)
    for term in terms:
        yield Step(
            text=f"{term.name}: {term.formula} = {number(term.each)} bytes a token",
            depth="whiteboard",
        )
    layers, tokens, each = base.architecture.layers, base.tokens, per_token(terms)
    yield Step(
        text=f"{layers} layers × {number(tokens)} tokens × {number(each)} bytes = "
        f"{paper(layers * tokens * each)}",
        depth="whiteboard",
    )
    for key in left:
        other = next(others(key, base), None)
        if other is not None:
            yield Step(
                text=f"the example with {in_words(key, other)} instead: "
                f"{gb(size(other, 'activations'))}"
            )
    yield Step(text=f"the example itself, {said}: {gb(value)}")
