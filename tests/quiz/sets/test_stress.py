"""What speaks against giving a set out."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.claim import ClaimAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.problem import Mistake, Problem, Step
from quiz.sets.problem_set import ProblemSet, Slot, Student, Variant
from quiz.sets.stress import refusals

GB = 10**9
NUMBERS = itertools.count(1)


def problem(answer, prompt=None, mistakes=()):
    number = next(NUMBERS)
    return Problem(
        kind="made",
        topic="A",
        level="mid",
        seed=number,
        prompt=prompt or f"Question {number}?",
        answer=answer,
        hints=("one", "two", "three"),
        solution=(Step(text="so"),),
        mistakes=mistakes,
    )


def size(value, **more):
    return problem(QuantityAnswer(value=Fraction(value)), **more)


def yes(value):
    proof = QuantityAnswer(value=Fraction(1))
    return problem(YesNoAnswer(value=value, proof=proof))


def claim(truth):
    return problem(ClaimAnswer(claim="made", truth=truth, core="so"))


def slots(number):
    return tuple(
        Slot(number=at, kind="made", topic="A", level="mid", type="quantity", minutes=Fraction(4))
        for at in range(1, number + 1)
    )


def sheet(*problems):
    variant = Variant(problems=problems)
    return ProblemSet(
        title="t", version="1", seed=1, slots=slots(len(problems)), variants=(variant,)
    )


def column(*problems, same=False):
    variants = tuple(
        Variant(student=Student(id=f"s{at}"), problems=(one,)) for at, one in enumerate(problems)
    )
    (slot,) = slots(1)
    slot = replace(slot, same=same)
    return ProblemSet(title="t", version="1", seed=1, slots=(slot,), variants=variants)


def told(problems, minutes=None):
    return " ".join(str(fault) for fault in refusals(problems, minutes))


def truths(text):
    return [{"y": yes, "n": yes, "t": claim, "f": claim}[one](one in "yt") for one in text]


@pytest.mark.parametrize("row", ["yyyyyy", "ynynyn", "tftftf", "yynyyn"])
def test_a_row_of_truths_with_a_pattern_is_refused(row):
    assert "again and again" in told(sheet(*truths(row)))


@pytest.mark.parametrize("row", ["yynyny", "tyfnny", "yyyyy", "yn"])
def test_a_row_without_one_may_be_given_out(row):
    assert not told(sheet(*truths(row)))


def test_sizes_that_only_grow_are_refused():
    assert "sizes only grow" in told(sheet(*(size(GB * at) for at in range(1, 7))))
    assert "sizes only fall" in told(sheet(*(size(GB * at) for at in range(7, 1, -1))))
    assert not told(sheet(*(size(GB * at) for at in (1, 3, 2, 4, 5, 6))))


def test_a_question_that_stands_twice_on_a_sheet_is_refused():
    twice = sheet(size(GB, prompt="How much?"), size(GB, prompt="How much?"))
    assert "asks the same twice" in told(twice)


def test_two_students_with_the_same_numbers_are_refused_by_name():
    found = told(column(size(1, prompt="A?"), size(2, prompt="B?"), size(1, prompt="A?")))
    assert "question 1, made: the same numbers for s0, s2" in found


def test_all_may_have_the_same_where_the_part_says_so():
    assert not told(column(*(size(1, prompt="A?") for _ in range(20)), same=True))


def test_an_answer_that_is_right_for_too_many_is_refused():
    assert "yes for 18 of 20" in told(column(*map(yes, [True] * 18 + [False] * 2)))
    assert not told(column(*map(yes, [True, False] * 10)))


def test_a_number_that_most_students_have_is_refused():
    found = told(column(*(size(8 * GB if at < 13 else at * GB) for at in range(20))))
    assert "is 8.00 GB = 7.45 GiB for 13 of 20" in found


def test_a_class_whose_truths_are_nearly_all_one_is_refused():
    def class_of(*rows):
        variants = tuple(
            Variant(student=Student(id=f"s{at}"), problems=tuple(map(claim, row)))
            for at, row in enumerate(rows)
        )
        return replace(sheet(*map(claim, rows[0])), variants=variants)

    assert "true is right for 40 of 40 answers" in told(class_of(*[[True] * 4] * 10))
    assert not told(class_of(*[[True, False, False, True]] * 10))


def test_a_pattern_that_every_student_s_sheet_has_is_refused():
    variants = tuple(
        Variant(student=Student(id=f"s{at}"), problems=tuple(truths("tftftf"))) for at in range(2)
    )
    problems = replace(sheet(*truths("tftftf")), variants=variants)
    assert "again and again" in told(problems)
    other = replace(variants[1], problems=tuple(truths("tfttff")))
    assert "again" not in told(replace(problems, variants=(variants[0], other)))


def test_few_students_may_have_one_answer_by_chance():
    assert not told(column(*map(yes, [True] * 8)))


def test_a_mistake_within_the_tolerance_is_refused():
    near = Mistake(name="nearly", value=Fraction(101, 100) * GB, feedback="1.01 GB")
    found = told(sheet(size(GB, mistakes=(near,))))
    assert "'nearly' gives what is right within its tolerance" in found


def test_a_set_that_takes_longer_than_it_may_is_refused():
    problems = sheet(size(1), size(2), size(3))
    assert "12 minutes by estimate, and 11 are given" in told(problems, Fraction(11))
    assert not told(problems, Fraction(12))


def test_many_reasons_are_cut_short():
    near = Mistake(name="nearly", value=Fraction(GB), feedback="1 GB")
    found = refusals(sheet(*(size(GB, mistakes=(near,)) for _ in range(30))))
    assert len(found) == 13
    assert "18 more" in str(found[-1])
