"""The parts of the questions of a set, for programs that ask one thing at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from string import ascii_lowercase
from xml.etree.ElementTree import Element

from quiz.formats.elements import listed, paragraph, verbatim
from quiz.formats.parts import NumberPart, OrderPart, Part, PickPart
from quiz.formats.questions import Question, question_of
from quiz.sets.key import key_text
from quiz.sets.problem_set import ProblemSet, Slot

BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One part of a question.

    Args:
        question: whose part it is.
        part: what is asked.
        at: its place in the question, from 0 on.
    """

    question: Question
    part: Part
    at: int

    @property
    def number(self) -> str:
        """The number of the question, with a letter where it has several parts: "3", "3b"."""
        several = len(self.question.parts) > 1
        return f"{self.question.number}{ascii_lowercase[self.at] if several else ''}"

    @property
    def points(self) -> Fraction:
        """What it is worth."""
        return self.question.points * self.part.weight

    @property
    def title(self) -> str:
        """Its number, what it is about, its id and whose it is."""
        whose = f", {self.question.student}" if self.question.student else ""
        return f"{self.number} {self.question.about}: {self.question.id}{whose}"

    @property
    def mark(self) -> str:
        """What tells it from every other of the set, as letters and digits."""
        return f"{mark_of(self.question.student)}_{self.number}"


def mark_of(text: str) -> str:
    """Return the mark of a text, of which no two have the same: 16 letters and digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BYTES).hexdigest()


def mark_of_set(problems: ProblemSet) -> str:
    """Return the mark of a set; one that differs anywhere has another."""
    return mark_of(key_text(problems))


def questions_in(problems: ProblemSet, slot: Slot) -> Iterator[Question]:
    """Yield the question of every variant in a slot."""
    for variant, problem in problems.column(slot):
        yield question_of(slot, variant, problem)


def pieces_of(question: Question) -> tuple[Piece, ...]:
    """Return the parts of a question."""
    return tuple(
        Piece(question=question, part=part, at=at) for at, part in enumerate(question.parts)
    )


def stem(question: Question) -> list[Element]:
    """Return what is asked, above the parts."""
    blocks = [paragraph(block) for block in question.prompt.split("\n\n") if block.strip()]
    return [*blocks, *([verbatim(question.exhibit)] if question.exhibit else [])]


def asks(part: Part) -> str:
    """Return what a part asks for, in a line: "Critic in GB, in digits alone."."""
    match part:
        case NumberPart():
            whole = ", a whole number" if part.is_whole else ""
            unit = f" in {part.unit}" if part.unit else ""
            said = f"{part.label or 'The answer'}{unit}{whole}, in digits alone"
        case PickPart():
            said = part.label or "Pick one"
        case OrderPart():
            order = f"the {part.first} first"
            said = (
                f"Those that help, {order}; leave out the rest"
                if part.leaves_out
                else f"Put all in order, {order}"
            )
        case _:
            label = f": {part.label}" if part.label else ""
            said = part.wants or f"In your own words{label}"
    return said[:1].upper() + said[1:] + ("" if said[-1:] in ".?!:" else ".")


def solution(question: Question) -> list[Element]:
    """Return the right answer and the way to it."""
    steps = [listed(question.solution)] if question.solution else []
    return [paragraph(question.said), *steps]
