import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.units import BINARY, DECIMAL
from quiz.answers import Quantity, Unreadable, caret, describe, parse_quantity

ROWS, WHY = (
    tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("typed_answers.toml", "typed_refusals.toml")
)

MEMORY = {"default_unit": "GB", "asks": "memory, in bytes"}
RATIO = {"default_unit": None, "asks": "a ratio (how many times larger)"}
CONTEXTS = {
    "memory": MEMORY,
    "no_default": {"asks": "memory, in bytes"},
    "symbolic": {**MEMORY, "symbols": {"P": 1_300_000_000}},
    "symbols": {
        **MEMORY,
        "symbols": {"Ψ": 7_500_000_000, "N": 64, "s": 2048, "b": 1, "h": 4096, "L": 32},
    },
    "letters": {
        **MEMORY,
        "symbols": {"a": 32, "s": 2048, "b": 1, "h": 4096, "k": 8, "P": 7_000_000_000},
    },
    "per_parameter": {"default_unit": "bytes", "asks": "bytes per parameter"},
    "parameters": {"asks": "number of parameters"},
    "ratio": RATIO,
    "gpus": {"asks": "number of GPUs"},
    "number": {"asks": "how many"},
}
CASES = [(kind, row) for kind, rows in ROWS.items() for row in rows]
READ = [(kind, row) for kind, row in CASES if "value" in row]
REFUSED = [(kind, row["typed"]) for kind, row in CASES if "value" not in row]

HOSTILE = [
    "9" * 10**6,
    "1+" * 3000 + "1",
    "9**9**9",
    "1e999999999",
    "1e-999999999",
    "9^99 * 9^99",
    "((1/3)^60)^60",
    "2^" * 60 + "2",
    "(" * 200,
    "(" * 90 + "1" + ")" * 90,
    "1B*" * 20 + "1B",
    "1B+1B+1B+1B" + "+1" * 93,
    "=".join(["1,234"] * 30),
    "1B/2Gb/1.230/1,230" + "*1" * 80,
    "7B*7B*7B*7B*7B*7B*7B",
    "1/9999999999" * 15,
    "__import__('os').system('id')",
    "().__class__.__mro__",
    "{{7*7}}",
    "${16}",
    "$(id)",
    "`id`",
    "%s%s%n",
    "16 GB; DROP TABLE answers",
    "16 GB' OR '1'='1",
    "<b>16 GB</b>",
    "\x1b[31m16 GB\x1b[0m",
    "16\u202eGB",
    "16\u200bGB",
    "\ufeff16 GB",
    "1\u03366",
    "16 \N{GRINNING FACE}",
    "16\ud800GB",
    "16\x00GB",
    "16\n20",
    "[bold]16[/bold]",
    "lambda: 16",
    "16 if True else 2",
    "max(16, 20)",
    "√256",
    "16 # GB",
    "\\u0031",
    "∞",
]


def read(typed: str, **context: object) -> Quantity:
    found = parse_quantity(typed, **(context or MEMORY))
    assert isinstance(found, Quantity), found
    return found


@pytest.mark.parametrize(("kind", "row"), READ, ids=[f"{k}: {r['typed']}" for k, r in READ])
def test_an_answer_is_read_as_a_person_reads_it(kind: str, row: Mapping[str, str]) -> None:
    found = read(row["typed"], **CONTEXTS[kind])
    value = Fraction(row["value"])
    unit = "1" if kind in {"parameters", "ratio", "gpus", "number"} else "bytes"
    assert (found.unit, found.value, found.low, found.high, found.approximate) == (
        unit,
        value,
        Fraction(row.get("low", value)),
        Fraction(row.get("high", value)),
        row.get("approximate", False),
    )


SEVERAL = [(kind, row) for kind, row in READ if "others" in row]


@pytest.mark.parametrize(("kind", "row"), SEVERAL, ids=[r["typed"] for _, r in SEVERAL])
def test_another_reading_that_matters_is_named(kind: str, row: Mapping[str, str]) -> None:
    found = read(row["typed"], **CONTEXTS[kind])
    assert set(found.alternatives) >= {Fraction(other) for other in row["others"]}
    assert found.remarks


@pytest.mark.parametrize(("kind", "typed"), REFUSED, ids=[f"{k}: {t}" for k, t in REFUSED])
def test_what_gives_no_one_number_is_refused_with_its_place(kind: str, typed: str) -> None:
    found = parse_quantity(typed, **CONTEXTS[kind])
    assert isinstance(found, Unreadable), found
    assert 0 <= found.offset <= len(typed)
    assert found.reason


REASONS = [(kind, *row) for kind, rows in WHY.items() for row in rows]


@pytest.mark.parametrize(
    ("kind", "typed", "offset", "reason"), REASONS, ids=[f"{k}: {t}" for k, t, *_ in REASONS]
)
def test_a_refusal_says_where_and_why(kind: str, typed: str, offset: int, reason: str) -> None:
    found = parse_quantity(typed, **CONTEXTS[kind])
    assert isinstance(found, Unreadable), found
    assert (found.offset, reason in found.reason) == (offset, True), found


LIMITS = [
    ("(" * 16 + "1" + ")" * 16, 1),
    ("2" + "^1" * 16, 2),
    ("+".join(["(1)"] * 17), 17),
    ("+".join(["2^1"] * 17), 34),
    ("+".join("1" * 40), 40),
    ("1=1=1=1=1", 1),
    ("0." + "0" * 38 + "1e39", 1),
    ("1e40 / 1e40", 1),
    ("1*5 + 1*5 - 2*5", 0),
    ("10^24", 10**24),
]


@pytest.mark.parametrize(("typed", "value"), LIMITS, ids=[typed[:20] for typed, _ in LIMITS])
def test_up_to_its_limits_a_sum_is_worked_out(typed: str, value: int) -> None:
    assert read(typed, default_unit="1").value == value


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("typed", HOSTILE, ids=ascii)
def test_hostile_text_is_refused(typed: str, kind: str) -> None:
    found = parse_quantity(typed, **CONTEXTS[kind])
    assert isinstance(found, Unreadable), found


@pytest.mark.parametrize("kind", ["memory", "letters", "per_parameter"])
@pytest.mark.parametrize("typed", HOSTILE, ids=ascii)
def test_hostile_text_takes_no_time(typed: str, kind: str) -> None:
    parse_quantity("16 GB", **MEMORY)
    start = process_time()
    parse_quantity(typed, **CONTEXTS[kind])
    assert process_time() - start < 0.2


@pytest.mark.parametrize("typed", HOSTILE, ids=ascii)
def test_refused_text_is_shown_in_one_safe_line_with_a_caret(typed: str) -> None:
    found = parse_quantity(typed, **MEMORY)
    assert isinstance(found, Unreadable)
    line, under = caret(typed, found).split("\n")
    assert line.isprintable()
    assert len(line) <= 80
    assert under.strip() == "^"


OFFSETS = [
    ("16 XY", 3),
    ("16 or 20", 3),
    ("  16 GB 14", 8),
    ("½ + & 3", 4),
    ("\uff11\uff16 \uff38\uff39", 3),
]


@pytest.mark.parametrize(("typed", "offset"), OFFSETS)
def test_the_offset_points_into_the_text_as_typed(typed: str, offset: int) -> None:
    found = parse_quantity(typed, **MEMORY)
    assert isinstance(found, Unreadable)
    assert found.offset == offset


UNSEEN = [
    "\x07", "\u200b", "\ud800", "\ue000", "\u0378", "\u0301", "\u20dd", "\u0903", "\u2028",
    "\u2029",
]  # fmt: skip


@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_a_character_that_nobody_sees_is_said_to_be_there(character: str) -> None:
    found = parse_quantity(f"16{character}GB", **MEMORY)
    assert isinstance(found, Unreadable)
    assert (found.offset, "cannot be seen" in found.reason) == (2, True)


def test_two_hundred_characters_are_read_and_one_more_is_refused() -> None:
    assert read("16" + " " * 196 + "GB").value == 16 * 10**9
    assert isinstance(parse_quantity("16" + " " * 197 + "GB", **MEMORY), Unreadable)


ADVICE = [
    ("sixten GB", "this word is not known; did you mean sixteen?"),
    ("16 terrabytes", "this word is not known; did you mean terabytes?"),
    ("3 bilion", "this word is not known; did you mean billion?"),
    ("16 GB per parametr", "this word is not known; did you mean parameter?"),
    ("two qarters", "this word is not known; did you mean quarters?"),
    ("16 gigss", "this word is not known; did you mean gigs?"),
    ("16 parsecs", "this word is not known; type a number with its unit"),
]


@pytest.mark.parametrize(("typed", "reason"), ADVICE)
def test_a_misspelt_word_is_met_with_the_nearest_that_is_known(typed: str, reason: str) -> None:
    found = parse_quantity(typed, **MEMORY)
    assert isinstance(found, Unreadable)
    assert found.reason == reason


REMARKS = [
    ("16Gb", "read as gigabytes; gigabits would be 2 GB"),
    ("80GB+", "read as the number itself, though a lower bound was typed"),
    ("> 80 GB", "read as the number itself, though a lower bound was typed"),
    ("at most 80 GB", "read as the number itself, though an upper bound was typed"),
    ("16 GB per GPU", "read as the size per GPU"),
    ("16 GB in total", "read as a total"),
    ("16 GB (weights only)", "the note in brackets was not read"),
    ("80 - 16", "read the dash as minus"),
    ("20.8e9", "read as plain bytes"),
    ("16 000 MB", "read the space as a thousands separator"),
    ("1,024 TB", "read as a decimal comma; a thousands comma would be 1024 TB"),
    ("1..5 GB", "read the dots as a range"),
    ("1·5 GB", "read the dot as times"),
    ("5!", "the exclamation mark was not read"),
    ("in total: 16 GB", "read as a total"),
    ("answer: 5!", "the exclamation mark was not read"),
    ("=> 80 GB", "read as the number itself, though a lower bound was typed"),
    ("none", "read as zero"),
    ("16 PB", "this is more than a petabyte"),
    ("20800000000 B", "read B as bytes"),
    ("16 GB (per GPU)", "read as the size per GPU"),
    ("16 GB + 80 GB per GPU", "read as the size per GPU"),
    ("80 + 16 GB per GPU", "read as the size per GPU"),
    ("≥ 16 GB", "read as the number itself, though a lower bound was typed"),
    ("< 16 GB", "read as the number itself, though an upper bound was typed"),
    ("≤ 16 GB", "read as the number itself, though an upper bound was typed"),
    ("12...14 GB", "read the dots as a range"),
    ("80 — 16", "read the dash as minus"),
    ("14GB+84", "read as the same unit throughout; plain bytes would be 14,000,000,084 bytes"),
    ("16B", "read as billion; bytes would be 16 bytes"),
    ("5!.", "the exclamation mark was not read"),
    ("between 14 GB and 12 GB", "the ends of the range were put in order"),
    ("16 GB = 14.9 GiB", "restated, and the first was taken"),
    ("16 GB each", "read as the size of one"),
    ("16 GB on each of 8 GPUs", "read as the size of one"),
    ("16 GB for each of the 8 cards", "read as the size of one"),
    ("12 .. 14 GB", "read the dots as a range"),
]


@pytest.mark.parametrize(("typed", "remark"), REMARKS)
def test_what_was_assumed_is_said(typed: str, remark: str) -> None:
    assert remark in read(typed).remarks


REMARKS_ELSEWHERE = [
    ("symbolic", "16p", "read a letter in another case or script as the question's symbol"),
    ("symbolic", "16Ψ", "read a letter in another case or script as the question's symbol"),
    ("ratio", "2 to 3", "read as a range"),
    ("number", "2 to 3", "read as a range"),
    ("number", "8 GPUs", "read as a number of GPUs"),
    ("letters", "12 k", "read as a symbol of the question; kilobytes would be 12 kB"),
    ("parameters", "1,500", "read as a thousands comma; a decimal comma would be 1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "typed", "remark"), REMARKS_ELSEWHERE)
def test_what_was_assumed_is_said_in_other_questions_too(
    kind: str, typed: str, remark: str
) -> None:
    assert remark in read(typed, **CONTEXTS[kind]).remarks


ALONE = [
    ("20.8e9", "read as plain bytes"),
    ("none", "read as zero"),
    ("16 GB in total", "read as a total"),
    ("80GB+", "read as the number itself, though a lower bound was typed"),
]


@pytest.mark.parametrize(("typed", "remark"), ALONE)
def test_nothing_is_said_that_was_not_assumed(typed: str, remark: str) -> None:
    assert read(typed).remarks == (remark,)


PLAIN = [
    "16 GB", "16G", "500k", "1.12T",
    "1 000 000 MB",
    "answer: 16 GB", "(16 GB)", "5 !", "16.", "1.5 GB", "8 x 2", "0 GB", "12 GB to 14 GB",
    "1'000 MB", "80 ± 5 GB", "about 16 GB", "1 PB", "2 * 3", "1/2 of 80 GB", "2^3 GB", "half a TB",
]  # fmt: skip


def test_a_lone_b_is_bytes_where_bytes_are_the_unit_and_billion_in_gb() -> None:
    assert read("16B", default_unit="bytes").value == 16
    assert read("16B", default_unit="GB").value == 16 * 10**9


def test_a_count_in_two_units_names_the_other_as_a_number() -> None:
    remark = "read as the same unit throughout; a number without unit would be 2.6B"
    assert remark in read("1.3B*2+5", **CONTEXTS["parameters"]).remarks


PLAIN_ELSEWHERE = [
    *(("memory", typed) for typed in PLAIN),
    ("per_parameter", "16"),
    ("per_parameter", "16 B"),
    ("per_parameter", "14B/7B"),
    ("parameters", "1.3B params"),
    ("ratio", "4x"),
    ("gpus", "8 GPUs"),
    ("gpus", "12 to 14 GPUs"),
    ("symbolic", "2P + 14 GB"),
    ("letters", "b*s*h bytes"),
]


@pytest.mark.parametrize(("kind", "typed"), PLAIN_ELSEWHERE)
def test_where_nothing_was_assumed_nothing_is_said(kind: str, typed: str) -> None:
    found = read(typed, **CONTEXTS[kind])
    assert (found.remarks, found.alternatives) == ((), ())


ECHOES = [
    ("16 GB", "16 GB = 16.0e9 bytes = 14.9 GiB"),
    ("37 gb", "37 GB = 37.0e9 bytes = 34.5 GiB"),
    ("about 16 GiB", "about 17.18 GB = 17.18e9 bytes = 16 GiB"),
    ("12-14 GB", "12 to 14 GB = 12.0e9 to 14.0e9 bytes = 11.2 to 13 GiB"),
    ("16 bytes", "16 bytes"),
    ("1 byte", "1 byte"),
    ("1 to 2 bytes", "1 to 2 bytes"),
    ("1 MB", "1 MB = 1.0e6 bytes = 977 KiB"),
    ("999 bytes", "999 bytes"),
    ("1000 bytes", "1 kB = 1.0e3 bytes = 1,000 bytes"),
    ("2 to 3000 bytes", "2 bytes to 3 kB = 2 to 3.0e3 bytes = 2 bytes to 2.93 KiB"),
    ("1 to 3000 bytes", "1 byte to 3 kB = 1 to 3.0e3 bytes = 1 byte to 2.93 KiB"),
]


@pytest.mark.parametrize(("typed", "echo"), ECHOES)
def test_a_reading_is_echoed_in_decimal_and_binary_units(typed: str, echo: str) -> None:
    assert describe(read(typed)) == echo


NUMBERS = [
    ("1.3B", "1,300,000,000 = 1.3B"),
    ("1000", "1,000 = 1K"),
    ("999", "999"),
    ("1.5", "1.5"),
    ("2 to 3 million", "2,000,000 to 3,000,000"),
]


@pytest.mark.parametrize(("typed", "echo"), NUMBERS)
def test_a_plain_number_is_echoed_without_bytes(typed: str, echo: str) -> None:
    assert describe(read(typed, asks="number of parameters")) == echo


LONG = "16 GB and " * 15
CARETS = [
    ("16 XY", 3, "16 XY\n   ^"),
    ("\uff11\uff16 XY", 3, "\uff11\uff16 XY\n     ^"),
    ("\u6f22\u5b57 XY", 3, "\u6f22\u5b57 XY\n     ^"),
    ("16\u200bGB", 2, "16\ufffdGB\n  ^"),
    (LONG, 60, f"{LONG[:72]}…\n{' ' * 60}^"),
    (LONG, 61, f"…{LONG[1:73]}…\n{' ' * 61}^"),
    (LONG, 140, f"…{LONG[80:]}\n{' ' * 61}^"),
    (LONG[:72], 10, f"{LONG[:72]}\n{' ' * 10}^"),
]


@pytest.mark.parametrize(("typed", "offset", "shown"), CARETS)
def test_the_caret_stands_under_what_is_refused(typed: str, offset: int, shown: str) -> None:
    assert caret(typed, Unreadable(offset=offset, reason="it is")) == shown


@pytest.mark.parametrize("unit", ["parsec", "bits", "b"])
def test_a_default_unit_that_is_none_is_an_error_of_the_caller(unit: str) -> None:
    with pytest.raises(ValueError, match="no unit of bytes"):
        parse_quantity("16", default_unit=unit)


@pytest.mark.parametrize(
    ("unit", "value"), [("B", 16), ("bytes", 16), ("kB", 16_000), ("GiB", 16 * 2**30), ("1", 16)]
)
def test_a_bare_number_is_in_the_unit_of_the_question(unit: str, value: int) -> None:
    assert read("16", default_unit=unit).value == value


@pytest.mark.parametrize(
    "question",
    [
        {"asks": "bytes per parameter"},
        {"default_unit": "bytes", "asks": "memory of one parameter"},
    ],
)
def test_bytes_per_parameter_are_read_where_they_may_be_asked(question: Mapping[str, str]) -> None:
    assert read("16 bytes per param", **question).value == 16


PIECES = st.sampled_from(
    [*"0123456789.,+-*/^()=%~<> xBGbMPk½\u00d7\u2013²'_", "GB", " or ", " to ", " per "]
)
SPOKEN = (
    "16 1.3 80 1,000 10 GB B G M k x * / - + ( ) ^ % P of half a two hundred to between and per "
    "GPU GPUs params bytes = ~ about total ? . Gb billion"
)
WORDS = st.sampled_from(SPOKEN.split())
ANY = st.text(max_size=60) | st.lists(PIECES, max_size=25).map("".join)
SOUP = st.lists(WORDS, max_size=12).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(typed=ANY | SOUP, kind=st.sampled_from(sorted(CONTEXTS)))
def test_no_text_raises_and_every_refusal_points_into_it(typed: str, kind: str) -> None:
    match parse_quantity(typed, **CONTEXTS[kind]):
        case Unreadable(offset=offset, reason=reason) as found:
            assert 0 <= offset <= len(typed)
            assert reason
            assert caret(typed, found).split("\n")[0].isprintable()
        case Quantity(value=value, low=low, high=high) as found:
            assert 0 <= low <= value <= high <= 10**30
            assert describe(found).isprintable()


HEDGES = ["", "about ", "~", "I think ", "roughly ", "≈ "]
WIDE = str.maketrans({c: chr(ord(c) + 0xFEE0) for c in "0123456789.KMGTiB"})


@st.composite
def spelled(draw: st.DrawFn) -> tuple[str, Fraction, bool]:
    whole, hundredths = draw(st.integers(1, 999_999)), draw(st.integers(0, 99))
    unit, factor = draw(st.sampled_from([*DECIMAL, *BINARY]))
    group = draw(st.sampled_from(["", "'", "_"]))
    decimals = f".{hundredths:02}" if hundredths else ""
    number = f"{whole:,}".replace(",", group) + decimals
    cased = draw(st.sampled_from([unit, unit.lower(), unit.upper()]))
    body = number + draw(st.sampled_from(["", " ", "  "])) + cased
    if draw(st.booleans()) and not group:
        body = body.translate(WIDE)
    hedge = draw(st.sampled_from(HEDGES))
    end = draw(st.sampled_from(["", ".", " ", " total", " (weights)"]))
    value = (whole + Fraction(hundredths, 100)) * factor
    return hedge + draw(st.sampled_from(["", "+"])) + body + end, value, bool(hedge)


@settings(max_examples=300, deadline=None)
@given(spelled())
def test_a_value_is_read_back_from_any_spelling(case: tuple[str, Fraction, bool]) -> None:
    typed, value, hedged = case
    found = read(typed)
    assert (found.value, found.approximate) == (value, hedged)


Rendered = tuple[str, Fraction]
LEAVES = st.integers(1, 40).map(lambda n: (str(n), Fraction(n)))


@st.composite
def joined(draw: st.DrawFn, inner: st.SearchStrategy[Rendered]) -> Rendered:
    (left, a), (right, b) = draw(inner), draw(inner)
    op = draw(st.sampled_from(["+", "*", "x", "\u00d7", "/", "÷"]))
    gap = " " * draw(st.integers(0, 2))
    value = a + b if op == "+" else a / b if op in "/÷" else a * b
    return f"({left}{gap}{op}{gap}{right})", value


@settings(max_examples=300, deadline=None)
@given(st.recursive(LEAVES, joined, max_leaves=8))
def test_arithmetic_is_exact(case: Rendered) -> None:
    typed, value = case
    assert read(typed, default_unit="1").value == value


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+*/"), st.integers(1, 40)), min_size=1, max_size=6))
def test_products_bind_closer_than_sums(steps: list[tuple[str, int]]) -> None:
    typed, terms = "3", [Fraction(3)]
    for op, number in steps:
        typed += f" {op} {number}"
        if op == "+":
            terms.append(Fraction(number))
        else:
            terms[-1] *= number if op == "*" else Fraction(1, number)
    assert read(typed, default_unit="1").value == sum(terms)


@pytest.mark.parametrize(
    ("typed", "symbols", "asks"),
    [
        ("68k MB", {"k": 8}, "memory, in bytes"),
        ("12k", {"k": 64}, "number of parameters"),
        ("12k", {"k": 64}, "a number"),
        ("ZeRO-3", {}, "memory, in bytes"),
        ("zero 3", {}, "number of GPUs"),
        ("60 - 50", {}, "memory, in bytes"),
        ("60GB-50GB", {}, "memory, in bytes"),
    ],
)
def test_what_may_mean_two_things_is_asked_back(typed, symbols, asks):
    assert isinstance(parse_quantity(typed, symbols=symbols, asks=asks), Unreadable)
