"""Topic D, the peak: how much a run takes when half of its conditions are not said."""

from collections.abc import Iterator
from fractions import Fraction

from engine.precisions import PRECISIONS
from engine.scenario import Hardware, Model, Recipe, Scenario, Workload
from problems import scenarios
from problems.amounts import STEP, Moment
from problems.answers.conditions import ConditionsAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.on_paper import on_paper
from problems.peaks import terms
from problems.problem import Level, Step
from problems.prompts import render
from problems.stated import CONDITIONS, Stated, configured, in_words, others, size
from problems.wording import bare_gb, gb, listed, paper

ASKERS = ("A colleague", "An interviewer", "Your manager", "A customer", "A student")
# How many of the conditions the question gives.
GIVEN = {"mid": (2, 3), "senior": (0, 1)}
ONE_GPU = tuple(key for key in CONDITIONS if key != "sharding")
# Without a recipe that the ledger could not combine with another one.
USUAL = {
    "precision": tuple(Stated(precision=one) for one in ("mixed", "fp32", "pure-bf16")),
    "optimizer": tuple(Stated(optimizer=one) for one in ("adamw-fused", "sgd-momentum")),
    "micro-batch": tuple(Stated(micro_batch=n) for n in (2, 3, 4, 6, 8)),
    "length": tuple(Stated(sequence=n) for n in (1024, 2048, 4096)),
    "attention": tuple(Stated(attention=one) for one in ("flash", "eager")),
    "recomputation": tuple(Stated(recompute=one) for one in ("none", "full")),
}
LONGEST = 4096


@kind_at_levels(
    name="conditions-first",
    topic="D",
    levels=("mid", "senior"),
    title="The conditions first, then the memory",
    sources=("yongjin360.com/news/266850", "lm-sys/FastChat#1110"),
)
def conditions_first(draw: Draw, level: Level) -> Draft | None:
    """Ask for the memory of a full fine-tuning run of which little is said."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    many = draw.choice(GIVEN[level])
    given = draw.sample(ONE_GPU, many)
    known = ONE_GPU if level == "mid" else tuple(CONDITIONS)
    base = _base(draw, model)
    for key in given:
        base = _given(draw, base, key)
    left = tuple(key for key in known if key not in given)
    value = size(base, "peak")
    return Draft(
        prompt=render(
            "conditions-first",
            who=draw.choice(ASKERS),
            model=model,
            gpu=base.hardware.gpu,
            given=listed([_said(key, base) for key in given]),
            one_gpu=level == "mid",
        ),
        answer=ConditionsAnswer(
            open=left,
            given=(*given, *(("sharding",) if level == "mid" else ())),
            measure="peak",
            value=Fraction(value),
            example=", ".join(in_words(key, base) for key in left),
        ),
        hints=_hints(left),
        solution=tuple(_steps(base, left, value)),
        mistakes=(),
        scenario=base,
    )


def _base(draw: Draw, model: Model) -> Scenario:
    """Return the run that is assumed where nothing is said."""
    return Scenario(
        model=model,
        workload=Workload(sequence=min(model.max_sequence, LONGEST)),
        recipe=Recipe(optimizer="adamw-fused"),
        hardware=Hardware(gpu=scenarios.gpu_for(draw, 1, precision="pure-bf16")),
    )


def _given(draw: Draw, base: Scenario, key: str) -> Scenario:
    """Return the run with a usual value of one condition, one that it can have."""
    longest = base.model.max_sequence
    return configured(base, draw.choice([x for x in USUAL[key] if (x.sequence or 0) <= longest]))


def _said(key: str, base: Scenario) -> str:
    """Return a condition as the question gives it, every width of a precision said."""
    if key == "precision":
        return PRECISIONS[base.recipe.precision].says
    noun = {"length": " tokens", "micro-batch": " sequences"}.get(key, "")
    return in_words(key, base) + noun


def _hints(left: tuple[str, ...]) -> tuple[str, str, str]:
    of_states = [CONDITIONS[key] for key in left if key in {"precision", "optimizer", "sharding"}]
    of_tokens = [CONDITIONS[key] for key in left if CONDITIONS[key] not in of_states]
    return (
        (
            f"{len(left)} conditions are left open. What decides the bytes of a parameter, and "
            "what the bytes of a token?"
        ),
        f"Of the states: {listed(of_states) or 'all is given'}.",
        f"Of a token: {listed(of_tokens) or 'all is given'}.",
    )


def moment_of(scenario: Scenario) -> Moment:
    """Return the largest moment on paper before the optimizer's step."""
    moments = [moment for moment in on_paper(scenario).moments if moment.said != STEP]
    return max(moments, key=lambda moment: moment.size)


def _steps(base: Scenario, left: tuple[str, ...], value: int) -> Iterator[Step]:
    said = ", ".join(in_words(key, base) for key in left)
    yield Step(text=f"for example with {said}:", depth="whiteboard")
    moment = moment_of(base)
    yield from terms(moment)
    added = " + ".join(bare_gb(one.size) for one in moment.amounts)
    yield Step(text=f"at {moment.said}: {added} = {paper(moment.size)}", depth="whiteboard")
    for key in left:
        other = next(others(key, base), None)
        if other is not None:
            yield Step(
                text=f"the example with {in_words(key, other)} instead: {gb(size(other, 'peak'))}"
            )
    yield Step(text=f"the example itself, {said}: {gb(value)}")
