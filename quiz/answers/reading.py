"""Chooses, among all readings of an answer, the likeliest that fits the question.

Every word or numeral that can be read in two ways is a key with options. The options are tried in
order of likelihood; the first that fits in dimension and size is taken, and what each other one
would have given is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from math import gcd, prod

from engine.units import KB, MIB, TIB
from quiz.answers.amounts import Amount
from quiz.answers.echo import short
from quiz.answers.evaluate import REVERSED, SHARE, Evaluation
from quiz.answers.quantity import Quantity, RefusalError
from quiz.answers.question import Question
from quiz.answers.tree import Answer, Chain, Counted, Leaf, Marked, Measured, Node, Range, Term
from quiz.answers.units_typed import BILLION_B, Option, choice

# A bare number that would exceed this under the default unit was meant in bytes.
IMPLAUSIBLE = Fraction(10) ** 15
LARGEST = Fraction(10) ** 30
LARGEST_SIZE = Fraction(TIB * MIB)
SMALLEST_SIZE = Fraction(1, KB)
# From here on a bare number may have been meant in bytes whatever the default unit.
LARGE = Fraction(10) ** 5
MANY_BYTES = Fraction(10) ** 6
# 16 GB and 14.9 GiB agree within this.
ROUNDING = Fraction(1, 100)

BARE = "bare"
SYMBOLIC = "symbolic"
# What is chosen there, in words: no number is read from them.
ONE_UNIT, UNIT_ASKED, PLAIN_BYTES, NO_UNIT = (
    choice(1, 0, said)
    for said in (
        "the same unit throughout",
        "the unit of the question",
        "plain bytes",
        "a number without unit",
    )
)
PARAMETERS = {"parameter", "element"}
EITHER = "this may be a division or two answers; type one number"
PER_PARAMETER = "this is per parameter; multiply it by the number of parameters"
# Numbers and units in one answer, choices of readings tried, and leaves evaluated in all choices.
LEAVES = 40
MOST = 64
WORK = 400
# "16/20 GB" may be two answers; below this a slash makes a fraction or divides.
TEN = 10

Choice = Mapping[str, int]


@dataclass(frozen=True)
class Reading:
    """What one choice of readings gives: ends in bytes or plain, and what was assumed."""

    low: Fraction
    high: Fraction
    remarks: tuple[str, ...]

    @property
    def value(self) -> Fraction:
        """The midpoint."""
        return (self.low + self.high) / 2


def read(answer: Answer, question: Question) -> Quantity:
    """Return the likeliest reading of `answer`.

    Raises:
        RefusalError: with an index into the normalised text: no reading fits the question.
    """
    options = _options(answer, question)
    chosen, taken = _likeliest(answer, question, options)
    others: dict[str, Fraction] = {}
    chosen_bytes = any(
        chosen[key] and known[0] is BILLION_B and not known[chosen[key]].symbolic
        for key, known in options.items()
    )
    assumed = ("read B as bytes",) if chosen_bytes else ()
    for key, known in options.items():
        for index, option in enumerate(known):
            skips = option.last or index == chosen[key]
            other = None if skips else _fitting(answer, question, {**chosen, key: index})
            if other and other.value != taken.value and _worth(other, taken, option):
                said = f"read as {known[chosen[key]].said}; {option.said} would be"
                others[f"{said} {short(other.value, question.wanted)}"] = other.value
    return Quantity(
        value=taken.value,
        low=taken.low,
        high=taken.high,
        approximate=answer.approximate,
        remarks=tuple(dict.fromkeys((*others, *assumed, *taken.remarks, *answer.remarks))),
        alternatives=tuple(dict.fromkeys(others.values())),
        unit="bytes" if question.wanted == "bytes" else "1",
    )


def _worth(other: Reading, taken: Reading, option: Option) -> bool:
    """Say whether another reading is worth a word: no absurd one, but for a mark of thousands."""
    return other.value <= max(IMPLAUSIBLE, taken.value) or option.said.startswith("a thousands")


def _likeliest(
    answer: Answer, question: Question, options: Mapping[str, tuple[Option, ...]]
) -> tuple[Choice, Reading]:
    first: tuple[Choice, Reading] | None = None
    refused: RefusalError | None = None
    for chosen in _choices(options, answer):
        try:
            reading = _reading(answer, question, chosen)
        except RefusalError as error:
            refused = refused or error
            continue
        if reading.value <= IMPLAUSIBLE or question.wanted != "bytes":
            return chosen, reading
        first = first or (chosen, reading)
    if first:
        return first
    if refused is None:
        message = "there is always one choice"
        raise AssertionError(message)
    raise refused


def _choices(options: Mapping[str, tuple[Option, ...]], answer: Answer) -> Iterator[Choice]:
    """Yield choices of readings, those with last resorts after all others."""
    size = sum(1 for member in answer.members for _ in _leaves(member))
    if size > LEAVES:
        raise RefusalError(answer.members[0].start, "this is too long a sum; type its result")
    most = min(MOST, WORK // size)
    likely = [[i for i, o in enumerate(known) if not o.last] for known in options.values()]
    every = [list(range(len(known))) for known in options.values()]
    if prod(map(len, likely)) > most:
        start = answer.members[0].start
        raise RefusalError(start, "too many words here have two meanings; type one number")
    wider = [every] if prod(map(len, every)) <= most else []
    for lists in (likely, *wider):
        for indices in sorted(product(*lists), key=sum):
            yield dict(zip(options, indices, strict=True))


def _fitting(answer: Answer, question: Question, chosen: Choice) -> Reading | None:
    try:
        return _reading(answer, question, chosen)
    except RefusalError:
        return None


def _options(answer: Answer, question: Question) -> dict[str, tuple[Option, ...]]:
    """Return the keys of the tree, and the two that are in no leaf: shared and default unit."""
    found: dict[str, tuple[Option, ...]] = {}
    symbolic = False
    for member in answer.members:
        for leaf in _leaves(member):
            symbolic = symbolic or any(option.symbolic for option in leaf.options)
            if len(leaf.options) > 1:
                found.setdefault(leaf.key, leaf.options)
    found[SHARE] = (ONE_UNIT, PLAIN_BYTES if question.wanted == "bytes" else NO_UNIT)
    if question.default:
        inunit = (UNIT_ASKED, PLAIN_BYTES)
        found |= {BARE: inunit, SYMBOLIC: inunit} if symbolic else {BARE: inunit}
    return found


def _leaves(node: Node | Term) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
        return
    for place in fields(node):
        inner = getattr(node, place.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if isinstance(part, Term | Node):
                yield from _leaves(part)


def _reading(answer: Answer, question: Question, chosen: Choice) -> Reading:
    members = [_member(node, question, chosen) for node in answer.members]
    first = members[0]
    for (reading, _), node in zip(members[1:], answer.members[1:], strict=True):
        largest = max(abs(reading.value), abs(first[0].value))
        if abs(reading.value - first[0].value) > ROUNDING * largest:
            raise RefusalError(node.start, "the two sides differ; type one number")
    explicit = [reading for reading, has_unit in members if has_unit]
    taken = explicit[0] if explicit else first[0]
    if len({reading.value for reading, _ in members}) > 1:
        return Reading(
            taken.low, taken.high, (*taken.remarks, "restated, and the first was taken")
        )
    return taken


def _member(node: Node, question: Question, chosen: Choice) -> tuple[Reading, bool]:
    evaluation = Evaluation(chosen)
    _clear(node, question)
    amount = evaluation.amount(node)
    per_one = isinstance(node, Counted) and node.power == -1 and node.family in PARAMETERS
    if per_one and question.wanted == "bytes" and not _asks_per_one(question):
        raise RefusalError(node.start, PER_PARAMETER)
    if question.wanted in {"ratio", "number", "seconds"} and REVERSED in evaluation.remarks:
        raise RefusalError(node.start, "which way is not clear; type one number such as 4x or 1/4")
    if question.wanted == "bytes":
        factor, remarks = _inbytes(amount, question, chosen, node.start)
    else:
        factor, remarks = Fraction(1), _plain(amount, question, node.start)
    low, high = amount.low * factor, amount.high * factor
    if high > (LARGEST_SIZE if question.wanted == "bytes" else LARGEST):
        raise RefusalError(node.start, "this is too large; type a size that a GPU could have")
    if question.wanted == "count" and 0 < high < 1:
        raise RefusalError(node.start, "this is less than one; type a whole number")
    if question.wanted == "bytes" and 0 < high < SMALLEST_SIZE:
        raise RefusalError(node.start, "this is less than a bit; type a size such as 16 GB")
    remarks = (*evaluation.remarks, *remarks, *_striking(node, high, question))
    return Reading(low, high, remarks), bool(amount.bytes)


def _striking(node: Node, high: Fraction, question: Question) -> tuple[str, ...]:
    if question.wanted == "bytes" and high > IMPLAUSIBLE:
        return ("this is more than a petabyte",)
    plain = isinstance(node, Range) and isinstance(node.left, Leaf)
    return (
        ("read as a range",) if plain and question.wanted in {"ratio", "number", "seconds"} else ()
    )


def _clear(node: Node, question: Question) -> None:
    """Refuse what has a second meaning by its form."""
    if question.wanted != "ratio" and _either(node, question):
        raise RefusalError(node.start, EITHER)
    if question.wanted in {"ratio", "number", "seconds"} and _half_percent(node):
        raise RefusalError(node.start, "give both their sign; type 1.8% ± 0.5%")


def _either(node: Node, question: Question) -> bool:
    """Say whether "16/20 GB" stands here: a quotient by form, two answers by its numbers."""
    if not isinstance(node, Chain) or {term.op for term in node.rest} != {"/"}:
        return False
    left, right = _typed(node.first), _typed(node.rest[0].node)
    counted = question.wanted in {"number", "seconds"} and node.rest[0].node == right
    if left is None or right is None or counted:
        return False
    a, b = left.options[0].factor, right.options[0].factor
    if left is not node.first or a.denominator != 1 or b.denominator != 1:
        return a < b < 2 * a
    unit = node.rest[0].node
    if question.wanted not in {"bytes", "ratio"} and isinstance(unit, Measured) and unit.unit.key:
        return a > 1
    reducible = a < b and gcd(a.numerator, b.numerator) > 1
    alike = min(a, b) >= TEN and max(a, b) <= 3 * min(a, b)
    return reducible or (len(node.rest) > 1 and a < b) or (alike and question.default != 1)


def _half_percent(node: Node) -> bool:
    """Say whether "25 ± 5%" stands here."""
    if not isinstance(node, Range) or node.kind != "spread":
        return False
    return isinstance(node.left, Leaf) and isinstance(node.right, Marked)


def _typed(node: Node) -> Leaf | None:
    """Return the numeral of a node that is one numeral with what stands behind it."""
    if isinstance(node, Measured | Counted):
        return _typed(node.number)
    return node if isinstance(node, Leaf) and not any(o.symbolic for o in node.options) else None


def _inbytes(
    amount: Amount, question: Question, chosen: Choice, at: int
) -> tuple[Fraction, tuple[str, ...]]:
    if amount.mark:
        raise RefusalError(at, "this is a share or a multiple; type a size such as 16 GB")
    if amount.bytes not in {0, 1}:
        raise RefusalError(at, "this is no size in bytes; type one such as 16 GB")
    remarks = _per(amount, question, at)
    if amount.bytes:
        return Fraction(1), remarks
    if any(n > 0 for n in amount.things.values()):
        raise RefusalError(at, "this counts things; type a size in bytes such as 16 GB")
    factor = _bare(amount, question, chosen, at)
    if factor == 1 and question.default != 1:
        remarks = (*remarks, "read as plain bytes")
    return factor, remarks


def _bare(amount: Amount, question: Question, chosen: Choice, at: int) -> Fraction:
    """Return the bytes of one where no unit was typed."""
    if question.default is None:
        raise RefusalError(at, "the unit is missing; type it behind the number, such as 16 GB")
    symbols_in_bytes = amount.symbolic and amount.high >= MANY_BYTES
    key = SYMBOLIC if amount.symbolic else BARE
    inbytes = (chosen.get(key, 0) == 1) != symbols_in_bytes
    if inbytes and not amount.symbolic and amount.high < LARGE:
        raise RefusalError(at, "the unit is missing; type it behind the number, such as 16 GB")
    return Fraction(1) if inbytes else question.default


def _per(amount: Amount, question: Question, at: int) -> tuple[str, ...]:
    """Return remarks on "per GPU" and the like; a number per parameter must be asked for."""
    remarks = []
    if {amount.things.get("GPU"), amount.things.get("node")} == {1, -1}:
        raise RefusalError(at, "this mixes GPUs and nodes; type GPUs per node too, or one number")
    for family, n in amount.things.items():
        if n < -1 or n > 1:
            raise RefusalError(at, "this is no size in bytes; type one such as 16 GB")
        if family in PARAMETERS:
            unmultiplied = n == -1 and amount.high < MANY_BYTES
            if unmultiplied and not _asks_per_one(question):
                raise RefusalError(at, PER_PARAMETER)
        elif n == -1:
            remarks.append(f"read as the size per {family}")
    return tuple(remarks)


def _asks_per_one(question: Question) -> bool:
    return question.per_parameter or question.default == 1


def _plain(amount: Amount, question: Question, at: int) -> tuple[str, ...]:
    if question.wanted == "seconds" and (amount.bytes or amount.mark not in {"", "quotient"}):
        raise RefusalError(at, "a time is asked; type one such as 0.4 s")
    if amount.bytes:
        raise RefusalError(at, "a plain number is asked, not a size; type it without unit")
    if any(n != 1 for n in amount.things.values()) or len(amount.things) > 1:
        raise RefusalError(at, "a plain number is asked; type it without per")
    families = set(amount.things)
    if question.wanted == "ratio" and families:
        raise RefusalError(at, "a ratio is asked, not a count; type one such as 4x")
    if question.family and families - {question.family}:
        raise RefusalError(at, f"a number of {question.family}s is asked; type that")
    if question.wanted == "count" and amount.mark not in {"", "quotient"}:
        raise RefusalError(at, "a number is asked, not a share or a multiple; type the number")
    said = families - {question.family}
    return tuple(f"read as a number of {family}s" for family in sorted(said))
