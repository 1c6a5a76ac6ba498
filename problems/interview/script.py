"""An interview as frozen values: its parts, their questions, what is worth saying to each."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from engine.scenario import Scenario
from problems.problem import Level, Problem

Aspect = Literal["conditions", "terms", "exclusions", "prediction", "number"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


@dataclass(frozen=True, kw_only=True)
class Width:
    """How wide a term is, for each parameter, where a candidate says so.

    Args:
        size: bytes of all its tensors.
        tensors: how many they are, each as wide as the others: two moments.
        also: bytes that are said of it with what others count among it: 12 for the optimizer
            states, master copy and all.
    """

    size: int
    tensors: int = 1
    also: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Point:
    """Something worth saying, which earns its share of an aspect once it is heard.

    Args:
        name: a key of `data/interview_points.toml`, which has the words that it is heard by.
        says: what a strong candidate says of it in this run, a sentence with its figures.
        level: from which level on it is expected; a candidate below it gains by saying it and
            loses nothing by leaving it out.
        width: of a term that is asked for with its width; who says another does not make it.
    """

    name: str
    says: str
    level: Level
    width: Width | None = None


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """How the right number follows from an earlier one: `times` × the earlier + `plus`.

    Args:
        question: key of the earlier question, in the same unit.
        says: the way in a sentence, such as "linear in the sequence: 4 × the line for 8,192".
    """

    question: str
    times: Fraction = Fraction(1)
    plus: Fraction = Fraction(0)
    says: str


@dataclass(frozen=True, kw_only=True)
class Move:
    """How far the right number moves with an earlier one that is off: `times` × what it is off.

    Args:
        question: key of the earlier question.
    """

    question: str
    times: Fraction


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment of the step, which may be the highest where earlier numbers are off.

    Args:
        size: bytes that are allocated then.
        without: keys of the earlier questions whose line is not there then.
    """

    size: int
    without: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Picked:
    """How a choice follows from an earlier number.

    Args:
        question: key of the earlier question.
        upto: (the largest number that leads to it, key of a choice), from the smallest on.
        above: key of the choice that every larger number leads to.
    """

    question: str
    upto: tuple[tuple[Fraction, str], ...]
    above: str

    def of(self, number: Fraction) -> str:
        """Return the key of the choice that follows from a number."""
        return next((key for most, key in self.upto if number <= most), self.above)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One thing that the interviewer asks.

    Args:
        key: unique in its interview, such as "activations-at-32k".
        aspect: what an answer to it is marked for.
        says: the interviewer's words.
        scenario: the run it is about, with what follow-ups changed so far.
        problem: what is marked by rule (a number, a choice, an order); None where points are
            listened for alone.
        points: what is listened for, the most telling first; at a number they may be empty.
        changes: what a follow-up changes, such as "32k context"; "" where it is none.
        reuses: ways to the number from earlier ones, which are worth seeing.
        moves: what earlier ones that are off do to the number, beside what `reuses` say. Where
            several are off, the number moves by the sum of them; an earlier one that can be
            carried on in several ways has a move for each.
        moments: those of which the number is the highest, from there on; () where it is no peak.
        picked: how the choice follows from an earlier number; None where it does not.
        stronger: what a stronger answer says, a sentence or two.
        practises: kinds of the bank that train the same.
    """

    key: str
    aspect: Aspect
    says: str
    scenario: Scenario
    problem: Problem | None = None
    points: tuple[Point, ...] = ()
    changes: str = ""
    reuses: tuple[Reuse, ...] = ()
    moves: tuple[Move, ...] = ()
    moments: tuple[Moment, ...] = ()
    picked: Picked | None = None
    stronger: str
    practises: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of an interview. `minutes` is what it should take."""

    key: str
    title: str
    minutes: int
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True)
class Interview:
    """A whole interview; (level, minutes, seed) gives the same one everywhere.

    Args:
        minutes: what it should take; the parts' minutes add up to it.
        opening: the run as the interviewer puts it at first, with conditions left open.
        conditions: what is told once conditions were asked for or assumed: the whole run.
    """

    level: Level
    minutes: int
    seed: int
    scenario: Scenario
    opening: str
    conditions: str
    parts: tuple[Part, ...]

    @property
    def id(self) -> str:
        """Such as "interview-mid-30@7"."""
        return f"interview-{self.level}-{self.minutes}@{self.seed}"

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every question, in the order in which it is asked."""
        return tuple(question for part in self.parts for question in part.questions)
