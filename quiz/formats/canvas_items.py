"""Questions as Canvas writes and reads them in QTI 1.2, one for each part of a problem.

The elements and their order are those of Canvas's own exporter, `lib/cc/qti/qti_items.rb`; what
its importer takes of them is in `gems/plugins/qti_exporter/lib/qti/` of its source.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import singledispatch
from xml.etree.ElementTree import Element

from quiz.formats.bounds import bounds
from quiz.formats.elements import element, html, listed, paragraph
from quiz.formats.numbers import plain
from quiz.formats.parts import NumberPart, OrderPart, Part, PickPart
from quiz.formats.pieces import Piece, asks, solution, stem
from quiz.formats.questions import Question

RESPONSE = "response1"
# Numbers, as Canvas's own are: its importer keeps those of answers and of matches.
FIRST_ANSWER, FIRST_MATCH = 1001, 2001
TRUTHS = {"true", "false"}
LEFT_OUT = "left out"
ALL = Fraction(100)
CENTS = Fraction(1, 100)


@dataclass(frozen=True, kw_only=True)
class _Body:
    """What of a question depends on its type.

    Args:
        type: the name that Canvas has for it.
        answers: the ids of its answers.
        response: what is answered in.
        right: the conditions that earn credit.
        said: what is said of an answer, by its id.
        wrong: what is said of a wrong answer.
    """

    type: str
    answers: tuple[int, ...] = ()
    response: tuple[Element, ...]
    right: tuple[Element, ...]
    said: Mapping[int, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()


def item(piece: Piece) -> Element:
    """Return the question of a part, with the text of the whole problem above it."""
    body = _body(piece.part, piece.question)
    ident = f"memquiz_{piece.mark}"
    text = [*stem(piece.question), paragraph(asks(piece.part))]
    metadata = fields(
        {
            "question_type": body.type,
            "points_possible": plain(piece.points),
            "original_answer_ids": ",".join(map(str, body.answers)),
            "assessment_question_identifierref": f"{ident}_question",
        }
    )
    return element(
        "item",
        element("itemmetadata", metadata),
        element("presentation", _material(html(text)), *body.response),
        element("resprocessing", _outcomes(), *_conditions(body)),
        _feedback("general_fb", html(solution(piece.question))),
        *([_feedback("general_incorrect_fb", html([listed(body.wrong)]))] if body.wrong else []),
        *(_feedback(f"{at}_fb", html([paragraph(says)])) for at, says in body.said.items()),
        ident=ident,
        title=piece.title,
    )


def fields(values: Mapping[str, str]) -> Element:
    """Return metadata by name."""
    return element(
        "qtimetadata",
        *(
            element("qtimetadatafield", element("fieldlabel", name), element("fieldentry", value))
            for name, value in values.items()
        ),
    )


@singledispatch
def _body(part: Part, question: Question) -> _Body:
    """Return the body of a part; what is answered in words is marked by a person."""
    del part, question
    label = element("response_label", ident="answer1", rshuffle="No")
    return _Body(
        type="essay_question",
        response=(_response_str(element("render_fib", label)),),
        right=(_condition(element("other")),),
    )


@_body.register
def _(part: NumberPart, question: Question) -> _Body:
    del question
    label = element("response_label", ident="answer1")
    low, high = bounds(part.right.low, part.right.high)
    within: tuple[Element, ...] = (
        element("vargte", low, respident=RESPONSE),
        element("varlte", high, respident=RESPONSE),
    )
    if low == high:
        exactly = element("varequal", low, respident=RESPONSE)
        within = (element("or", exactly, element("and", *within)),)
    said = dict.fromkeys(span.feedback for span in part.spans if span.feedback)
    return _Body(
        type="numerical_question",
        answers=(FIRST_ANSWER,),
        response=(_response_str(element("render_fib", label, fibtype="Decimal")),),
        right=(_condition(*within, score=_set(ALL)),),
        wrong=tuple(said),
    )


@_body.register
def _(part: PickPart, question: Question) -> _Body:
    del question
    is_truth = {option.text for option in part.options} == TRUTHS
    answers = dict(enumerate(part.options, FIRST_ANSWER))
    labels = {
        ident: option.text.capitalize() if is_truth else option.text
        for ident, option in answers.items()
    }
    right = next(ident for ident, option in answers.items() if option.is_right)
    test = element("varequal", str(right), respident=RESPONSE)
    return _Body(
        type="true_false_question" if is_truth else "multiple_choice_question",
        answers=tuple(answers),
        response=(_response_lid(RESPONSE, labels, rcardinality="Single"),),
        right=(_condition(test, score=_set(ALL)),),
        said={ident: one.feedback for ident, one in answers.items() if one.feedback},
    )


@_body.register
def _(part: OrderPart, question: Question) -> _Body:
    places = dict(enumerate(_places(part), FIRST_MATCH))
    texts = {ident: text for ident, (text, _) in places.items()}
    matches = {key: str(ident) for ident, (_, keys) in places.items() for key in keys}
    answers = dict(enumerate(part.items, FIRST_ANSWER))
    share = _set(round(ALL / len(answers) / CENTS) * CENTS, action="Add")
    return _Body(
        type="matching_question",
        answers=tuple(answers),
        response=tuple(
            _response_lid(f"response_{ident}", texts, one.name) for ident, one in answers.items()
        ),
        right=tuple(
            element(
                "respcondition",
                _tested(element("varequal", matches[one.key], respident=f"response_{ident}")),
                share,
            )
            for ident, one in answers.items()
        ),
        wrong=tuple(f"{one.answer}: {one.says}" for one in question.feedback),
    )


def _places(part: OrderPart) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the places of an order with the keys of what belongs there."""
    place = 1
    for group in part.order:
        yield " or ".join(str(place + at) for at in range(len(group))), group
        place += len(group)
    if part.leaves_out:
        yield LEFT_OUT, part.idle


def _conditions(body: _Body) -> Iterator[Element]:
    yield _condition(element("other"), shows="general_fb", continues="Yes")
    for ident in body.said:
        test = element("varequal", str(ident), respident=RESPONSE)
        yield _condition(test, shows=f"{ident}_fb", continues="Yes")
    yield from body.right
    if body.wrong:
        yield _condition(element("other"), shows="general_incorrect_fb", continues="Yes")


def _condition(
    *test: Element, score: Element | None = None, shows: str = "", continues: str = "No"
) -> Element:
    then = [] if score is None else [score]
    if shows:
        then.append(element("displayfeedback", feedbacktype="Response", linkrefid=shows))
    return element("respcondition", _tested(*test), *then, **{"continue": continues})


def _tested(*test: Element) -> Element:
    return element("conditionvar", *test)


def _set(score: Fraction, action: str = "Set") -> Element:
    return element("setvar", plain(score), action=action, varname="SCORE")


def _outcomes() -> Element:
    score = element("decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    return element("outcomes", score)


def _response_str(inside: Element) -> Element:
    return element("response_str", inside, ident=RESPONSE, rcardinality="Single")


def _response_lid(
    ident: str, labels: Mapping[int, str], above: str = "", **attributes: str
) -> Element:
    head = [_material(above, kind="text/plain")] if above else []
    rows = (
        element("response_label", _material(text, kind="text/plain"), ident=str(label))
        for label, text in labels.items()
    )
    return element(
        "response_lid", *head, element("render_choice", *rows), ident=ident, **attributes
    )


def _material(text: str, kind: str = "text/html") -> Element:
    return element("material", element("mattext", text, texttype=kind))


def _feedback(ident: str, text: str) -> Element:
    return element("itemfeedback", element("flow_mat", _material(text)), ident=ident)
