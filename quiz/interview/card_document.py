"""A scorecard as a document: what carried, what lost, and what to say next time."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from problems.answers.answer import Number
from problems.answers.numbers import rounded
from problems.interview.script import Aspect
from quiz.interview import card_charts
from quiz.interview.answers_told import short
from quiz.interview.document import (
    Block,
    Commands,
    Document,
    Figure,
    Grid,
    Points,
    Say,
    Section,
    Typed,
)
from quiz.interview.questions_said import heading, name_of
from quiz.interview.scorecard import PartCard, Reply, Scorecard
from quiz.interview.scorecard_words import BY_HAND, aspect_said, clock, mark_said, score_said
from quiz.output.scenario_words import described, headline

# From here on an aspect carried the interview, and below the other it lost.
CARRIED, LOST = Fraction(3, 4), Fraction(1, 2)
MODES = {"alone": "alone", "two": "with an interviewer"}


def document(card: Scorecard) -> Document:
    """Return what a scorecard says, page by page the same whatever it is written as."""
    interview = card.interview
    return Document(
        title=f"Scorecard: mock interview, {interview.level}, {interview.minutes} minutes",
        about=(
            ("interview", f"{interview.id}, seed {interview.seed}, {MODES[card.mode]}"),
            ("began", f"{card.started:%Y-%m-%d %H:%M} UTC"),
            ("state", "gone through to its end" if card.finished else "stopped before its end"),
            ("time", f"{clock(_seconds(card))} of {interview.minutes}:00"),
            ("run", f"{headline(interview.scenario)}\n{described(interview.scenario)}"),
        ),
        command=again(card),
        sections=tuple(_sections(card)),
        foot="A mark is from 0 to 1. GB is 10^9 bytes, GiB is 2^30 bytes.",
    )


def again(card: Scorecard) -> str:
    """Return the command that gives the same interview."""
    of = card.interview
    return f"memquiz interview --level {of.level} --minutes {of.minutes} --seed {of.seed}"


def verdict(card: Scorecard) -> str:
    """Return which aspects carried and which lost, in a sentence or two."""
    reached = {aspect: score for aspect, score in card.aspects.items() if score is not None}
    if not reached:
        return "Nothing was marked."
    carried = [_with(one, score) for one, score in reached.items() if score >= CARRIED]
    lost = [_with(one, score) for one, score in reached.items() if score < LOST]
    between = [_with(one, score) for one, score in reached.items() if LOST <= score < CARRIED]
    missing = [aspect for aspect in card.aspects if aspect not in reached]
    reasons = {aspect: aspect_said(card, aspect) for aspect in missing}
    says = [
        f"Carried: {', '.join(carried)}." if carried else "No aspect reached 0.75.",
        f"Lost: {', '.join(lost)}." if lost else "No aspect fell below 0.50.",
        f"In between: {', '.join(between)}." if between else "",
        *(
            f"{why.capitalize()}: {', '.join(one for one in missing if reasons[one] == why)}."
            for why in dict.fromkeys(reasons.values())
        ),
    ]
    return " ".join(one for one in says if one)


def _with(aspect: Aspect, score: Fraction) -> str:
    return f"{aspect} {score_said(score)}"


def _seconds(card: Scorecard) -> float:
    return sum(part.seconds for part in card.parts)


def replies(card: Scorecard) -> tuple[Reply, ...]:
    """Return the replies of all parts, in order."""
    return tuple(reply for part in card.parts for reply in part.replies)


def _sections(card: Scorecard) -> Iterator[Section]:
    yield Section(
        title="In short",
        blocks=(Say(text=verdict(card), strong=True), Figure(chart=card_charts.marks(card))),
    )
    yield Section(
        title="Rubric by part", blocks=(_rubric(card), Figure(chart=card_charts.time(card)))
    )
    yield Section(
        title="The ledger and your numbers",
        blocks=(Figure(chart=card_charts.phases(card)), *_numbers(card)),
    )
    yield Section(title="Mistakes by name", blocks=_mistakes(card))
    yield Section(title="Earlier lines used again", blocks=tuple(_reuse(card)))
    for number, part in enumerate(card.parts, 1):
        yield _part(number, part)
    following = (Commands(rows=card.next),) if card.next else (Say(text="Nothing was lost."),)
    yield Section(title="Practise next", blocks=following)


def _rubric(card: Scorecard) -> Grid:
    rows = []
    for number, part in enumerate(card.parts, 1):
        rows.append(
            (
                f"{number} {part.part.title}",
                "",
                mark_said(part.score, part.replies),
                f"{clock(part.seconds)} of {part.part.minutes}:00",
                "",
            )
        )
        rows += [
            (
                f"{number}.{at} {name_of(reply.question)}",
                reply.question.aspect,
                mark_said(reply.score, [reply]),
                clock(reply.seconds),
                str(reply.hints) if reply.hints else "",
            )
            for at, reply in enumerate(part.replies, 1)
        ]
    return Grid(
        caption="Marks of each part, and of its questions",
        head=("part or question", "aspect", "mark", "time", "hints"),
        rows=tuple(rows),
        numbers=frozenset({2, 3, 4}),
    )


def _numbers(card: Scorecard) -> Iterator[Block]:
    none = "no number" if card.mode == "alone" else "not typed"
    rows = [row for reply in replies(card) for row in figures(reply, none)]
    if rows:
        yield Grid(
            caption="Your numbers beside the reference",
            head=("question", "yours", "reference", "ratio", ""),
            rows=tuple(rows),
            numbers=frozenset({1, 2, 3}),
        )
    picks = [row for reply in replies(card) for row in _picks(card, reply)]
    if picks:
        yield Grid(
            caption="Your picks and orders beside the reference",
            head=("question", "yours", "reference", ""),
            rows=tuple(picks),
        )


def _picks(card: Scorecard, reply: Reply) -> Iterator[tuple[str, ...]]:
    """Yield a pick or an order of a reply beside the right one."""
    if reply.question.problem is None or reply.score is None:
        return
    answer = reply.question.problem.answer
    if answer.number is None and not answer.parts:
        own = reply.answer or ("no answer" if card.mode == "alone" else "not typed")
        yield name_of(reply.question), own, answer.said, _note(reply)


def figures(reply: Reply, none: str) -> Iterator[tuple[str, ...]]:
    """Yield each number of a reply: its name, yours (else `none`), the reference, ratio, note."""
    if reply.question.problem is None or reply.score is None:
        return
    answer = reply.question.problem.answer
    parsed = None if reply.verdict is None else reply.verdict.parsed
    if answer.parts:
        typed = parsed if isinstance(parsed, Mapping) else {}
        for name, part in answer.parts.items():
            if part.number is not None:
                of = f"{name_of(reply.question)}: {name}"
                yield of, *_figure(typed.get(name), part.number, none), ""
    elif answer.number is not None:
        own = parsed.get("number") if isinstance(parsed, Mapping) else parsed
        yield name_of(reply.question), *_figure(own, answer.number, none), _note(reply)


def _figure(own: object, asked: Number, none: str) -> tuple[str, str, str]:
    right = short(asked.value, asked)
    if not isinstance(own, Fraction):
        return none, right, ""
    ratio = rounded(own / asked.value, 3) if own and asked.value else ""
    return short(own, asked), right, ratio


def _note(reply: Reply) -> str:
    if reply.carried:
        return "carried on: right but for an earlier number, and counts"
    mistake = (reply.verdict.mistake or "") if reply.verdict is not None else ""
    by_hand = "" if reply.reads is None else BY_HAND
    return ", ".join(one for one in (mistake, by_hand) if one)


def _mistakes(card: Scorecard) -> tuple[Block, ...]:
    if not card.mistakes:
        return (Say(text="No number was traced to a mistake."),)
    return (
        Grid(
            caption="Wrong numbers that a mistake gives",
            head=("mistake", "question", "what went wrong"),
            rows=tuple((name, key.replace("-", " "), says) for name, says, key in card.mistakes),
        ),
    )


def _reuse(card: Scorecard) -> Iterator[Block]:
    used, could = card.reuse
    if not could:
        yield Say(text="No answer that was given could have used one.")
        return
    yield Say(text=f"Of {could} answers that could use an earlier line, {used} did.")
    yield Grid(
        caption="How each follows from an earlier line",
        head=("question", "used", "the way"),
        rows=tuple(
            (
                name_of(reply.question),
                "yes" if reply.reused else "no",
                reply.question.reuses[0].says,
            )
            for reply in replies(card)
            if reply.reused is not None and reply.question.reuses
        ),
    )


def _part(number: int, card: PartCard) -> Section:
    time = f"{clock(card.seconds)} of {card.part.minutes}:00"
    return Section(
        title=f"Part {number}: {card.part.title}",
        blocks=(Say(text=f"Mark {mark_said(card.score, card.replies)}, time {time}."),),
        sections=tuple(
            Section(title=f"{number}.{at} {heading(reply.question)}", blocks=_question(reply))
            for at, reply in enumerate(card.replies, 1)
        ),
    )


def _question(reply: Reply) -> tuple[Block, ...]:
    return (Say(text=f"“{reply.question.says}”"), *_outcome(reply))


def _outcome(reply: Reply) -> Iterator[Block]:
    if reply.score is None:
        yield Say(text=f"{reply.unmarked.capitalize()}.")
    else:
        mark = f"Mark {score_said(reply.score)}{_by_hand(reply)}."
        yield Say(text=f"{mark}{_hints(reply)}{_carried(reply)}")
    if reply.answer:
        yield Typed(caption="The answer", lines=(reply.answer,))
    if reply.verdict is not None:
        yield Say(text=reply.verdict.feedback)
    elif reply.question.problem is not None:
        yield Say(text=f"The reference: {reply.question.problem.answer.said}.")
    yield from _points(reply)
    yield Points(caption="A stronger answer", items=(reply.question.stronger,))
    thoughts = thoughts_of(reply)
    if thoughts:
        yield Typed(caption="As typed", lines=thoughts)


def _by_hand(reply: Reply) -> str:
    if reply.reads is None:
        return ""
    return f", {BY_HAND}; what was typed and heard earns {score_said(reply.reads)}"


def _hints(reply: Reply) -> str:
    return f" Hints: {reply.hints}." if reply.hints else ""


def _carried(reply: Reply) -> str:
    return " It follows from your own earlier number, so it counts." if reply.carried else ""


def _points(reply: Reply) -> Iterator[Block]:
    if reply.heard:
        yield Grid(
            caption="Made",
            head=("point", "heard in"),
            rows=tuple(
                (
                    one.point.says,
                    (f"“{one.words}”" if one.words else BY_HAND)
                    + (", before it was asked" if one.unasked else ""),
                )
                for one in reply.heard
            ),
        )
    if reply.missed:
        yield Points(
            caption="Not said, and expected at this level",
            items=tuple(one.says for one in reply.missed),
        )


def thoughts_of(reply: Reply) -> tuple[str, ...]:
    """Return the lines that were typed beside the answer."""
    return tuple(line for line in reply.typed if line != reply.answer)
