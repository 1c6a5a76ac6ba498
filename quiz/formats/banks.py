"""A set as a question bank: for each slot the questions that students have there, each once."""

from collections.abc import Iterator
from dataclasses import dataclass

from quiz.formats.questions import Question, question_of
from quiz.sets.problem_set import ProblemSet, Slot

# More names than these are counted.
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A question, and the ids of the students who have it; none where everybody has."""

    question: Question
    students: tuple[str, ...]

    @property
    def title(self) -> str:
        """Whose it is and what it is: "ann, bob: 3 model states, mid: zero-states@7"."""
        if not self.students:
            return self.question.title
        named, others = self.students[:NAMED], len(self.students) - NAMED
        more = f" and {others} more" if others > 0 else ""
        return f"{', '.join(named)}{more}: {self.question.title}"


@dataclass(frozen=True, kw_only=True)
class Bank:
    """The questions of a slot; `title` is "3 model states, mid"."""

    slot: Slot
    title: str
    entries: tuple[Entry, ...]


def banks(problems: ProblemSet) -> Iterator[Bank]:
    """Yield the bank of each slot, its questions in the order of the students."""
    for slot in problems.slots:
        entries = tuple(_entries(problems, slot))
        title = f"{slot.number} {entries[0].question.about}"
        yield Bank(slot=slot, title=title, entries=entries)


def _entries(problems: ProblemSet, slot: Slot) -> Iterator[Entry]:
    found: dict[str, list[Question]] = {}
    for variant, problem in problems.column(slot):
        found.setdefault(problem.id, []).append(question_of(slot, variant, problem))
    for same in found.values():
        everybody = not problems.is_personal or len(same) == len(problems.variants) > 1
        students = () if everybody else tuple(one.student for one in same)
        yield Entry(question=same[0], students=students)
