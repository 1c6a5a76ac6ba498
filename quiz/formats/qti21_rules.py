"""Response processing of IMS QTI 2.1: conditions on what was answered, and what follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.etree.ElementTree import Element

from quiz.formats.elements import element
from quiz.formats.numbers import plain

SCORE, MAXIMUM, FEEDBACK = "SCORE", "MAXSCORE", "FEEDBACK"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What follows where a test holds: a score, and what is shown.

    Args:
        test: an expression of truth.
        score: in points.
        shows: the identifier of what is said; "" where nothing is.
    """

    test: Element
    score: Fraction
    shows: str = ""


def response(name: str, kind: str, *right: str, cardinality: str = "single") -> Element:
    """Declare what is answered, with the right answer where there is one."""
    values = [element("value", one) for one in right]
    correct = [element("correctResponse", *values)] if values else []
    attributes = {"identifier": name, "cardinality": cardinality, "baseType": kind}
    return element("responseDeclaration", *correct, **attributes)


def outcome(name: str, value: Fraction | int = 0, kind: str = "float") -> Element:
    """Declare a number that comes of the answers."""
    default = element("defaultValue", element("value", plain(Fraction(value))))
    attributes = {"identifier": name, "cardinality": "single", "baseType": kind}
    return element("outcomeDeclaration", default, **attributes)


def shown_outcome(name: str) -> Element:
    """Declare what is shown, one text of those that name it; nothing at first."""
    attributes = {"identifier": name, "cardinality": "single", "baseType": "identifier"}
    return element("outcomeDeclaration", **attributes)


def first_of(cases: Sequence[Case], score: str, feedback: str) -> Element:
    """Return what the first case that holds gives: its score and what it shows."""
    return _chosen([(case.test, _follows(case, score, feedback)) for case in cases])


def where(test: Element, name: str, value: Element) -> Element:
    """Return the rule that sets a number where a test holds."""
    return _chosen([(test, [assigned(name, value)])])


def first_place(name: str, response_name: str, key: str, places: int) -> Element:
    """Return the rule that sets `name` to the place of a key in an order that was answered."""
    return _chosen(
        [
            (
                element("match", _nth(response_name, at), base("identifier", key)),
                [assigned(name, base("integer", str(at)))],
            )
            for at in range(1, places + 1)
        ]
    )


def assigned(name: str, value: Element) -> Element:
    """Return the rule that sets an outcome."""
    return element("setOutcomeValue", value, identifier=name)


def shown(feedback: str, name: str) -> Element:
    """Return the rule that shows a text."""
    return assigned(feedback, base("identifier", name))


def added(names: Sequence[str], *more: Element) -> Element:
    """Return the sum of outcomes and values."""
    return element("sum", *map(variable, names), *more)


def within(name: str, low: str, high: str) -> Element:
    """Return the test whether a number is in an interval, its ends with it."""
    least = element("gte", variable(name), base("float", low))
    most = element("lte", variable(name), base("float", high))
    return element("and", least, most)


def is_one(name: str, key: str) -> Element:
    """Return the test whether this one was picked."""
    return element("match", variable(name), base("identifier", key))


def is_before(first: str, then: str) -> Element:
    """Return the test whether one has a place before that of another; 0 is no place."""
    return element("and", has_place(first), element("lt", variable(first), variable(then)))


def has_place(name: str) -> Element:
    """Return the test whether a place is one, and not 0."""
    return element("gt", variable(name), base("integer", "0"))


def has_no_place(name: str) -> Element:
    """Return the test whether a place is 0."""
    return element("match", variable(name), base("integer", "0"))


def number(value: Fraction) -> Element:
    """Return a constant number."""
    return base("float", plain(value))


def variable(name: str) -> Element:
    """Return the value of a variable."""
    return element("variable", identifier=name)


def base(kind: str, text: str) -> Element:
    """Return a constant."""
    return element("baseValue", text, baseType=kind)


def _nth(name: str, at: int) -> Element:
    return element("index", variable(name), n=str(at))


def _follows(case: Case, score: str, feedback: str) -> list[Element]:
    rules = [assigned(score, number(case.score))]
    return [*rules, shown(feedback, case.shows)] if case.shows else rules


def _chosen(branches: Sequence[tuple[Element, Sequence[Element]]]) -> Element:
    (test, rules), *others = branches
    return element(
        "responseCondition",
        element("responseIf", test, *rules),
        *(element("responseElseIf", other, *then) for other, then in others),
    )
