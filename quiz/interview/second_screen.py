"""The interviewer's desk as values: where an interview of two stands, and what a line does to it.

What is kept of it are lines: a key, "t" with a note or "a" with an answer behind it, each with the
seconds since the line before. The same lines lead to the same desk.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from problems.interview.script import Interview, Part, Question

MARKS: Mapping[str, Fraction] = {"f": Fraction(1), "h": Fraction(1, 2), "z": Fraction(0)}
MARK_WORDS: Mapping[Fraction, str] = {
    Fraction(1): "full", Fraction(1, 2): "half", Fraction(0): "zero",
}  # fmt: skip
DIGITS = "123456789"
V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class Given:
    """What was marked, heard and typed at one question."""

    mark: Fraction | None
    heard: frozenset[tuple[str, str]]
    reused: bool
    notes: tuple[str, ...]
    answer: str | None


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
        earlier: by key of the question, what was given there before each line that changed it.
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
    earlier: Mapping[str, tuple[Given, ...]] = field(default_factory=dict)

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
    def noted(self) -> Question:
        """The question that notes go to: the last one behind it."""
        return self.question or self.interview.questions[-1]

    @property
    def given(self) -> Given:
        """What was marked, heard and typed at that question."""
        here = self.noted.key
        return Given(
            mark=self.marks.get(here),
            heard=frozenset(one for one in self.heard if one[0] == here),
            reused=here in self.reused,
            notes=tuple(note for key, note in self.notes if key == here),
            answer=self.answers.get(here),
        )

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
    changed = _changed(desk, key, words)
    if changed is not None:
        return changed if changed == desk else _remembering(changed, desk)
    act = _ACTS.get(key)
    return desk if act is None else act(desk)


def _changed(desk: Desk, key: str, words: str) -> Desk | None:
    """Return the desk behind a line that gives a question something; None where it is none."""
    if key == "t":
        return _noted(desk, words)
    if key == "a":
        return _answered(desk, words)
    if key == "r":
        return _reused(desk)
    if key in DIGITS and key:
        return _heard(desk, int(key))
    return _marked(desk, MARKS[key]) if key in MARKS else None


def _remembering(desk: Desk, before: Desk) -> Desk:
    """Return a desk that knows what its question was given before."""
    here = before.noted.key
    given = (*before.earlier.get(here, ()), before.given)
    return replace(desk, earlier={**before.earlier, here: given})


def _undone(desk: Desk) -> Desk:
    """Return the desk without the last mark, tick, note or answer of its question."""
    key = desk.noted.key
    if not desk.earlier.get(key):
        return desk
    *before, last = desk.earlier[key]
    notes = (one for one in desk.notes if one[0] != key)
    return replace(
        desk,
        marks=_with(desk.marks, key, last.mark),
        heard=frozenset(one for one in desk.heard if one[0] != key) | last.heard,
        reused=desk.reused - {key} | ({key} if last.reused else set()),
        notes=(*notes, *((key, note) for note in last.notes)),
        answers=_with(desk.answers, key, last.answer),
        earlier={**desk.earlier, key: tuple(before)},
    )


def _with(rows: Mapping[str, V], key: str, value: V | None) -> dict[str, V]:
    """Return rows with the value at a key, without the key where it is None."""
    others = {name: one for name, one in rows.items() if name != key}
    return others if value is None else {**others, key: value}


def taken_back(before: Desk, desk: Desk) -> str:
    """Return what `u` took back, as a sentence without its stop."""
    old, new = before.given, desk.given
    if old.notes != new.notes:
        return f"Taken back: the note {old.notes[-1]}"
    if old.answer != new.answer:
        return f"Taken back: the answer {old.answer}"
    if old.mark != new.mark:
        again = "" if new.mark is None else f"; it is {MARK_WORDS[new.mark]} again"
        gone = "that there is no mark" if old.mark is None else f"the mark {MARK_WORDS[old.mark]}"
        return f"Taken back: {gone}{again}"
    if old.reused != new.reused:
        return f"Taken back: that an earlier line was{' not' * new.reused} used"
    names = {name for _, name in old.heard ^ new.heard}
    number = next(at for at, one in enumerate(before.noted.points, 1) if one.name in names)
    return f"Taken back: that point {number} was{' not' * bool(new.heard - old.heard)} heard"


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
    again = desk.marks.get(key) == mark
    return replace(desk, marks=_with(desk.marks, key, None if again else mark))


def _heard(desk: Desk, number: int) -> Desk:
    question = desk.question
    if question is None or number > len(question.points):
        return desk
    return replace(desk, heard=desk.heard ^ {(question.key, question.points[number - 1].name)})


def _noted(desk: Desk, note: str) -> Desk:
    if not note:
        return desk
    return replace(desk, notes=(*desk.notes, (desk.noted.key, note)))


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
    "n": _next, "b": _back, "x": _pass, "u": _undone, "p": _pause, "q": _quit,
}  # fmt: skip
