"""The charts of a scorecard: the five marks, the ledger by phase, the minutes by part."""

from collections.abc import Iterator
from fractions import Fraction

from engine.estimate import capacity, ledger
from engine.ledger import Category, Ledger, Phase
from engine.units import decimal
from problems.answers.answer import Number
from quiz.interview.charts import Bar, Chart, Limit, Piece
from quiz.interview.scorecard import PartCard, Reply, Scorecard
from quiz.interview.scorecard_words import SECONDS, aspect_said, clock
from quiz.output.bars import LETTERS, scaled, used
from quiz.output.colours import COLOURS

BLUE, GREY = "#0072b2", "#999999"
# So fine that rounding a limit to it is not seen.
FINE = 10_000
# Of the question that asks for the peak of the run as it is at first.
PEAK = "peak"


def marks(card: Scorecard) -> Chart:
    """Return the five marks as bars."""
    rows = [(aspect, score) for aspect, score in card.aspects.items()]
    return Chart(
        name="marks",
        title="The five marks, each from 0 to 1",
        spoken=f"{'; '.join(f'{aspect} {aspect_said(card, aspect)}' for aspect, _ in rows)}.",
        bars=tuple(
            Bar(
                label=aspect,
                pieces=() if not score else (_piece(float(score), BLUE, "■"),),
                said=aspect_said(card, aspect),
                framed=True,
            )
            for aspect, score in rows
        ),
    )


def time(card: Scorecard) -> Chart:
    """Return the minutes that each part took beside those that it should take."""
    times = [max(part.seconds, SECONDS * part.part.minutes) for part in card.parts]
    longest = max([SECONDS, *times])
    return Chart(
        name="time",
        title="Minutes used, above minutes planned",
        spoken="; ".join(
            f"{part.part.title} {clock(part.seconds)} of {part.part.minutes}:00"
            for part in card.parts
        )
        + ".",
        bars=tuple(bar for part in card.parts for bar in _times(part, longest)),
        key=((BLUE, "u", "used"), (GREY, "p", "planned")),
    )


def _times(card: PartCard, longest: float) -> Iterator[Bar]:
    planned = SECONDS * card.part.minutes
    over = ", over" if card.seconds > planned else ""
    yield Bar(
        label=card.part.title,
        pieces=(_piece(card.seconds / longest, BLUE, "u"),),
        said=f"{clock(card.seconds)} used{over}",
    )
    yield Bar(
        label="",
        pieces=(_piece(planned / longest, GREY, "p"),),
        said=f"{clock(planned)} planned",
    )


def peak_said(card: Scorecard) -> tuple[Reply, int] | None:
    """Return the reply that gives the peak of the run, and its bytes; None where none does."""
    for part in card.parts:
        for reply in part.replies:
            if reply.question.key == PEAK and reply.verdict is not None:
                parsed = reply.verdict.parsed
                asked = None if reply.question.problem is None else _asked(reply)
                if isinstance(parsed, Fraction) and asked is not None and asked.unit == "bytes":
                    return reply, round(parsed)
    return None


def _asked(reply: Reply) -> Number | None:
    return None if reply.question.problem is None else reply.question.problem.answer.number


def phases(card: Scorecard) -> Chart:
    """Return the ledger of the run by phase, the card's end, and the candidate's peak."""
    scenario = card.interview.scenario
    book, room = ledger(scenario), capacity(scenario)
    own = peak_said(card)
    scale, limit = scaled(max(book.peak, own[1] if own else 0), room, FINE)
    bars = [_phase(book, phase, scale) for phase in book.phases]
    if own:
        bars.append(
            Bar(
                label="your peak",
                pieces=(_piece(own[1] / scale, GREY, "?"),),
                said=decimal(own[1]),
            )
        )
    return Chart(
        name="phases",
        title="The ledger of the run by phase, as allocated on one GPU",
        spoken=_spoken(book, room, own[1] if own else None),
        bars=tuple(bars),
        limit=None if limit is None else Limit(share=limit / FINE, text=f"card {decimal(room)}"),
        key=tuple((COLOURS[one], LETTERS[one], _name(one)) for one in used(book)),
    )


def _spoken(book: Ledger, room: int, own: int | None) -> str:
    said = f"The peak is {decimal(book.peak)}, in {book.peak_phase}; the card has {decimal(room)}."
    return said if own is None else f"{said} The candidate's peak is {decimal(own)}."


def _phase(book: Ledger, phase: Phase, scale: int) -> Bar:
    size = book.phases[phase]
    top = " (peak)" if phase is book.peak_phase else ""
    return Bar(
        label=f"{phase}{top}",
        pieces=tuple(
            _piece(book.total(one, phase=phase) / scale, COLOURS[one], LETTERS[one])
            for one in LETTERS
            if book.total(one, phase=phase)
        ),
        said=decimal(size),
    )


def _name(category: Category) -> str:
    return str(category).replace("_", " ")


def _piece(share: float, colour: str, letter: str) -> Piece:
    return Piece(share=share, colour=colour, letter=letter)
