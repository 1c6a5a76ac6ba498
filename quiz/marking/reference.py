"""The right answer as it is said."""

from fractions import Fraction
from typing import Literal, assert_never

from engine.units import KB, both
from problems.choice import ChoiceAnswer
from problems.problem import (
    Answer,
    ClaimAnswer,
    CountAnswer,
    FactorAnswer,
    QuantityAnswer,
    YesNoAnswer,
)
from problems.ranking import Order, RankingAnswer


def reference(answer: Answer) -> str:
    """Return the right answer: "25.27 GB = 23.53 GiB", "8 GPUs", "no, 93.1 GB = 86.71 GiB"."""
    match answer:
        case QuantityAnswer(value=value, unit=unit):
            return amount(value, unit)
        case CountAnswer(value=count, noun=noun, before=before):
            return f"{before}{count:,} {counted(count, noun)}".rstrip()
        case FactorAnswer(value=value):
            return f"{amount(value, '1')} times"
        case YesNoAnswer(value=yes, proof=proof):
            return f"{'yes' if yes else 'no'}, {amount(proof.value, proof.unit)}"
        case RankingAnswer() | ChoiceAnswer() | ClaimAnswer():
            return _in_words(answer)
        case _:
            assert_never(answer)


def _in_words(answer: RankingAnswer | ChoiceAnswer | ClaimAnswer) -> str:
    if isinstance(answer, RankingAnswer):
        return in_order(answer.order, answer)
    if isinstance(answer, ChoiceAnswer):
        return answer.right.item.name
    return f"{'true' if answer.truth else 'false'}. {answer.core.removesuffix('.')}"


def in_order(order: Order, answer: RankingAnswer) -> str:
    """Return an order of the items of `answer` by name: "fused attention > ZeRO-1 = ZeRO-2"."""
    return " > ".join(" = ".join(answer.item(key).name for key in group) for group in order)


def amount(value: Fraction, unit: Literal["bytes", "s", "1"]) -> str:
    """Return a number with its unit, plain numbers and few bytes to four digits."""
    if unit == "bytes" and abs(value) >= KB:
        return both(round(value))
    plain = f"{int(value):,}" if value.denominator == 1 else rounded(value, 4)
    return plain if unit == "1" else f"{plain} {unit}"


def rounded(value: Fraction | float, digits: int) -> str:
    """Return a number of at least 0.001 to so many digits, its thousands set apart: 250,000."""
    short = f"{float(value):.{digits}g}"
    return f"{round(float(short)):,}" if abs(float(short)) >= 10**digits else short


def counted(number: int | Fraction, noun: str) -> str:
    """Return the plural `noun` as it stands behind `number`."""
    return noun.removesuffix("s") if number == 1 else noun
