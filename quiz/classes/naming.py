"""What questions and students are called in a file of answers.

A question by its number, its kind or the id of its problem; a student by the id of the key.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from quiz.sets.problem_set import ProblemSet, Student

ID = re.compile(r"[^\s@:;,()\[\]\"']+@\d+")
# "3", "q3", "Q 3", "question 3", "Response 3", "3. How much …", "Q3: …": no "1.0" and no "/10".
NUMBER = re.compile(
    r"(?P<word>question|q|answers?(?: to)?(?: question)?|response|problem|item|task|no)?"
    r"\s*[.#:_-]?\s*0*(?P<number>[1-9]\d{0,3})"
    r"(?:$|[.):]$|[.):]\s+(?!/)\S.*|\s+(?![/\d])\S.*|\s*[([].*[)\]]$)",
    re.IGNORECASE | re.DOTALL,
)
# Words that say that what a student typed stands there, where another column has the question.
TYPED = re.compile(r"(answer|response)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Named:
    """A question that was named.

    Args:
        slot: its place among the slots, from 0 on.
        problem: the id of the problem, where that was the name; else "".
    """

    slot: int
    problem: str = ""


@dataclass(frozen=True)
class Names:
    """How the questions and the students of a set may be called."""

    problems: ProblemSet

    def named(self, text: str) -> Named | str:
        """Return the question that a text names, or why it names none: "" where it is no name."""
        plain = " ".join(text.split())
        ids = {one for one in ID.findall(plain) if one in self._ids}
        if len(ids) == 1:
            (found,) = ids
            return Named(slot=self._ids[found], problem=found)
        kind = re.sub(r"[\s_]+", "-", plain.casefold())
        slots = self._kinds.get(kind, ())
        if len(slots) == 1:
            return Named(slot=slots[0])
        if slots:
            numbers = ", ".join(str(self.problems.slots[at].number) for at in slots)
            return f"questions {numbers} are of the kind {kind}"
        match = NUMBER.fullmatch(plain)
        if match is None:
            return ""
        number = int(match["number"])
        at = self._numbers.get(number)
        return f"there is no question {number}" if at is None else Named(slot=at)

    def student(self, text: str) -> Student | None:
        """Return the student of the key with an id; where nobody has it, but for its case."""
        return self.ids.get(text) or self._folded.get(compared(text))

    def asked(self, student: Student) -> tuple[str, ...]:
        """Return the ids of the problems on the sheet of a student, in order."""
        return self._sheets.get(student.id) or self._sheets[""]

    @cached_property
    def ids(self) -> Mapping[str, Student]:
        """The students of the key by id; none where it is for everyone."""
        found = (variant.student for variant in self.problems.variants)
        return {student.id: student for student in found if student is not None}

    @cached_property
    def _folded(self) -> Mapping[str, Student]:
        times = Counter(map(compared, self.ids))
        found = {compared(id_): student for id_, student in self.ids.items()}
        return {id_: student for id_, student in found.items() if times[id_] == 1}

    @cached_property
    def _sheets(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "" if one.student is None else one.student.id: tuple(each.id for each in one.problems)
            for one in self.problems.variants
        }

    @cached_property
    def _ids(self) -> Mapping[str, int]:
        return {
            problem.id: at
            for variant in reversed(self.problems.variants)
            for at, problem in enumerate(variant.problems)
        }

    @cached_property
    def _kinds(self) -> Mapping[str, list[int]]:
        found = defaultdict[str, list[int]](list)
        for at, slot in enumerate(self.problems.slots):
            found[slot.kind.casefold()].append(at)
        return found

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        return {slot.number: at for at, slot in enumerate(self.problems.slots)}


def compared(text: str) -> str:
    """Return an id as ids are compared where none is the same: without regard to case."""
    return unicodedata.normalize("NFC", text).strip().casefold()
