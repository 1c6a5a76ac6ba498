"""A formula is right whatever its form, and a wrong one is told from the numbers that it gives."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.symbolic import Letter, SymbolicAnswer, wrong
from problems.formula import ONE, letter
from problems.registry import build
from quiz.grading import Unreadable, grade
from quiz.marking.registry import request_of

SAYS = {"s": "tokens", "b": "sequences", "h": "width", "t": "tensor ranks", "L": "layers"}
LETTERS = tuple(Letter(name=name, says=says) for name, says in SAYS.items())
S, B, H, T, L = map(letter, SAYS)
RIGHT = L * S * B * H * (10 * ONE + 24 * ONE / T)


@pytest.fixture
def activations(make_problem):
    """All layers of a block under tensor parallelism: L·s·b·h·(10 + 24/t)."""
    whole = wrong("activations left whole", 34 * L * S * B * H, "leaves all of it whole.")
    return make_problem(SymbolicAnswer(formula=RIGHT, letters=LETTERS, mistakes=(whole,)))


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


@pytest.mark.parametrize(
    "typed",
    [
        "L s b h (10 + 24/t)",
        "10Lsbh + 24Lsbh/t",
        "2Lsbh(5 + 12/t)",
        "(10t + 24)·L·s·b·h/t",
        "total = sbhL(34 - 24 + 24/t) bytes",
        "L*s*b*h*24/t + L*s*b*h*10 + s - s",
    ],
)
def test_any_form_of_the_right_formula_is_right(activations, typed):
    verdict = marked(activations, typed)
    assert (verdict.score, verdict.mistake) == (1, None)
    assert verdict.feedback == "Right: L·s·b·h·(10 + 24/t)."


@pytest.mark.parametrize(
    ("typed", "score", "mistake", "says"),
    [
        ("34sbhL", 0, "activations left whole", "34·L·s·b·h leaves all of it whole."),
        ("sbh(10+24/t)", 0, "one layer for all", "right but per layer: L is missing"),
        (
            "2Lsbh(10+24/t)",
            Fraction(1, 4),
            "off by a constant factor",
            "is off by the constant factor 2.",
        ),
        ("Lsbh(5+12/t)", Fraction(1, 4), "off by a constant factor", "constant factor 1/2."),
        ("Lsh(10+24/t)", Fraction(1, 4), "a letter left out", "lacks the factor b (sequences)."),
        ("Lsbh(10t+24)", Fraction(1, 4), "a letter left out", "not divided by t (tensor ranks)."),
        ("Ls^2bh(10+24/t)", Fraction(1, 4), "a letter too many", "has the factor s too many"),
        ("Lsbh(10+24/t)/t^2", Fraction(1, 4), "a letter too many", "by t^2 too often"),
        ("2sbh(10+24/t)", 0, None, "lacks the factor L (layers) and is off by"),
        ("68sbhL", 0, None, "does not depend on t (tensor ranks) as it should."),
        ("sbhL(24+10/t)", 0, None, "with 2 for every letter it gives 464, the right one 352."),
        # At 2 for every letter it has no number to be compared by.
        ("Lsbh(10+24/t) + 1/(s-b)", 0, None, "depends on the same letters in another way."),
        ("0", 0, None, "does not depend on s (tokens), b (sequences), h (width), t"),
        ("-Lsbh(10+24/t)", 0, None, "in another way"),
    ],
)
def test_a_wrong_formula_is_told(activations, typed, score, mistake, says):
    verdict = marked(activations, typed)
    assert (verdict.score, verdict.mistake) == (score, mistake)
    assert verdict.feedback.endswith(says) or says in verdict.feedback


def test_a_letter_that_does_not_matter_is_told(activations):
    answer = replace(activations.answer, formula=L * S * B * H, mistakes=())
    problem = replace(activations, answer=answer)
    assert "divided by t and should not (tensor ranks)" in marked(problem, "Lsbh/t").feedback
    assert "depends on t (tensor ranks); the right" in marked(problem, "Lsbh+t").feedback


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("1/(s-s)", "divides by nothing"),
        ("((9^60)^60)^60", "powers are too high"),
        ("34sbh/tL", "two readings"),
        ("x" * 201, "at most 200 characters"),
    ],
)
def test_what_gives_no_number_is_refused(activations, typed, reason):
    found = grade(activations, typed)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


ASKED = "Llama 3 70B: 80 layers, 8,192 wide, fp32, 16-bit matrices; s = 4,096 tokens, t = 8 GPUs."


@pytest.mark.parametrize(
    ("typed", "offset", "reason"),
    [
        ("80sbh(10+24/t)", 0, "type the letter, not its value"),
        ("Lsb*8192*(10+24/t)", 4, "type the letter, not its value"),
        ("L*4,096*b*h*(10+24/t)", 2, "type the letter, not its value"),
        # With a slip beside it too: the letters are what it is marked by.
        ("3 * 80 s b h (10 + 24/t)", 4, "type the letter, not its value"),
        # Worked out, so that the value itself does not stand there: 10 + 24/8.
        ("13Lsbh", 0, "values stand here in the place of letters"),
        ("80*4096*8192*13", 0, "there is no letter in it"),
        ("34.9e9", 0, "there is no letter in it"),
    ],
)
def test_values_in_the_place_of_letters_are_not_marked(activations, typed, offset, reason):
    found = grade(replace(activations, prompt=ASKED), typed)
    assert isinstance(found, Unreadable)
    assert (found.offset, reason in found.reason) == (offset, True)


@pytest.mark.parametrize(
    "typed",
    ["34sbhL", "16Lsbh", "70Lsbh", "32Lsbh", "sbh(10+24/t)", "80Lsbh(10+24/t)", "3Lsbh", "0"],
)
def test_numbers_that_are_no_letters_values_are_marked(activations, typed):
    # A known mistake; widths and names of the text; all letters there; nothing at all.
    assert marked(replace(activations, prompt=ASKED), typed).score < 1


@pytest.mark.parametrize(
    ("kind", "seed", "typed"),
    [
        ("parameters-formula", 178899306, "16*(4*12288^2+2*12288*f)+50257*12288"),
        ("parameters-formula", 178899306, "16*(4h^2+2hf)+Vh"),
        ("plan-formula", 11, "8P/8+8P/G"),
        ("cache-formula", 11, "4L*16,512*b*k*d/(t*p)"),
    ],
)
def test_the_questions_own_numbers_are_known(kind, seed, typed):
    found = grade(build(kind, seed), typed)
    assert isinstance(found, Unreadable)
    assert "letter" in found.reason


def test_two_letters_of_the_prompt_may_stand_side_by_side():
    assert marked(build("plan-formula", 11), "8P/(tp)+8P/G").score == 1


def test_what_to_type_stands_below_the_question(activations):
    wants = request_of(activations.answer).wants
    assert wants == "Type a formula for the bytes in these letters."


def test_the_reading_has_every_product_written(activations):
    assert marked(activations, "34sbh L").reading == "34·s·b·h·L"
