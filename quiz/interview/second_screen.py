"""The interviewer's screen as values: where an interview of two stands, and what a key does to it.

What is kept of it are lines: a key, "t" with a note or "a" with an answer behind it, each with the
seconds since the line before. The same lines lead to the same desk.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from problems.interview.script import Interview, Part, Question

MARKS: Mapping[str, Fraction] = {"f": Fraction(1), "h": Fraction(1, 2), "z": Fraction(0)}
MARK_WORDS: Mapping[Fraction, str] = {
    Fraction(1): "full", Fraction(1, 2): "half", Fraction(0): "zero",
}  # fmt: skip
ENTER, BACKSPACE, ESCAPE, SPACE = "\n", "\x7f", "\x1b", " "
LONGEST = 500
DIGITS = "123456789"


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where an interview of two stands.

    Args:
        position: of the question that is asked; behind the last one at the end.
        reached: keys of the questions that were asked.
        marks: by key of the question, those that were given.
        heard: (key of the question, name of the point).
        reused: keys of the questions whose answers used an earlier line.
        notes: (key of the question, what was noted).
        answers: by key of the question, the candidate's answer as the interviewer typed it.
        passed: keys of follow-ups that are passed over.
        seconds: by key of the question, without pauses.
        paused: whether the clock stands.
        closed: whether the interview was ended at its end.
    """

    interview: Interview
    position: int = 0
    reached: frozenset[str] = frozenset()
    marks: Mapping[str, Fraction] = field(default_factory=dict)
    heard: frozenset[tuple[str, str]] = frozenset()
    reused: frozenset[str] = frozenset()
    notes: tuple[tuple[str, str], ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    seconds: Mapping[str, float] = field(default_factory=dict)
    paused: bool = False
    closed: bool = False

    @property
    def question(self) -> Question | None:
        """The question that is asked; None behind the last one."""
        questions = self.interview.questions
        return questions[self.position] if self.position < len(questions) else None

    @property
    def part(self) -> int:
        """The index of its part; the last one's at the end."""
        left = self.position
        for index, part in enumerate(self.interview.parts):
            if left < len(part.questions):
                return index
            left -= len(part.questions)
        return len(self.interview.parts) - 1

    @property
    def following(self) -> Question | None:
        """The question that n goes on to; None where there is none."""
        later = self.interview.questions[self.position + 1 :]
        return next((one for one in later if one.key not in self.passed), None)

    @property
    def is_answered(self) -> bool:
        """Whether an answer to the question can be read, not only heard."""
        return self.question is not None and self.question.problem is not None

    @property
    def total(self) -> float:
        """Seconds of the whole interview."""
        return sum(self.seconds.values())

    def spent(self, part: Part) -> float:
        """Return the seconds of a part."""
        return sum(self.seconds.get(one.key, 0.0) for one in part.questions)


def begun(interview: Interview) -> Desk:
    """Return the desk at the first question."""
    return Desk(interview=interview, reached=frozenset({interview.questions[0].key}))


def held(interview: Interview, lines: Iterable[tuple[float, str]]) -> Desk:
    """Return the desk that (seconds, line) pairs lead to."""
    desk = begun(interview)
    for seconds, line in lines:
        desk = after(desk, line, seconds)
    return desk


def after(desk: Desk, line: str, seconds: float) -> Desk:
    """Return the desk behind a line that came so many seconds behind the one before it."""
    desk = passing(desk, seconds)
    key, words = line[:1], line[1:].strip()
    if key == "t":
        return _noted(desk, words)
    if key == "a":
        return _answered(desk, words)
    if key in DIGITS and key:
        return _heard(desk, int(key))
    if key in MARKS:
        return _marked(desk, MARKS[key])
    act = _ACTS.get(key)
    return desk if act is None else act(desk)


def passing(desk: Desk, seconds: float) -> Desk:
    """Return the desk when so many seconds have gone by."""
    if not seconds or desk.paused or desk.closed or desk.question is None:
        return desk
    key = desk.question.key
    return replace(desk, seconds={**desk.seconds, key: desk.seconds.get(key, 0.0) + seconds})


def _marked(desk: Desk, mark: Fraction) -> Desk:
    """Return the desk with a mark; the same one again takes it back."""
    if desk.question is None:
        return desk
    key = desk.question.key
    others = {name: given for name, given in desk.marks.items() if name != key}
    return replace(desk, marks=others if desk.marks.get(key) == mark else {**others, key: mark})


def _heard(desk: Desk, number: int) -> Desk:
    question = desk.question
    if question is None or number > len(question.points):
        return desk
    return replace(desk, heard=desk.heard ^ {(question.key, question.points[number - 1].name)})


def _noted(desk: Desk, note: str) -> Desk:
    if not note:
        return desk
    key = (desk.question or desk.interview.questions[-1]).key
    return replace(desk, notes=(*desk.notes, (key, note)))


def _answered(desk: Desk, answer: str) -> Desk:
    """Return the desk with the candidate's answer, the later one where there are two."""
    if not answer or desk.question is None or not desk.is_answered:
        return desk
    return replace(desk, answers={**desk.answers, desk.question.key: answer})


def _next(desk: Desk) -> Desk:
    following = desk.following
    if following is None:
        return replace(desk, position=len(desk.interview.questions))
    return _at(desk, desk.interview.questions.index(following))


def _back(desk: Desk) -> Desk:
    """Return the desk at the question before, which is taken up again where it was passed over."""
    return desk if desk.position == 0 else _at(desk, desk.position - 1)


def _at(desk: Desk, position: int) -> Desk:
    key = desk.interview.questions[position].key
    return replace(
        desk, position=position, reached=desk.reached | {key}, passed=desk.passed - {key}
    )


def _pass(desk: Desk) -> Desk:
    """Return the desk without the follow-up that would be next."""
    following = desk.following
    if following is None or not following.changes:
        return desk
    return replace(desk, passed=desk.passed | {following.key})


def _reused(desk: Desk) -> Desk:
    if desk.question is None or not desk.question.reuses:
        return desk
    return replace(desk, reused=desk.reused ^ {desk.question.key})


def _pause(desk: Desk) -> Desk:
    return replace(desk, paused=not desk.paused)


def _quit(desk: Desk) -> Desk:
    return replace(desk, closed=True) if desk.question is None else desk


_ACTS: Mapping[str, Callable[[Desk], Desk]] = {
    "n": _next, "b": _back, "x": _pass, "r": _reused, "p": _pause, "q": _quit,
}  # fmt: skip

Shown = Literal["question", "solution", "keys"]


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A desk as it is looked at.

    Args:
        shown: what stands in the middle.
        page: of it, from 0 on; they come round.
        typing: "t" or "a" and the note or answer that is being typed; None where none is.
        says: what the last key did not do, and why; "" where it did.
    """

    desk: Desk
    shown: Shown = "question"
    page: int = 0
    typing: tuple[str, str] | None = None
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a key leads to: `line` is what is to be kept of it, None where nothing is.

    `stops` says that the screen is left.
    """

    screen: Screen
    line: str | None = None
    stops: bool = False


WHY_NOT: Mapping[str, str] = {
    "x": "The next question is no follow-up; n goes on to it.",
    "r": "No earlier line gives the answer here.",
    "a": "No answer is read here: points are heard.",
    "b": "This is the first question.",
    "n": "That was the last question; q ends the interview.",
}


def pressed(screen: Screen, key: str, seconds: float) -> Turn:
    """Return what a key leads to, so many seconds behind the last line that was kept."""
    if screen.typing is not None:
        return _typed(screen, *screen.typing, key, seconds)
    plain, key = replace(screen, says=""), key.lower()
    if key == "q":
        return Turn(screen=_kept(plain, "q", seconds), line="q", stops=True)
    looked = _looked(plain, key)
    return _acted(plain, key, seconds) if looked is None else Turn(screen=looked)


def _looked(screen: Screen, key: str) -> Screen | None:
    """Return the screen behind a key that changes what is seen alone; None where it is none."""
    match key:
        case "t" | "a" if key == "t" or screen.desk.is_answered:
            return replace(screen, typing=(key, ""))
        case "w":
            return _toggled(screen, "solution")
        case "?":
            return _toggled(screen, "keys")
        case " ":
            return replace(screen, page=screen.page + 1)
        case "\n" | "\x1b" | "\x7f":
            return replace(screen, shown="question", page=0)
        case _:
            return None


def _toggled(screen: Screen, shown: Shown) -> Screen:
    return replace(screen, shown="question" if screen.shown == shown else shown, page=0)


def _acted(screen: Screen, key: str, seconds: float) -> Turn:
    if len(key) == 1 and after(screen.desk, key, 0.0) != screen.desk:
        return Turn(screen=_kept(screen, key, seconds), line=key)
    points = () if screen.desk.question is None else screen.desk.question.points
    if key in DIGITS:
        says = f"There are {len(points)} points here." if points else "No points are heard here."
    else:
        says = WHY_NOT.get(key, "No key does that here; ? shows the keys.")
    return Turn(screen=replace(screen, says=says))


def _kept(screen: Screen, line: str, seconds: float) -> Screen:
    desk = after(screen.desk, line, seconds)
    if desk.position != screen.desk.position:
        return Screen(desk=desk)
    return replace(screen, desk=desk, typing=None)


def _typed(screen: Screen, what: str, words: str, key: str, seconds: float) -> Turn:
    if key == ENTER and words.strip():
        line = f"{what} {words.strip()}"
        return Turn(screen=_kept(screen, line, seconds), line=line)
    if key in {ENTER, ESCAPE}:
        return Turn(screen=replace(screen, typing=None))
    if key == BACKSPACE:
        words = words[:-1]
    elif len(words) < LONGEST and key.isprintable():
        words += key
    return Turn(screen=replace(screen, typing=(what, words)))
