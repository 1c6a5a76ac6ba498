"""Marks a formula: right where it gives the right numbers, else told from the numbers it gives."""

from collections.abc import Iterator
from fractions import Fraction

from problems.answers.symbolic import Letter, SymbolicAnswer, WrongFormula
from problems.mistakes import mistakes
from problems.problem import Problem
from problems.wording import listed
from quiz.answers import TypedFormula, Unreadable, read_formula
from quiz.marking.letters_typed import values_for_letters
from quiz.marking.marker import Marker, Request
from quiz.marking.ratios import Ratio, depends, points, ratio_of, values_of
from quiz.marking.verdict import Verdict, mark_of, opening

# A larger number, or one over it, says nothing as a factor.
LARGEST_FACTOR = 10**4
LAYERS = "layers"
# What a formula is that is so many times the right one.
CONSTANT = "off by a constant factor"
ONE_LAYER = "one layer for all"
LACKING, NEEDLESS = "a letter left out", "a letter too many"


def _mark(problem: Problem, answer: SymbolicAnswer, text: str) -> Verdict | Unreadable:
    typed = read_formula(text, answer.letters)
    if isinstance(typed, Unreadable):
        return typed
    try:
        values = tuple(typed.at(point) for point in points(answer.letters))
    except ZeroDivisionError:
        return Unreadable(offset=0, reason="this divides by nothing; type a formula that does not")
    except OverflowError:
        return Unreadable(offset=0, reason="its powers are too high; type one such as 2*s^2")
    mistake, says = _judged(typed, values, answer)
    if mistake is not None and not _named(values, answer):
        refused = values_for_letters(typed, answer, problem.prompt)
        if refused is not None:
            return refused
    return _verdict(problem, typed, text, mistake, says)


def _judged(
    typed: TypedFormula, values: tuple[Fraction, ...], answer: SymbolicAnswer
) -> tuple[str | None, tuple[str, ...]]:
    """Return the mistake, None where there is none and "" where it has no name, and its words."""
    if values == values_of(answer.formula, answer.letters):
        return None, ()
    if named := _named(values, answer):
        return named.name, (named.feedback,)
    ratio = ratio_of(typed, answer)
    if ratio is not None and ratio.number > 0:
        return _of_ratio(ratio, answer)
    return "", tuple(_of_letters(typed, answer))


def _named(values: tuple[Fraction, ...], answer: SymbolicAnswer) -> WrongFormula | None:
    """Return the mistake whose formula gives these values."""
    known = ((one, values_of(one.formula, answer.letters)) for one in answer.mistakes)
    return next((one for one, wrong in known if values == wrong), None)


def _of_ratio(ratio: Ratio, answer: SymbolicAnswer) -> tuple[str, tuple[str, ...]]:
    """Return the mistake, and what is said of it, that gives so many times the right formula."""
    says = [_of_factor(one, power, answer) for one, power in ratio.powers]
    if ratio.number != 1:
        says.append(f"is off by the constant factor {_factor(ratio.number)}")
    text = (f"Yours {listed(says)}.",)
    if not ratio.powers:
        return CONSTANT, text
    if len(says) > 1:
        return "", text
    one, power = ratio.powers[0]
    if one.says == LAYERS and power == -1:
        return ONE_LAYER, (f"Yours is right but per layer: {one.name} is missing.",)
    lacks = one in _used(answer) and _is_divisor(one, answer) == (power > 0)
    return LACKING if lacks else NEEDLESS, text


def _of_factor(one: Letter, power: int, answer: SymbolicAnswer) -> str:
    said = one.name if abs(power) == 1 else f"{one.name}^{abs(power)}"
    below, above = _is_divisor(one, answer), power > 0
    if one not in _used(answer):
        text = f"{'has the factor' if above else 'is divided by'} {said} and should not"
    elif above:
        text = f"is not divided by {said}" if below else f"has the factor {said} too many"
    else:
        text = f"is divided by {said} too often" if below else f"lacks the factor {said}"
    return f"{text} ({one.says})"


def _is_divisor(one: Letter, answer: SymbolicAnswer) -> bool:
    """Return whether the right formula has a letter below a bar and nowhere above one."""
    powers = [dict(term).get(one.name, 0) for term, _ in answer.formula.terms]
    return min(powers) < 0 and max(powers) <= 0


def _used(answer: SymbolicAnswer) -> tuple[Letter, ...]:
    return tuple(one for one in answer.letters if one.name in answer.formula.letters)


def _of_letters(typed: TypedFormula, answer: SymbolicAnswer) -> Iterator[str]:
    missing, needless = depends(typed, answer)
    if missing:
        names = listed([f"{one.name} ({one.says})" for one in missing])
        yield f"Yours does not depend on {names} as it should."
    if needless:
        names = listed([f"{one.name} ({one.says})" for one in needless])
        yield f"Yours depends on {names}; the right one does not."
    if not missing and not needless:
        yield f"Yours depends on the same letters in another way{_compared(typed, answer)}."


def _compared(typed: TypedFormula, answer: SymbolicAnswer) -> str:
    """Return where the two differ most plainly: with all letters at 2."""
    at = {one.name: Fraction(2) for one in answer.letters}
    try:
        yours, right = typed.at(at), answer.formula.at(at)
    except ArithmeticError:
        return ""
    return f": with 2 for every letter it gives {float(yours):g}, the right one {float(right):g}"


def _factor(number: Fraction) -> str:
    if max(number, 1 / number) > LARGEST_FACTOR:
        return f"{float(number):.3g}"
    return str(number)


def _verdict(
    problem: Problem, typed: TypedFormula, text: str, mistake: str | None, says: tuple[str, ...]
) -> Verdict:
    """Return the verdict; `mistake` is None where the formula is right, "" where none is named."""
    known = mistakes().get(mistake) if mistake else None
    score = Fraction(1) if mistake is None else known.share if known else Fraction(0)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=typed.said,
        score=score,
        verdict=mark_of(score),
        mistake=mistake or None,
        feedback=" ".join([f"{opening(score)}{problem.answer.said}.", *says]),
        reading=typed.said,
        remarks=typed.remarks,
    )


def _request(answer: SymbolicAnswer) -> Request:
    return Request(items=(), wants=f"Type a formula for the {answer.unit} in these letters.")


def _forms(answer: SymbolicAnswer) -> tuple[str, ...]:
    first, second = (one.name for one in answer.letters[:2])
    return (f"2*{first}*{second}", f"{first}/{second}", f"{first}^2 + 4({first} + {second})")


def _names(_: Problem, answer: SymbolicAnswer) -> Iterator[str]:
    yield from (one.name for one in answer.mistakes)
    yield from (CONSTANT, LACKING, NEEDLESS)
    if any(one.says == LAYERS for one in _used(answer)):
        yield ONE_LAYER


MARKER = Marker(of=SymbolicAnswer, mark=_mark, request=_request, forms=_forms, names=_names)
