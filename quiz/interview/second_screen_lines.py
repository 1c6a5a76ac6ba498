"""What stands on the interviewer's screen, line by line, for so many columns and lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from problems.interview.script import Question
from quiz.answers import Unreadable
from quiz.interview.answer_in import Before, answer_in
from quiz.interview.answers_told import accepted, right, wrong_answers
from quiz.interview.marking import expects
from quiz.interview.pressing import LONGEST, Screen
from quiz.interview.questions_said import heading, name_of
from quiz.interview.scorecard_words import SECONDS, clock
from quiz.interview.second_card import counts
from quiz.interview.second_screen import DIGITS, MARK_WORDS, Desk

Style = Literal["", "strong", "head", "over", "dim"]
KEYS = (
    "f full  h half  z zero  1-9 heard  r reused  a answer  t note  u take back",
    "n next  b back  x pass over  w solution  p pause  space more  ? keys  q stop",
)
PROMPTS = {"t": "note> ", "a": "answer> "}
HELP = """\
f full, h half, z zero: the mark for this question; the same key takes it back
1 to 9: this point was heard, or was not after all
r: the answer used an earlier line
t: type a note, a: type the answer, to be told what it earns and which mistake
   gives it; Enter keeps it, Escape drops it
u: take back the last mark, point, r, note or answer of this question
n: the next question   b: the question before, passed over or not
x: pass over the next follow-up
p: the clock stands, or goes on   w: the worked solution and the wrong answers
space: more of what does not fit   q: stop; the interview goes on where it stopped
Every key that changes something is kept before it is shown."""
# Where the keys would take the lines that the answer needs.
FEW_KEYS = "? keys  n next  q stop"
INDENT = 3
GAP = "  "
NO_BREAK = "\xa0"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the screen, no longer than its width."""

    text: str
    style: Style = ""


def rows(screen: Screen, width: int, height: int) -> tuple[Row, ...]:
    """Return the lines of a screen: a head, a page of what is shown, the state and the keys."""
    head, foot = tuple(_head(screen.desk, width)), _keys(width)
    if 2 * (len(head) + len(foot) + 1) > height:
        foot = (_cut(FEW_KEYS, width, "dim"),)
    room = max(height - len(head) - len(foot) - 1, 1)
    body = tuple(_body(screen, width))
    pages = max(-(-len(body) // room), 1)
    page = screen.page % pages
    shown = body[page * room : (page + 1) * room]
    blank = (Row(text=""),) * (room - len(shown))
    state = _state(screen, width, f"page {page + 1}/{pages}" if pages > 1 else "")
    return (*head, *shown, *blank, state, *foot)


def whole(screen: Screen, width: int) -> tuple[Row, ...]:
    """Return the lines of a screen where it is as long as it needs to be."""
    return (*_head(screen.desk, width), *_body(screen, width), _state(screen, width, ""))


def time_said(seconds: float, minutes: int) -> str:
    """Return a time beside what was planned: "2:10 of 5:00", "5:10 of 5:00 over"."""
    over = " over" if seconds > SECONDS * minutes else ""
    return f"{clock(seconds)} of {minutes}:00{over}"


def _head(desk: Desk, width: int) -> Iterator[Row]:
    interview = desk.interview
    part = interview.parts[desk.part]
    spent = desk.spent(part)
    paused = " paused" if desk.paused else ""
    times = f"total {time_said(desk.total, interview.minutes)}{paused}"
    own = f"part {desk.part + 1} of {len(interview.parts)} {time_said(spent, part.minutes)}"
    over = spent > SECONDS * part.minutes or desk.total > SECONDS * interview.minutes
    told = f"{own} · {times}"
    if len(told) > width:
        all_ = time_said(desk.total, interview.minutes).replace(" of ", "/")
        told = f"{time_said(spent, part.minutes).replace(' of ', '/')} · all {all_}{paused}"
    yield _cut(told, width, "over" if over else "head")
    where = f"{desk.position + 1}/{len(interview.questions)}"
    if desk.question is None:
        yield _cut("the end", width, "head")
    else:
        yield _cut(f"{where} {part.title} · {heading(desk.question)}", width, "head")


def _cut(text: str, width: int, style: Style) -> Row:
    short = text if len(text) <= width else f"{text[: width - 1]}…"
    return Row(text=short, style=style)


def _keys(width: int) -> tuple[Row, ...]:
    if max(map(len, KEYS)) <= width:
        return tuple(Row(text=line, style="dim") for line in KEYS)
    # A key stays beside what it does.
    joined = GAP.join(KEYS).replace(" ", NO_BREAK).replace(2 * NO_BREAK, GAP)
    lines = wrap(joined, max(width, 1), break_on_hyphens=False)
    return tuple(Row(text=line.replace(NO_BREAK, " "), style="dim") for line in lines)


def _state(screen: Screen, width: int, page: str) -> Row:
    if screen.typing is not None:
        what, words = screen.typing
        full = f"{LONGEST} characters, no more: " if len(words) == LONGEST else ""
        prompt = f"{full}{PROMPTS[what]}"
        room = max(width - len(prompt) - 1, 1)
        return Row(text=f"{prompt}{words[-room:]}_", style="strong")
    if screen.says:
        return _cut(screen.says, width, "strong")
    desk, question = screen.desk, screen.desk.question
    if question is None:
        said = f"{len(desk.marks)} marks given"
    else:
        mark = MARK_WORDS[desk.marks[question.key]] if question.key in desk.marks else "none"
        said = f"mark: {mark}"
        if question.points:
            made = sum(key == question.key for key, _ in desk.heard)
            said += f" · heard {made} of {len(question.points)}"
    return _cut(" · ".join(one for one in (said, page) if one), width, "strong")


def _body(screen: Screen, width: int) -> Iterator[Row]:
    if screen.shown == "keys":
        for line in HELP.splitlines():
            yield from _wrapped(line, width, hanging=INDENT)
    elif screen.desk.question is None:
        yield from _end(screen.desk, width)
    elif screen.shown == "solution":
        yield from _solution(screen.desk.question, width)
    else:
        yield from _question(screen.desk, screen.desk.question, width)


def _end(desk: Desk, width: int) -> Iterator[Row]:
    """Yield how to end, and which questions were shown and have no mark."""
    yield from _wrapped("That was the last question.", width, "strong")
    yield from _wrapped("q ends the interview and shows the scorecard; b goes back.", width)
    numbered = enumerate(desk.interview.questions, 1)
    shown = [(at, one) for at, one in numbered if one.key in desk.reached - desk.passed]
    lacking = [(at, one) for at, one in shown if one.key not in desk.marks]
    if not lacking:
        yield from _wrapped("Each question that was shown has a mark.", width)
        return
    yield Row(text="")
    yield from _wrapped("Shown, and without a mark:", width)
    for at, one in lacking:
        earned = counts(desk, one)
        why = (
            "counts nowhere"
            if earned is None
            else f"counts {float(earned):.2f}, as it was typed or heard"
        )
        yield from _wrapped(f"{at} {name_of(one)}: {why}", width, indent=INDENT)


def keys_said(desk: Desk) -> str:
    """Return the keys that do something now, in a line for who cannot see them all the time."""
    question = desk.question
    if question is None:
        return "keys: q ends the interview, b back, t note, ? all keys"
    points = f", 1-{min(len(question.points), len(DIGITS))} heard" if question.points else ""
    answer = ", a answer" if desk.is_answered else ""
    return f"keys: f full, h half, z zero{points}{answer}, t note, n next, ? all keys, q stop"


def _question(desk: Desk, question: Question, width: int) -> Iterator[Row]:
    opens = desk.position == 0
    if opens:
        yield from _labelled("open with", desk.interview.opening, width, "strong")
    yield from _labelled("ask", question.says, width, "strong")
    yield from _answer(question, width)
    yield from _given(desk, question, width)
    for note in (note for key, note in desk.notes if key == question.key):
        yield from _labelled("noted", note, width)
    yield from _points(desk, question, width)
    if opens:
        yield from _labelled("tell when asked", desk.interview.conditions, width)
    for one in question.reuses:
        used = "x" if question.key in desk.reused else " "
        name = one.question.replace("-", " ")
        yield from _wrapped(f"[{used}] r from {name}: {one.says}", width, hanging=6)
    yield from _following(desk, width)


def _answer(question: Question, width: int) -> Iterator[Row]:
    problem = question.problem
    if problem is None:
        return
    for line in problem.exhibit.splitlines():
        yield _cut(f"{' ' * INDENT}{line}", width, "")
    yield from _labelled("answer", right(problem.answer), width, "strong")
    for line in accepted(problem.answer):
        yield from _wrapped(line, width, indent=INDENT)


def _given(desk: Desk, question: Question, width: int) -> Iterator[Row]:
    """Yield the candidate's answer with what it earns and comes of."""
    answer = desk.answers.get(question.key)
    if answer is None or question.problem is None:
        return
    yield from _labelled("said", answer, width, "strong")
    verdict = answer_in(question, answer, Before())
    if isinstance(verdict, Unreadable):
        says = f"it cannot be read: {verdict.reason}"
    else:
        says = f"{float(verdict.score):.2f} of 1. {verdict.feedback}"
    yield from _wrapped(says, width, indent=INDENT)


def _points(desk: Desk, question: Question, width: int) -> Iterator[Row]:
    if question.points:
        yield Row(text="listen for", style="dim")
    numbers = (*DIGITS, *" " * len(question.points))
    for number, point in zip(numbers, question.points, strict=False):
        heard = "x" if (question.key, point.name) in desk.heard else " "
        plus = "" if expects(desk.interview.level, point) else f" (from {point.level} on: a plus)"
        yield from _wrapped(f"[{heard}] {number} {point.says}{plus}", width, hanging=6)


def _following(desk: Desk, width: int) -> Iterator[Row]:
    following = desk.following
    if following is None:
        yield from _labelled("next", "the end", width, "dim")
    elif following.changes:
        yield from _labelled("next follow-up", following.says, width, "dim")
    else:
        yield from _labelled("next", following.says, width, "dim")


def _solution(question: Question, width: int) -> Iterator[Row]:
    if question.problem is None:
        yield from _wrapped("There is nothing to work out here.", width)
    else:
        for step in question.problem.solution:
            label = "on paper" if step.depth == "whiteboard" else "in full"
            yield from _labelled(label, step.text, width)
        for said, name, meaning in wrong_answers(question.problem):
            yield from _labelled(f"if {said}", f"{name}. {meaning}", width)
        for hint in question.problem.hints:
            yield from _labelled("hint", hint, width)
    yield from _labelled("stronger", question.stronger, width)


def _labelled(label: str, text: str, width: int, style: Style = "") -> Iterator[Row]:
    first, *more = text.splitlines() or [""]
    yield from _wrapped(f"{label}: {first}", width, style, hanging=INDENT)
    for line in more:
        yield from _wrapped(line, width, style, indent=INDENT)


def _wrapped(
    text: str, width: int, style: Style = "", *, indent: int = 0, hanging: int = 0
) -> Iterator[Row]:
    lines = wrap(
        text,
        max(width, INDENT + 1),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging if width > 2 * hanging else indent),
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        yield Row(text=line, style=style)
