"""The amount that a tree stands for, once every word in it has been given one reading."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from quiz.answers.amounts import LARGE, Amount, alike, bounded, power, product, shared
from quiz.answers.quantity import RefusalError
from quiz.answers.tree import (
    Chain,
    Counted,
    Leaf,
    Marked,
    Measured,
    Node,
    Power,
    Range,
    Scaled,
    Sum,
    Term,
)
from quiz.answers.units_typed import BYTES_B

SHARE = "share"
# "a billion and a half" has no half of one in it.
FRACTIONS_BELOW = Fraction(10) ** 3
REVERSED = "the ends of the range were put in order"
SPLIT = "these two cannot be added; type one number with its unit"
BACKWARDS = "this may be a range or a difference; type the smaller end first, or work it out"
SIGNS = "give each end of this range its sign; type 1% to 3%"
UNCLEAR = "this may be a range or a difference; type 12 to 14 GB, or work it out"


class Evaluation:
    """Evaluates trees under one choice of readings. `remarks` says what was assumed on the way."""

    def __init__(self, chosen: Mapping[str, int]) -> None:
        self._chosen = chosen
        self.remarks: list[str] = []

    def amount(self, node: Node) -> Amount:
        """Return what `node` stands for.

        Raises:
            RefusalError: with an index into the normalised text: dimensions or ends do not fit.
        """
        match node:
            case Chain():
                return self._chain(node)
            case Sum():
                return self._sum(node)
            case Range():
                return self._range(node)
            case Power():
                return self._power(node)
            case _:
                return self._operand(node)

    def _operand(self, node: Leaf | Measured | Counted | Marked | Scaled) -> Amount:
        match node:
            case Leaf():
                return self._leaf(node)
            case Measured():
                return self._measured(node)
            case Counted():
                return self._counted(node)
            case Marked():
                return self._marked(node)
            case Scaled(start=at, number=number, plus=plus):
                return self._scaled(self.amount(number), plus, at)

    def _leaf(self, node: Leaf) -> Amount:
        option = node.options[self._chosen.get(node.key, 0)]
        return Amount(
            low=option.factor, high=option.factor, bytes=option.bytes, symbolic=option.symbolic
        )

    def _measured(self, node: Measured) -> Amount:
        number, unit = self.amount(node.number), self._leaf(node.unit)
        if unit.bytes and (number.bytes or (unit.low > 1 and _in_millions(node.number, number))):
            raise RefusalError(node.start, "two units stand here; type one")
        if number.symbolic and unit.bytes and unit.low > 1 and number.high >= LARGE:
            raise RefusalError(node.start, "a symbol stands for a plain number; type 16P bytes")
        if number.scale and node.unit.key and not unit.bytes:
            raise RefusalError(node.start, "two units stand here; type one")
        if number.things or number.mark == "percent":
            raise RefusalError(node.start, "a unit does not fit here; type a number before it")
        scale = unit.low * (number.scale or 1)
        measured = product(number, unit, node.start)
        return replace(measured, scale=None if unit.symbolic else scale)

    def _counted(self, node: Counted) -> Amount:
        number = self.amount(node.number)
        if node.power == 1 and number.bytes:
            if number.bytes == 1 and node.family in {"GPU", "node"}:
                return number
            raise RefusalError(node.start, "a size is no count of these; type one or the other")
        if number.mark not in {"", "quotient"} or (number.things and node.power == 1):
            raise RefusalError(node.start, "this cannot be counted so; type one number")
        one = Amount(low=Fraction(1), high=Fraction(1), things={node.family: node.power})
        return product(number, one, node.start)

    def _marked(self, node: Marked) -> Amount:
        number = self.amount(node.number)
        if node.mark == "multiple" and number.mark in {"percent", "same"}:
            raise RefusalError(node.start, "this is no multiple; type one such as 4x")
        if node.mark == "multiple" and (number.bytes or number.things):
            raise RefusalError(
                node.start, "a number is missing after this; type the whole product"
            )
        if node.mark == "percent":
            if not number.bare:
                raise RefusalError(node.start, "a percentage has no unit; type one such as 25%")
            number = replace(number, low=number.low / 100, high=number.high / 100)
        return replace(number, mark=node.mark)

    def _power(self, node: Power) -> Amount:
        exponent = self.amount(node.exponent)
        if node.inverse:
            exponent = replace(exponent, low=-exponent.low, high=-exponent.high)
        return power(self.amount(node.base), exponent, node.start)

    def _scaled(self, number: Amount, plus: Fraction, at: int) -> Amount:
        if not number.bare or number.high >= FRACTIONS_BELOW:
            raise RefusalError(at, "this fraction is not clear; type it as 1.5")
        return replace(number, low=number.low + plus, high=number.high + plus)

    def _chain(self, node: Chain) -> Amount:
        total = self.amount(node.first)
        for term in node.rest:
            factor = self.amount(term.node)
            repeated = term.op == "*" and factor.mark == "multiple"
            if repeated or "same" in {total.mark, factor.mark}:
                raise RefusalError(term.start, "this cannot be worked out; type one number")
            if term.op == "/":
                total = self._quotient(total, factor, term)
            else:
                total = product(total, factor, term.start)
        return total

    def _quotient(self, total: Amount, factor: Amount, term: Term) -> Amount:
        """Divide; in "640 / 8 GB" and "1/2 billion" the unit is that of the quotient."""
        if factor.mark == "percent":
            raise RefusalError(term.start, "this percentage is not clear; type it as 0.5%")
        unit = term.node.unit if isinstance(term.node, Measured) else None
        suffix = total.scale is None and not total.symbolic and total.high < LARGE
        fits = factor.bytes == 1 or (factor.bare and factor.scale is not None and suffix)
        if unit is None or not total.bare or not fits or _billions_over_b(total, unit):
            return product(total, factor, term.start, power=-1)
        one = self._leaf(unit)
        plain = product(factor, one, term.start, power=-1)
        quotient = product(product(total, plain, term.start, power=-1), one, term.start)
        return replace(quotient, scale=one.low)

    def _sum(self, node: Sum) -> Amount:
        terms = [self.amount(node.first), *(self.amount(t.node) for t in node.rest)]
        dash = node.rest[0].op in {"-", "—"}
        if len(terms) == 2 and dash:
            return self._dash(node, *terms)
        self._one_unit(terms, node.start)
        total = terms[0]
        for index, (term, further) in enumerate(zip(node.rest, terms[1:], strict=True)):
            if term.op == "+":
                total = self._added(total, further, term)
                continue
            left = (node.first, *(t.node for t in node.rest))[index]
            unclear = term.op == "—" or (_simple(left) and _simple(term.node)
                                         and _below(terms[index], further))  # fmt: skip
            if unclear:
                raise RefusalError(term.start, UNCLEAR)
            total = self._subtracted(total, further, term)
        return total

    def _one_unit(self, terms: list[Amount], at: int) -> None:
        bare = any(t.bare and not t.symbolic and t.high for t in terms)
        if bare and len({t.scale for t in terms if t.bytes}) > 1:
            raise RefusalError(at, "one number here has no unit; give each number its unit")

    def _added(self, total: Amount, further: Amount, term: Term) -> Amount:
        left, right = self._shared(total, further)
        if not alike(left, right):
            raise RefusalError(term.start, SPLIT)
        return _sum_of(left, right, left.low + right.low, left.high + right.high)

    def _subtracted(self, total: Amount, further: Amount, term: Term) -> Amount:
        left, right = self._shared(total, further)
        if not alike(left, right):
            raise RefusalError(term.start, SPLIT)
        result = _sum_of(left, right, left.low - right.high, left.high - right.low)
        if result.low < 0:
            raise RefusalError(term.start, "an answer is not negative; type a number of 0 or more")
        return result

    def _shared(self, left: Amount, right: Amount) -> tuple[Amount, Amount]:
        return shared(left, right, sharing=self._chosen[SHARE] == 0)

    def _dash(self, node: Sum, left: Amount, right: Amount) -> Amount:
        """Read "12-14" as a range and "80-16" as a difference."""
        term = node.rest[0]
        if right.mark == "percent" and left.bare and left.high <= 1:
            raise RefusalError(term.start, UNCLEAR)  # 1 - 20% may be 80%
        left = _percent(left, right, term.start)
        one_unit = shared(left, right, sharing=True)
        if not _below(*one_unit):
            if left.bare and left.scale is None and right.scale and not left.symbolic:
                raise RefusalError(term.start, UNCLEAR)
            if 2 * one_unit[1].low >= one_unit[0].low:
                raise RefusalError(term.start, BACKWARDS)
            self.remarks.append("read the dash as minus")
            return self._subtracted(left, right, term)
        if not (_simple(node.first) and _simple(term.node)):
            raise RefusalError(term.start, UNCLEAR)
        return self._ends(*one_unit, term.start)

    def _range(self, node: Range) -> Amount:
        left, right = self.amount(node.left), self.amount(node.right)
        if node.kind == "ends":
            left = _percent(left, right, node.start)
            one_unit = shared(left, right, sharing=True)
            if one_unit != (left, right) and _below(*one_unit[::-1]):
                raise RefusalError(node.start, "give each end of this range its unit")
            return self._ends(*one_unit, node.start)
        if right.mark == "percent" and left.mark != "percent":
            right = product(left, right, node.start)
        left, right = shared(left, right, sharing=True)
        if not alike(left, right) or left.low != left.high:
            raise RefusalError(node.start, "the spread does not fit the number; type 80 ± 5 GB")
        if right.high > left.low:
            raise RefusalError(node.start, "the spread is wider than the number; type 80 ± 5 GB")
        return _sum_of(left, right, left.low - right.high, left.high + right.high)

    def _ends(self, left: Amount, right: Amount, at: int) -> Amount:
        plain = right if left.symbolic else left
        if left.symbolic != right.symbolic and plain.bare and plain.high < LARGE:
            raise RefusalError(at, "give each end of this range its unit")
        if not alike(left, right) or left.low != left.high or right.low != right.high:
            raise RefusalError(at, "the ends of this range do not fit; type 12 to 14 GB")
        if left.low > right.low:
            self.remarks.append(REVERSED)
        low, high = sorted((left.low, right.low))
        return _sum_of(left, right, low, high)


def _sum_of(left: Amount, right: Amount, low: Fraction, high: Fraction) -> Amount:
    scale = left.scale if left.scale == right.scale else None
    symbolic = left.symbolic or right.symbolic
    things = left.things or right.things
    result = replace(left, low=low, high=high, things=things, scale=scale, symbolic=symbolic)
    return bounded(result, 0)


def _in_millions(node: Node, number: Amount) -> bool:
    """Whether a suffix such as M stands behind the number, so that no GB may follow."""
    suffixed = isinstance(node, Measured) and bool(node.unit.key)
    return suffixed and number.scale is not None and number.scale >= LARGE


def _billions_over_b(total: Amount, unit: Leaf) -> bool:
    """Whether each B of "14B/7B" is read in another way, billions over bytes."""
    return total.scale is not None and unit.options[0] is BYTES_B


def _percent(left: Amount, right: Amount, at: int) -> Amount:
    """Return `left` as a percentage where only the right of the two ends has the sign."""
    if right.mark != "percent" or not left.bare:
        return left
    if left.scale is not None or left.symbolic or left.high < right.low:
        raise RefusalError(at, SIGNS)
    return replace(left, low=left.low / 100, high=left.high / 100)


def _below(left: Amount, right: Amount) -> bool:
    return left.low < right.low


def _simple(node: Node) -> bool:
    """Whether the node is one number, with what may stand behind it."""
    match node:
        case Leaf() | Power() | Scaled():
            return True
        case Measured() | Counted() | Marked():
            return _simple(node.number)
        case Chain():
            return all(term.op == "juxtaposed" for term in node.rest)
        case Range() | Sum():
            return False
