"""Topic B, activations: by what factor a change makes them grow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.estimate import ledger
from engine.scenario import Scenario
from problems import scenarios
from problems.answers.factor import FactorAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved
from problems.kind import kind_at_levels
from problems.layers import layer_terms, per_token
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.wording import number, short

SHORTEST = 256
# How far the whole percent in the prompt may lead from the exact factor.
ROUNDING = Fraction(1, 100)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Factors on the three numbers of a workload."""

    sequence: Fraction = Fraction(1)
    micro_batch: Fraction = Fraction(1)
    accumulation: Fraction = Fraction(1)

    def of(self, scenario: Scenario) -> Scenario | None:
        """Return the scenario after the change, None where it has no whole or usual numbers."""
        work = scenario.workload
        sizes = (
            work.micro_batch * self.micro_batch,
            work.sequence * self.sequence,
            work.gradient_accumulation * self.accumulation,
        )
        if any(size < 1 or size.denominator > 1 for size in sizes):
            return None
        micro_batch, sequence, accumulation = (int(size) for size in sizes)
        most = scenario.model.max_sequence
        if not SHORTEST <= sequence <= most or micro_batch * sequence > scenarios.MOST_TOKENS:
            return None
        changed = replace(
            work,
            micro_batch=micro_batch,
            sequence=sequence,
            gradient_accumulation=accumulation,
        )
        return replace(scenario, workload=changed)

    def on_paper(self, percent: int) -> Fraction:
        """Return the factor on what is saved, so many percent of which are pairs of tokens."""
        grown = 100 - percent + percent * self.sequence
        return self.micro_batch * self.sequence * grown / 100


def _factors(*factors: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(factor) for factor in factors)


CHANGES = (
    *(Change(sequence=x) for x in _factors("2", "4", "8", "1/2", "1/4")),
    *(Change(sequence=x, micro_batch=1 / x) for x in _factors("2", "4", "1/2", "1/4")),
    *(Change(micro_batch=x) for x in _factors("2", "4", "1/2", "1/4")),
    *(Change(accumulation=x) for x in _factors("2", "4")),
    *(Change(micro_batch=1 / x, accumulation=x) for x in _factors("2", "4")),
    *(Change(sequence=x, accumulation=1 / x) for x in _factors("2", "4")),
)


@kind_at_levels(
    name="activation-scaling",
    topic="B",
    levels=("junior", "mid"),
    title="Growth of saved activations with sequence and batch",
    sources=(
        "arXiv 2205.05198 section 4.1",
        "arXiv 2205.14135 section 3.1",
    ),
)
def activation_scaling(draw: Draw, level: Level) -> Draft | None:
    """Ask for the factor by which saved activations change with the workload.

    At mid level a part of them grows with the square of the sequence.
    """
    scenario = scenarios.one_gpu_step(draw, recomputes=("none", "none", "full", "selective"))
    change = draw.choice(CHANGES)
    after = change.of(scenario)
    if after is None:
        return None
    answer = Fraction(saved(ledger(after)), saved(ledger(scenario)))
    percent = _percent_of_scores(scenario)
    if (percent > 0 and change.sequence != 1) != (level == "mid"):
        return None
    if abs(change.on_paper(percent) / answer - 1) > ROUNDING:
        return None
    if abs(answer - percent) < 1:  # the hints say the percent
        return None
    return Draft(
        prompt=render(
            "activation-scaling",
            model=scenario.model,
            work=scenario.workload,
            recipe=scenario.recipe,
            percent=percent,
            change=_said(scenario, after),
        ),
        answer=FactorAnswer(value=answer),
        hints=_hints(percent),
        solution=(_tokens_step(scenario, after), *_steps(change, percent, answer)),
        mistakes=tuple(_mistakes(change, answer)),
        scenario=scenario,
    )


def _percent_of_scores(scenario: Scenario) -> int:
    terms = layer_terms(scenario)
    squares = sum(term.each for term in terms if term.scores)
    return (100 * squares + per_token(terms) // 2) // per_token(terms)


def _said(before: Scenario, after: Scenario) -> str:
    one, two = before.workload, after.workload
    rows = (
        ("the sequence becomes", one.sequence, two.sequence, "tokens"),
        ("the micro-batch becomes", one.micro_batch, two.micro_batch, ""),
        (
            "gradients are now accumulated over",
            one.gradient_accumulation,
            two.gradient_accumulation,
            "micro-batches",
        ),
    )
    said = [f"{verb} {number(new)} {noun}".strip() for verb, old, new, noun in rows if old != new]
    return " and ".join(said) + ", all else stays"


def _hints(percent: int) -> tuple[str, str, str]:
    first = "Only what one micro-batch on one GPU needs is alive at a time."
    if not percent:
        return (
            first,
            (
                "Every saved tensor has an entry for each token; none has one for each pair of "
                "tokens."
            ),
            "So compare the tokens of a micro-batch before and after: micro-batch times sequence.",
        )
    return (
        first,
        (
            "Most saved tensors have an entry for each token; those of eager attention have one "
            "for each pair of tokens."
        ),
        (
            f"Take the part without pairs ({100 - percent}%) times the change in tokens, and the "
            f"part with pairs ({percent}%) times that and once more times the change in length."
        ),
    )


def _tokens_step(before: Scenario, after: Scenario) -> Step:
    said = [
        f"{x.workload.micro_batch} × {number(x.workload.sequence)} = {number(x.tokens)}"
        for x in (before, after)
    ]
    return Step(text=f"tokens before: {said[0]}; after: {said[1]}", depth="whiteboard")


def _steps(change: Change, percent: int, answer: Fraction) -> Iterator[Step]:
    tokens = change.micro_batch * change.sequence
    yield Step(text=_tokens_said(change), depth="whiteboard")
    if percent and change.sequence != 1:
        yield Step(
            text=f"({100 - percent}% + {percent}% × {short(change.sequence)}) × {short(tokens)} = "
            f"{short(change.on_paper(percent))}",
            depth="whiteboard",
        )
    if change.accumulation != 1:
        yield Step(
            text="accumulation changes nothing: one micro-batch's activations are gone before "
            "the next begins"
        )
    why = "Nothing is left of the difference"
    if percent and change.sequence != 1:
        why = f"The rest of the difference is rounding to {percent}%"
    yield Step(text=f"{why}: factor {short(answer)}")


def _tokens_said(change: Change) -> str:
    tokens = change.micro_batch * change.sequence
    factors = [short(x) for x in (change.micro_batch, change.sequence) if x != 1]
    if not factors:
        return "the tokens of a micro-batch stay as they are: factor 1"
    product = f"{' × '.join(factors)} = " if len(factors) > 1 else ""
    return f"factor on the tokens of a micro-batch: {product}{short(tokens)}"


def _mistakes(change: Change, answer: Fraction) -> Iterator[Mistake]:
    for wrong in WRONG_FACTORS:
        value = wrong.factor(change, answer)
        why = wrong.why.format(
            micro_batch=short(change.micro_batch), sequence=short(change.sequence)
        )
        yield Mistake(name=wrong.name, value=value, feedback=f"{short(value)} {why}")


@dataclass(frozen=True, kw_only=True)
class _WrongFactor:
    """A wrong idea of the factor, made of the change and of the right one."""

    name: str
    factor: Callable[[Change, Fraction], Fraction]
    why: str


WRONG_FACTORS = (
    _WrongFactor(
        name="square of the sequence forgotten",
        factor=lambda change, _: change.micro_batch * change.sequence,
        why="takes everything as proportional to the tokens; probabilities of eager attention "
        "grow with the square of the sequence.",
    ),
    _WrongFactor(
        name="everything squared",
        factor=lambda change, _: change.micro_batch * change.sequence**2,
        why="takes everything as growing with the square of the sequence; only score-sized "
        "tensors do, and fused attention or recomputation keeps none.",
    ),
    _WrongFactor(
        name="accumulation counted",
        factor=lambda change, right: right * change.accumulation,
        why="counts accumulation, which repeats the pass and adds nothing to what is alive at a "
        "time.",
    ),
    _WrongFactor(
        name="accumulation taken for a saving",
        factor=lambda change, right: right / change.accumulation,
        why="divides by accumulation; only a smaller micro-batch would save anything.",
    ),
    _WrongFactor(
        name="micro-batch not counted",
        factor=lambda change, right: right / change.micro_batch,
        why="leaves out the micro-batch, which is {micro_batch} times as large.",
    ),
    _WrongFactor(
        name="sequence not counted",
        factor=lambda change, _: change.micro_batch,
        why="leaves out the sequence, which is {sequence} times as long.",
    ),
    _WrongFactor(
        name="the inverse",
        factor=lambda _, right: 1 / right,
        why="is the inverse: the question is after over before.",
    ),
)
