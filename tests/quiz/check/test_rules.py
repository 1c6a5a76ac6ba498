"""Every rule of `memquiz check` lets a sound question pass and finds the fault that it is for."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.check.rule import MANY, Series
from problems.problem import Step
from problems.registry import build, kinds
from quiz.check.checking import all_rules

SHORT, LONG = "Too short.", "Much too long. " * 100
RULES = {rule.name: rule for rule in all_rules()}


def sound(kind, seeds=(1,)):
    return Series(kind=kinds()[kind], problems=tuple(build(kind, seed) for seed in seeds))


def with_problem(kind, **changes):
    """One problem of a kind, changed: each change is a value, or makes one of the old one."""
    series = sound(kind)
    (problem,) = series.problems
    new = {name: made(getattr(problem, name)) for name, made in changes.items()}
    return replace(series, problems=(replace(problem, **new),))


def with_kind(**changes):
    series = sound("model-states")
    return replace(series, kind=replace(series.kind, **changes))


def many(kind, **changes):
    """Two hundred problems that are the same but for their seeds."""
    (problem,) = with_problem(kind, **changes).problems
    same = tuple(replace(problem, seed=seed) for seed in range(MANY))
    return Series(kind=kinds()[kind], problems=same)


def always(value):
    return lambda _: value


def without(words):
    return lambda text: text.replace(words, "")


def first_mistake(**changes):
    return lambda mistakes: (replace(mistakes[0], **changes), *mistakes[1:])


def last_step(text):
    return lambda steps: (*steps[:-1], replace(steps[-1], text=text))


def told(words):
    return lambda hints: (words, *hints[1:])


def answer(**changes):
    return lambda old: replace(old, **changes)


def first_choice(**changes):
    return lambda old: replace(old, choices=(replace(old.choices[0], **changes), *old.choices[1:]))


def named(name):
    """The right one of several things called `name`."""

    def rename(old):
        item = replace(old.right.item, name=name)
        choices = (replace(old.right, item=item), *(x for x in old.choices if x.mistake))
        return replace(old, choices=choices)

    return rename


def right(kind):
    return build(kind, 1).answer


# What is planted, by rule: the fault is one that the rule alone is for, so far as that can be.
PLANTED = {
    "left-over": [
        lambda: with_problem("peak", prompt=lambda text: f"{text} {{{{ model }}}} ."),
        lambda: with_problem("peak", hints=told("There are None of them, it is said here.")),
        lambda: with_problem("peak", solution=last_step("Two  blanks")),
    ],
    "sentences": [
        lambda: with_problem("peak", prompt=lambda text: f"and {text}"),
        lambda: with_problem("peak", prompt=lambda text: f"{text} And"),
    ],
    "said-twice": [
        lambda: with_problem("peak", solution=last_step("so 7 = 7 GB")),
        lambda: with_problem("peak", hints=told("There are 1 layers to be counted.")),
    ],
    "length": [
        lambda: with_problem("peak", prompt=always(SHORT)),
        lambda: with_problem("peak", prompt=always(LONG)),
        lambda: with_problem("peak", solution=lambda steps: steps[:2]),
        lambda: with_problem("peak", hints=told("Short.")),
        lambda: with_problem("peak", mistakes=first_mistake(feedback=LONG)),
    ],
    "reading": [lambda: with_problem("peak", exhibit=always("a line\n" * 500))],
    "exhibit": [
        lambda: with_problem("peak", exhibit=always("x" * 97)),
        lambda: with_problem("peak", exhibit=always("ends in a blank \nsecond")),
        lambda: with_problem("peak", exhibit=always("a\ttab")),
        lambda: with_problem("peak", exhibit=always("line\n" * 41)),
    ],
    "hints": [
        lambda: with_problem("peak", hints=lambda hints: hints[:2]),
        lambda: with_problem("peak", hints=lambda hints: (hints[0], hints[0], hints[2])),
    ],
    "depths": [
        lambda: with_problem("peak", solution=lambda steps: steps[::-1]),
        lambda: with_problem("peak", solution=always((Step(text="exact alone"),))),
    ],
    "mistakes-differ": [
        lambda: with_problem("peak", mistakes=first_mistake(value=right("peak").value)),
        lambda: with_problem("peak", mistakes=first_mistake(value=Fraction(-1))),
        lambda: with_problem("peak", mistakes=lambda old: (old[0], *old)),
        lambda: with_problem(
            "peak",
            mistakes=lambda old: (*old, replace(old[0], name="other", value=old[0].value + 1)),
        ),
    ],
    "mistakes-known": [lambda: with_problem("peak", mistakes=first_mistake(name="unheard of"))],
    "feedback": [
        lambda: with_problem("peak", mistakes=first_mistake(feedback="It leaves out 3 GB.")),
        lambda: with_problem("peak", mistakes=first_mistake(feedback="3 GB is wrong, sorry!")),
    ],
    "two-mistakes": [lambda: many("peak", mistakes=lambda old: old[:1])],
    "unit": [
        lambda: with_problem("peak", prompt=without("the unit of a bare number")),
        lambda: with_problem("bytes-per-parameter", prompt=without("A bare number is in bytes")),
        lambda: with_problem("activation-scaling", prompt=without("plain factor")),
        lambda: with_problem("parameter-count", prompt=without("plain number")),
    ],
    "band": [lambda: with_problem("peak", prompt=without("full credit within 15%"))],
    "ends": [lambda: with_problem("peak", solution=last_step("so it is 12 parsecs"))],
    "hints-tell": [
        lambda: with_problem("peak", hints=told(f"It is {right('peak').said}.")),
        lambda: with_problem("bytes-per-parameter", hints=told(right("bytes-per-parameter").said)),
    ],
    "symbols": [
        lambda: with_problem("peak", prompt=without("L = ")),
        lambda: with_problem("peak", answer=answer(symbols={"L": 0})),
    ],
    "count-unit": [lambda: with_problem("fewest-gpus", prompt=without("whole number of GPUs"))],
    "count-ends": [lambda: with_problem("fewest-gpus", solution=last_step("so it is many"))],
    "count-hints-tell": [
        lambda: with_problem("fewest-gpus", hints=told(f"It is {right('fewest-gpus').said}."))
    ],
    "terms-named": [lambda: with_problem("states-ledger", prompt=always(LONG))],
    "terms-hints-tell": [
        lambda: with_problem("states-ledger", hints=told(right("states-ledger").said))
    ],
    "terms-mistaken": [lambda: with_problem("states-ledger", mistakes=first_mistake(term=""))],
    "order-stated": [
        lambda: with_problem("rank-levers", prompt=without("first")),
        lambda: with_problem("rank-levers", prompt=without("tie")),
    ],
    "order-ends": [lambda: with_problem("rank-levers", solution=last_step("so it is decided"))],
    "order-hints-tell": [
        lambda: with_problem("rank-levers", hints=told(f"It is {right('rank-levers').said}."))
    ],
    "orders-vary": [lambda: many("rank-levers")],
    "choice-ends": [lambda: with_problem("first-lever", solution=last_step("so it is decided"))],
    "choice-feedback": [
        lambda: with_problem("first-lever", answer=first_choice(feedback="It leaves too much.")),
        lambda: with_problem("first-lever", answer=first_choice(feedback="3 GB. " * 40)),
    ],
    "choices-vary": [lambda: many("first-lever")],
    "claim-hints-tell": [
        lambda: with_problem("claim", hints=told(right("claim").core)),
        lambda: with_problem("claim", hints=told("It is false. One reason carries it.")),
    ],
    "claims-balance": [
        lambda: many("claim", answer=answer(truth=True)),
        lambda: many("claim", answer=answer(truth=False)),
    ],
    "yes-balance": [
        lambda: many("fits", answer=answer(value=True)),
        lambda: many("fits", answer=answer(value=False)),
    ],
    "described": [
        lambda: with_kind(name="Two words"),
        lambda: with_kind(title="A"),
        lambda: with_kind(title="Ends with a stop."),
        lambda: with_kind(sources=()),
        lambda: with_kind(sources=(" ",)),
        lambda: with_kind(topic="Z"),
        lambda: with_kind(levels=("expert",)),
        lambda: with_kind(levels=()),
    ],
    "same-type": [
        lambda: Series(kind=kinds()["peak"], problems=(build("peak", 1), build("rank-levers", 1))),
    ],
    "distinct": [lambda: many("peak")],
    "spread": [
        lambda: many("peak"),
        lambda: many("peak", answer=answer(value=Fraction(0))),
    ],
    "right-earns-all": [
        lambda: with_problem("fewest-gpus", answer=answer(before="(")),
    ],
    "nonsense-refused": [
        lambda: with_problem("first-lever", answer=named("qwertz uiop")),
    ],
    "mistakes-traced": [
        lambda: with_problem(
            "peak",
            mistakes=lambda old: (*old, replace(old[0], name="other", value=old[0].value + 1)),
        )
    ],
    "paper-earns-all": [
        lambda: with_problem(
            "peak",
            solution=lambda steps: (Step(text="it is 3 GB", depth="whiteboard"), *steps[-1:]),
        ),
        lambda: with_problem(
            "fewest-gpus",
            solution=lambda steps: (Step(text="so many", depth="whiteboard"), *steps[-1:]),
        ),
    ],
}

# Those of the whole bank: what they look at, and a word of what is found.
OF_BANK = {
    "models-appear": (lambda: [many("peak")], "gpt2"),
    "cards-appear": (lambda: [many("peak")], "h200"),
    "titles-differ": (lambda: [sound("peak"), sound("peak")], "Peak"),
    "topics-and-levels": (lambda: [sound("peak")], "A, model states"),
}
FAULTS = [
    pytest.param(RULES[name], plant, id=f"{name}-{number}")
    for name, plants in PLANTED.items()
    for number, plant in enumerate(plants)
]
ASKS = (
    "peak",
    "fewest-gpus",
    "activation-scaling",
    "fits",
    "rank-levers",
    "first-lever",
    "claim",
    "states-ledger",
)


def test_every_rule_has_a_planted_fault():
    assert {*PLANTED, *OF_BANK} == set(RULES)


def test_rules_say_what_holds_in_a_sentence():
    assert all(rule.says.endswith(".") for rule in RULES.values())


@pytest.mark.parametrize(("rule", "plant"), FAULTS)
def test_a_planted_fault_is_found_and_told_with_what_to_do(rule, plant):
    found = list(rule.finds([plant()]))
    assert found
    for finding in found:
        assert finding.rule == rule.name
        assert all((finding.kind, finding.where, finding.what, finding.next))


@pytest.mark.parametrize("kind", ASKS)
def test_a_sound_question_passes(kind):
    of_one = [rule for rule in RULES.values() if not rule.of_bank and not rule.may_be_broken]
    series = sound(kind)
    judging = [rule for rule in of_one if rule.judges([series])]
    assert [str(one) for rule in judging for one in rule.finds([series])] == []


@pytest.mark.parametrize("name", OF_BANK)
def test_what_a_bank_lacks_is_found(name):
    plant, word = OF_BANK[name]
    assert any(word in str(finding) for finding in RULES[name].finds(plant()))


def test_a_finding_is_a_line_that_names_the_problem_the_place_and_the_rule():
    (finding,) = RULES["exhibit"].finds([with_problem("peak", exhibit=always("x" * 78))])
    assert str(finding) == (
        "peak@1: exhibit line 1: 78 columns, more than 77; cut or break it [exhibit]"
    )
