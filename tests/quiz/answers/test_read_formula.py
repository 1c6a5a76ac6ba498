"""Formulas are read as people type them; what has two readings is refused where it has."""

from fractions import Fraction

import pytest

from problems.answers.symbolic import Letter
from quiz.answers import TypedFormula, Unreadable, read_formula

NAMES = {"P": "parameters", "N": "GPUs", "L": "layers", "s": "tokens", "b": "sequences",
         "h": "width", "d": "head size", "t": "tensor ranks", "a": "heads"}  # fmt: skip
LETTERS = (
    *(Letter(name=name, says=says) for name, says in NAMES.items()),
    Letter(name="k", says="key-value heads", aliases=("h_kv", "n_kv", "kv")),
)
PRIMES = dict(zip([*NAMES, "k"], (2, 3, 5, 7, 11, 13, 17, 19, 23, 29), strict=True))
P, N, L, s, b, h, d, t, a, k = PRIMES.values()

READ = [
    ("16P/N", Fraction(16 * P, N)),
    ("16 P / N", Fraction(16 * P, N)),
    ("2*L*h_kv*d*2*s*b", 4 * L * k * d * s * b),
    ("2·L·kv·d·2·s·b", 4 * L * k * d * s * b),
    ("2 × L × k × d", 2 * L * k * d),
    ("2xLxkxd", 2 * L * k * d),
    ("34sbh", 34 * s * b * h),
    ("34 s b h", 34 * s * b * h),
    ("s b h (10 + 24/t)", s * b * h * (10 + Fraction(24, t))),
    ("(10 + 24/t)sbh", s * b * h * (10 + Fraction(24, t))),
    ("2P + 14P/N", 2 * P + Fraction(14 * P, N)),
    ("sbh(34+5as/h)", s * b * h * (34 + Fraction(5 * a * s, h))),
    ("5as²b", 5 * a * s * s * b),
    ("5 a s^2 b", 5 * a * s * s * b),
    ("s**2", s * s),
    ("P^-1", Fraction(1, P)),
    ("PN⁻¹", Fraction(P, N)),
    ("(sb)^(2)", (s * b) ** 2),
    ("2^10 P", 2**10 * P),
    ("1,024P", 1024 * P),
    ("0.5P", Fraction(P, 2)),
    ("1e9P", 10**9 * P),
    ("-P + 3P", 2 * P),
    ("P − N", P - N),
    ("P ÷ N", Fraction(P, N)),
    ("P/(2N)", Fraction(P, 2 * N)),
    ("P/N/t", Fraction(P, N * t)),
    ("P/N*t", Fraction(P * t, N)),
    ("[2 + 2]P", 4 * P),
    ("memory per GPU = 16P/N", Fraction(16 * P, N)),
    ("= 16P", 16 * P),
    ("≈ 16P", 16 * P),
    ("16P/N bytes", Fraction(16 * P, N)),
    ("16P/N bytes per GPU.", Fraction(16 * P, N)),
    ("16P/N per rank", Fraction(16 * P, N)),
    ("16p/n", Fraction(16 * P, N)),
    ("\uff11\uff16P\uff0fN", Fraction(16 * P, N)),
]


@pytest.mark.parametrize(("text", "value"), READ, ids=[text for text, _ in READ])
def test_a_formula_is_read_as_people_type_it(text, value):
    typed = read_formula(text, LETTERS)
    assert isinstance(typed, TypedFormula), typed
    assert typed.at(PRIMES) == value


@pytest.mark.parametrize(("text", "value"), READ, ids=[text for text, _ in READ])
def test_what_is_echoed_is_read_as_the_same(text, value):
    said = read_formula(text, LETTERS).said
    assert read_formula(said, LETTERS).at(PRIMES) == value


REFUSED = [
    ("", 0, "nothing was typed; type a formula in P and N"),
    ("16Q/N", 2, "has no meaning here; use P (parameters)"),
    ("16P/N GB", 6, "leave the unit out"),
    ("34sbh B", 6, "a byte or a letter"),
    ("P/2N", 3, "two readings; put it in parentheses"),
    ("P/N(2+t)", 3, "two readings; put it in parentheses"),
    ("s2", 1, "type ^2 or *2"),
    ("2 3 P", 2, "type ^2 or *2"),
    ("sbh(34+5as/h", 3, "this parenthesis is not closed"),
    ("34sbh)", 5, "no parenthesis is open"),
    ("16*", 3, "is missing here"),
    ("*16", 0, "is missing here"),
    ("3 + ", 3, "is missing here"),
    ("P^N", 2, "small whole number"),
    ("P^0.5", 2, "small whole number"),
    ("P^99", 2, "small whole number"),
    ("P^2^2", 3, "put parentheses"),
    ("1,5P", 0, "two readings"),
    ("16P = 4P", 4, "without an equals sign"),
    ("16P & N", 4, "this sign is not known"),
    ("max(P, N)", 0, "no meaning here"),
    ("(" * 21 + "P", 20, "too many parentheses"),
    ("P\u200bN", 1, "cannot be seen"),
    ("kvkvkvkvkvkvkvkvkvkv", 0, "no product of letters"),
    ("12345678901234567P", 0, "too long"),
    ("P²⁺", 1, "no power"),
]


@pytest.mark.parametrize(("text", "offset", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_read_is_refused_where_it_stands(text, offset, reason):
    found = read_formula(text, LETTERS)
    assert isinstance(found, Unreadable), found
    assert found.offset == offset
    assert reason in found.reason


def test_a_letter_typed_in_another_case_is_told():
    assert read_formula("2Lkd", LETTERS).remarks == ()
    assert read_formula("2lKd", LETTERS).remarks == ("read lKd as L·k·d",)


def test_upper_and_lower_case_are_two_letters_where_both_are_defined():
    both = (Letter(name="P", says="parameters"), Letter(name="p", says="stages"))
    assert read_formula("P/p", both).at({"P": 6, "p": 2}) == 3


CUT = (
    Letter(name="P", says="parameters"),
    Letter(name="t", says="tensor-parallel GPUs", aliases=("TP", "tp")),
    Letter(name="p", says="pipeline stages", aliases=("PP", "pp")),
    Letter(name="d", says="head size"),
    Letter(name="N", says="data-parallel GPUs", aliases=("DP", "dp")),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8P/(tp)", "8·P/(t·p)"),
        ("8P/(pt)", "8·P/(p·t)"),
        ("8P/(tpN)", "8·P/(t·p·N)"),
        ("8P/(tpd)", "8·P/(t·p·d)"),
        ("8P/(TP*PP)", "8·P/(t·p)"),
        ("8P/TP", "8·P/t"),
        ("8P/PP", "8·P/p"),
        ("8P/DP", "8·P/N"),
        # Nobody types a square so.
        ("8P/pp", "8·P/p"),
        ("2PP", "2·p"),
    ],
)
def test_letters_of_the_question_side_by_side_are_a_product(text, said):
    typed = read_formula(text, CUT)
    assert isinstance(typed, TypedFormula), typed
    assert typed.said == said


@pytest.mark.parametrize(
    ("text", "offset", "readings"),
    [
        # Beside another short name tp is as likely one.
        ("8P/(tp*PP)", 4, "t*p or t"),
        ("8P/(tp*DP)", 4, "t*p or t"),
        ("8P/(PP*tp)", 7, "t*p or t"),
    ],
)
def test_a_word_with_two_readings_is_refused_with_both(text, offset, readings):
    found = read_formula(text, CUT)
    assert isinstance(found, Unreadable), found
    reason = f"this may be {readings}; type the one that is meant"
    assert (found.offset, found.reason) == (offset, reason)


def test_two_readings_in_the_questions_own_letters_are_both_said():
    two = tuple(Letter(name=name, says=name) for name in ("kv", "k", "v"))
    found = read_formula("2kv", two)
    assert (found.offset, found.reason) == (1, "this may be k*v or kv; type the one that is meant")


def test_x_is_a_letter_where_one_has_that_name():
    some = (Letter(name="x", says="things"), Letter(name="y", says="more"))
    assert read_formula("2xy", some).at({"x": 3, "y": 5}) == 30


@pytest.mark.parametrize("text", ["P/(N-N)", "((9^50)^50)^50"])
def test_what_gives_no_number_says_so_when_it_is_evaluated(text):
    with pytest.raises((ZeroDivisionError, OverflowError)):
        read_formula(text, LETTERS).at(PRIMES)


def test_any_text_is_read_or_refused():
    # Every sign that some formula has, in an order that none has.
    signs = "16P/N^²(s·×b)-−+=*,. eE_{}[]!√∑\t"
    for at in range(len(signs)):
        for step in (1, 3, 7):
            text = (signs[at:] + signs[:at])[::step]
            found = read_formula(text, LETTERS)
            assert isinstance(found, TypedFormula) or 0 <= found.offset <= len(text)
