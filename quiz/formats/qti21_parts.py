"""Parts of a question as interactions of IMS QTI 2.1, with the rules that give the points.

A number earns what its interval does, a pick all or nothing. An order earns its share of the
pairs: the place of each item is looked up, then every pair is compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import combinations
from xml.etree.ElementTree import Element

from quiz.formats.bounds import bounds
from quiz.formats.elements import element
from quiz.formats.numbers import plain
from quiz.formats.parts import NumberPart, OrderPart, Part, PickPart, WordsPart
from quiz.formats.pieces import asks
from quiz.formats.qti21_rules import (
    Case,
    added,
    first_of,
    first_place,
    has_no_place,
    has_place,
    is_before,
    is_one,
    number,
    outcome,
    response,
    shown_outcome,
    where,
    within,
)
from quiz.formats.spans import Span

HALF = Fraction(1, 2)
LENGTH = "16"


@dataclass(frozen=True, kw_only=True)
class Names:
    """The names of a part's variables, and its points."""

    at: int
    points: Fraction

    @property
    def response(self) -> str:
        """What is answered."""
        return f"RESPONSE_{self.at}"

    @property
    def score(self) -> str:
        """What it earns."""
        return f"SCORE_{self.at}"

    @property
    def feedback(self) -> str:
        """What is shown of it."""
        return f"FEEDBACK_{self.at}"

    def place(self, key: str) -> str:
        """Where an item was put."""
        return f"PLACE_{self.at}_{key}"

    def says(self, number: int) -> str:
        """What is said in a case."""
        return f"SAYS_{self.at}_{number}"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A part as it is written.

    Args:
        response: declares what is answered.
        outcomes: declare what the rules set, besides the score.
        body: what is shown.
        rules: that set its score.
        says: texts of which the rules show one, each behind its identifier.
    """

    response: Element
    outcomes: tuple[Element, ...] = ()
    body: tuple[Element, ...]
    rules: tuple[Element, ...] = ()
    says: tuple[tuple[str, str], ...] = ()


@singledispatch
def asked(part: Part, names: Names) -> Asked:
    """Return a part as it is written.

    Raises:
        TypeError: for a type of part that has no interaction here.
    """
    message = f"{type(part).__name__} {names.response} has no interaction"
    raise TypeError(message)


@asked.register
def _(part: WordsPart, names: Names) -> Asked:
    rubric = element("rubricBlock", element("p", part.said), view="scorer")
    field = element("extendedTextInteraction", _prompt(part), responseIdentifier=names.response)
    return Asked(response=response(names.response, "string"), body=(field, rubric))


@asked.register
def _(part: NumberPart, names: Names) -> Asked:
    attributes = {"responseIdentifier": names.response, "expectedLength": LENGTH}
    field = element("textEntryInteraction", **attributes)
    spans = [part.right, *(span for span in part.spans if _can_be_typed(span))]
    says = {span.feedback: names.says(at) for at, span in enumerate(spans) if span.feedback}
    cases = [
        Case(
            test=within(names.response, *bounds(span.low, span.high)),
            score=span.share * names.points,
            shows=says.get(span.feedback, ""),
        )
        for span in spans
    ]
    return Asked(
        response=response(names.response, "float", plain(part.right.value)),
        body=(element("p", f"{asks(part)} ", field),),
        outcomes=(shown_outcome(names.feedback),) if says else (),
        rules=(first_of(cases, names.score, names.feedback),),
        says=tuple((name, text) for text, name in says.items()),
    )


@asked.register
def _(part: PickPart, names: Names) -> Asked:
    options = {f"PICK_{at}": option for at, option in enumerate(part.options, 1)}
    says = {key: names.says(at) for at, (key, one) in enumerate(options.items()) if one.feedback}
    cases = [
        Case(
            test=is_one(names.response, key),
            score=Fraction(int(option.is_right)) * names.points,
            shows=says.get(key, ""),
        )
        for key, option in options.items()
    ]
    choices = (element("simpleChoice", one.text, identifier=key) for key, one in options.items())
    attributes = {"responseIdentifier": names.response, "shuffle": "false", "maxChoices": "1"}
    right = next(key for key, option in options.items() if option.is_right)
    return Asked(
        response=response(names.response, "identifier", right),
        body=(element("choiceInteraction", _prompt(part), *choices, **attributes),),
        outcomes=(shown_outcome(names.feedback),) if says else (),
        rules=(first_of(cases, names.score, names.feedback),),
        says=tuple((name, options[key].feedback) for key, name in says.items()),
    )


@asked.register
def _(part: OrderPart, names: Names) -> Asked:
    keys = {item.key: f"ITEM_{item.key}" for item in part.items}
    choices = (
        element("simpleChoice", item.name, identifier=keys[item.key]) for item in part.items
    )
    attributes = {"responseIdentifier": names.response, "shuffle": "false"}
    if part.leaves_out:
        attributes |= {"minChoices": "1", "maxChoices": str(len(keys))}
    right = [keys[key] for group in part.order for key in group]
    return Asked(
        response=response(names.response, "identifier", *right, cardinality="ordered"),
        outcomes=tuple(outcome(names.place(key), kind="integer") for key in keys),
        body=(element("orderInteraction", _prompt(part), *choices, **attributes),),
        rules=(
            *(
                first_place(names.place(key), names.response, said, len(keys))
                for key, said in keys.items()
            ),
            *_pairs(part, names),
        ),
    )


def _pairs(part: OrderPart, names: Names) -> Iterator[Element]:
    """Yield the rules that count pairs: half of one where what is to be left out comes behind."""
    helpful = [
        (before, after)
        for group, later in combinations(part.order, 2)
        for before in group
        for after in later
    ]
    useless = [(key, idle) for group in part.order for key in group for idle in part.idle]
    share = names.points / len([*helpful, *useless])
    for before, after in helpful:
        yield _adds(is_before(names.place(before), names.place(after)), share, names)
    for key, idle in useless:
        alone = element("and", has_place(names.place(key)), has_no_place(names.place(idle)))
        yield _adds(alone, share, names)
        yield _adds(is_before(names.place(key), names.place(idle)), share * HALF, names)


def _adds(test: Element, points: Fraction, names: Names) -> Element:
    return where(test, names.score, added([names.score], number(points)))


def _prompt(part: Part) -> Element:
    return element("prompt", asks(part))


def _can_be_typed(span: Span) -> bool:
    """Return whether any number of 15 digits is in an interval."""
    low, high = bounds(span.low, span.high)
    return Fraction(low) <= Fraction(high)
