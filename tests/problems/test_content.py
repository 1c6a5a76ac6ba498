"""The bank linted: every kind over many seeds reads well, is solvable and gives nothing away."""

import re
from fractions import Fraction
from functools import cache

import pytest

from engine.units import GIB, decimal
from problems.answers.answer import FULL_CREDIT
from problems.answers.choice import ChoiceAnswer
from problems.answers.claim import ClaimAnswer
from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.ranking import RankingAnswer
from problems.answers.repair import RepairAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.registry import build, kinds
from problems.served import kib
from problems.wording import digits_of, gb, in_seconds, number, paper, short

SEEDS = 60
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
every_kind = pytest.mark.parametrize("kind", kinds())


def asking_for(*answers):
    """The kinds whose answer is of one of these types, whatever the seed."""
    names = [name for name in kinds() if isinstance(build(name, 0).answer, answers)]
    return pytest.mark.parametrize("kind", names)


def is_claim_alone(kind):
    """Whether a kind puts claims without a run, so that it has as many prompts as claims."""
    answer = build(kind, 0).answer
    return isinstance(answer, ClaimAnswer) and answer.run is None


# An order, a pick and a reason have no number: no unit, no band, no mistake that a number reveals.
NUMBERS = (QuantityAnswer, CountAnswer, FactorAnswer, YesNoAnswer, RepairAnswer)
every_number = asking_for(*NUMBERS)
orders, picks = asking_for(RankingAnswer), asking_for(ChoiceAnswer)
# Degrees of a lever, of which there are few: powers of 2, and three stages.
DEGREES = {3, *(2**n for n in range(12))}


@cache
def drawn(kind):
    return tuple(build(kind, seed) for seed in range(SEEDS))


def texts(problem):
    yield problem.prompt
    yield from problem.hints
    yield from (step.text for step in problem.solution)
    yield from (mistake.feedback for mistake in problem.mistakes)


def quantity(problem):
    answer = problem.answer
    return answer.proof if isinstance(answer, YesNoAnswer | RepairAnswer) else answer


def offered(problem):
    """What may be picked, or put in order."""
    return tuple(item.name for item in getattr(problem.answer, "items", ()))


def shown(problem):
    """The answer as a solution may write it."""
    answer = quantity(problem)
    if isinstance(answer, CountAnswer):
        return {number(answer.value)}
    if isinstance(answer, FactorAnswer):
        return {short(answer.value)}
    if isinstance(problem.answer, RepairAnswer):
        plain = {number(int(answer.value)), short(answer.value)}
        in_bytes = {decimal(round(answer.value)), f"{digits_of(answer.value / GIB)} GiB"}
        return plain if answer.default_unit in {None, "B"} else in_bytes
    if answer.unit == "1":
        return {number(int(answer.value))}
    if answer.unit == "s":
        return {in_seconds(answer.value)}
    if answer.default_unit == "B":
        return {short(answer.value)}
    if answer.default_unit == "KiB":
        return {kib(answer.value)}
    return {gb(answer.value), paper(answer.value)}


@every_kind
def test_no_template_mark_or_placeholder_is_left(kind):
    for problem in drawn(kind):
        for text in texts(problem):
            assert not re.search(r"[{}]|%\}|None|Fraction|nan|  | ,| \.(?!\d)", text), text


@every_kind
def test_sentences_begin_with_a_capital_and_prompts_end_with_a_stop(kind):
    for problem in drawn(kind):
        for line in problem.prompt.splitlines():
            assert re.match(r"[A-Z0-9]", line), line
            assert line[-1] in ".?", line


@asking_for(RepairAnswer)
def test_prompts_of_steps_say_what_unit_a_bare_number_has(kind):
    for problem in drawn(kind):
        assert "a bare number has the unit that its step is shown in" in problem.prompt


@asking_for(QuantityAnswer, CountAnswer, FactorAnswer, YesNoAnswer)
def test_prompts_state_the_unit_of_a_bare_number(kind):
    for problem in drawn(kind):
        answer = quantity(problem)
        if isinstance(answer, CountAnswer):
            of = f" of {answer.noun}" if answer.noun else "."
            assert f"whole number{of}" in problem.prompt
        elif isinstance(answer, FactorAnswer):
            assert "plain factor" in problem.prompt
        elif answer.unit == "1":
            assert "plain number" in problem.prompt
        elif answer.unit == "s":
            assert "The answer is in seconds" in problem.prompt
        elif answer.default_unit == "B":
            assert "A bare number is in bytes" in problem.prompt
        elif answer.default_unit == "KiB":
            assert "KiB is 2^10 bytes and the unit of a bare number" in problem.prompt
        else:
            assert "GB is 10^9 bytes and the unit of a bare number" in problem.prompt


@every_number
def test_prompts_state_how_near_is_full_credit(kind):
    for problem in drawn(kind):
        answer = quantity(problem)
        if isinstance(answer, QuantityAnswer):
            percent = int(100 * FULL_CREDIT[answer.band])
            assert f"full credit within {percent}%" in problem.prompt


@every_number
def test_solutions_end_with_the_answer(kind):
    for problem in drawn(kind):
        last = problem.solution[-1].text
        assert any(last.endswith(said) for said in shown(problem)), last


@every_kind
def test_solutions_begin_on_the_whiteboard_and_end_exact(kind):
    for problem in drawn(kind):
        depths = [step.depth for step in problem.solution]
        assert depths == sorted(depths, reverse=True)
        assert set(depths) == {"whiteboard", "exact"}


@every_number
def test_hints_do_not_give_the_answer(kind):
    for problem in drawn(kind):
        answer, text = quantity(problem), "\n".join(problem.hints)
        if isinstance(answer, CountAnswer):
            assert not answer.noun or f"{number(answer.value)} {answer.noun}" not in text
            continue
        plain = isinstance(answer, FactorAnswer) or answer.default_unit not in {"GB", "KiB", "s"}
        found = NUMBER.findall(re.sub(r"\d+-bit", "", text)) if plain else text
        assert not [said for said in shown(problem) if said in found], text


@every_kind
def test_each_problem_has_three_different_hints(kind):
    for problem in drawn(kind):
        assert len(set(problem.hints)) == 3
        assert all(len(hint) > 20 for hint in problem.hints)


@every_kind
def test_mistakes_differ_in_name_and_value(kind):
    for problem in drawn(kind):
        values = [(mistake.term, mistake.value) for mistake in problem.mistakes]
        names = [(mistake.term, mistake.name) for mistake in problem.mistakes]
        assert len(set(values)) == len(values)
        assert len(set(names)) == len(names)


@every_number
def test_no_mistake_earns_full_credit(kind):
    for problem in drawn(kind):
        answer = quantity(problem)
        right = Fraction(answer.value)
        band = FULL_CREDIT[answer.band] if isinstance(answer, QuantityAnswer) else 0
        for mistake in problem.mistakes:
            assert abs(mistake.value / right - 1) > band


@every_number
def test_most_problems_have_two_mistakes_or_more(kind):
    counts = [len(problem.mistakes) for problem in drawn(kind)]
    assert sum(count >= 2 for count in counts) >= 0.9 * SEEDS


@every_kind
def test_feedback_begins_with_the_number_and_neither_praises_nor_scolds(kind):
    for problem in drawn(kind):
        for mistake in problem.mistakes:
            assert re.match(r"[\d,.]+", mistake.feedback), mistake.feedback
            assert not re.search(
                r"good|great|sorry|unfortunately|!|wrong", mistake.feedback, re.IGNORECASE
            )


@every_kind
def test_texts_are_of_readable_length(kind):
    for problem in drawn(kind):
        assert 150 <= len(problem.prompt) <= 1300, problem.prompt
        assert all(20 <= len(mistake.feedback) <= 320 for mistake in problem.mistakes)
        assert all(1 <= len(step.text) <= 260 for step in problem.solution)
        assert 3 <= len(problem.solution) <= 20


@pytest.mark.parametrize("kind", [kind for kind in kinds() if not is_claim_alone(kind)])
def test_prompts_differ_from_seed_to_seed(kind):
    asked = {(problem.prompt, problem.exhibit, offered(problem)) for problem in drawn(kind)}
    assert len(asked) >= 0.9 * SEEDS


@every_kind
def test_a_kind_asks_for_a_number_or_for_the_same_thing_at_every_seed(kind):
    asked = {type(problem.answer) for problem in drawn(kind)}
    assert len(asked) == 1 or asked <= set(NUMBERS)


@every_number
def test_answers_spread(kind):
    values = {quantity(problem).value for problem in drawn(kind)}
    assert len(values) >= (5 if values <= DEGREES else 8)
    assert max(values) >= 4 * min(values) > 0


@every_number
def test_symbols_of_a_problem_are_positive_numbers(kind):
    for problem in drawn(kind):
        answer = quantity(problem)
        if isinstance(answer, QuantityAnswer):
            assert all(value > 0 for value in answer.symbols.values())


@every_number
def test_prompts_define_every_symbol_of_their_answer(kind):
    for problem in drawn(kind):
        answer = quantity(problem)
        if isinstance(answer, QuantityAnswer):
            for symbol in answer.symbols:
                assert re.search(rf"\b{symbol} = ", problem.prompt), (symbol, problem.prompt)


@orders
def test_prompts_of_an_order_say_which_comes_first_and_what_ties(kind):
    for problem in drawn(kind):
        assert f"the {problem.answer.first} first" in problem.prompt
        assert "within 5 points of a percent tie" in problem.prompt


@orders
def test_solutions_of_an_order_end_with_it(kind):
    for problem in drawn(kind):
        names = [
            " = ".join(problem.answer.item(key).name for key in group)
            for group in problem.answer.order
        ]
        assert problem.solution[-1].text.endswith(f": {' > '.join(names)}")


@orders
def test_orders_are_of_many_lengths_and_first_places(kind):
    answers = [problem.answer for problem in drawn(kind)]
    assert {len(answer.items) for answer in answers} >= {4, 5, 6}
    assert len({answer.item(answer.order[0][0]).name for answer in answers}) >= 5


@picks
def test_solutions_of_a_pick_end_with_it(kind):
    for problem in drawn(kind):
        assert problem.solution[-1].text.endswith(f": {problem.answer.right.item.name}")


@picks
def test_what_may_be_picked_and_what_is_right_change_from_seed_to_seed(kind):
    answers = [problem.answer for problem in drawn(kind)]
    assert {len(answer.choices) for answer in answers} == {3, 4, 5}
    assert len({answer.right.item.key for answer in answers}) >= 4
    assert len({answer.right.item.name for answer in answers}) >= 4


@picks
def test_each_pick_is_told_with_its_numbers(kind):
    for problem in drawn(kind):
        for choice in problem.answer.choices:
            assert problem.scenario is None or re.search(r"\d GB", choice.feedback)
            assert 10 <= len(choice.feedback) <= 180


def test_key_value_heads_are_no_symbol_where_only_the_vocabulary_counts():
    for problem in drawn("logits-spike"):
        assert set(problem.answer.symbols) == {"b", "s", "V", "h"}


@every_kind
def test_sums_are_not_said_twice_and_nouns_agree(kind):
    for problem in drawn(kind):
        for text in texts(problem):
            assert not re.search(r"(?<![\w./])(?<!× )([\d.]+) = \1(?![.\d])", text), text
            assert not re.search(r"(?<![\d.,])1 (bytes|sequences|GPUs|layers)\b", text), text
            assert not re.search(r"- 0 ×|\b1 × 1 =|is nothing|apart\.", text), text


@every_kind
def test_a_problem_is_the_same_each_time(kind):
    assert build(kind, 5) == drawn(kind)[5]
