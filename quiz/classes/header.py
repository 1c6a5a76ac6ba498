"""What the columns of a file of answers are, by its header."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.errors import Fault, InputError
from engine.fields import show
from quiz.classes.naming import TYPED, Named, Names, compared
from quiz.sets import roster
from quiz.sets.csv_table import Table

# In small letters; the first one that is there counts where nothing else decides.
IDS = (*roster.IDS, "email address", "id number", "student number", "login id", "user id")
NAMES = (*roster.NAMES, "first name", "last name", "surname", "given name", "family name")
QUESTIONS = ("question", "problem", "question number", "problem id", "question id", "item", "slot")
ANSWERS = ("answer", "response", "typed", "answer as typed", "reply")
LISTED = 12


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of answers to one question."""

    at: int
    title: str
    named: Named


@dataclass(frozen=True, kw_only=True)
class Header:
    """What the columns are.

    Args:
        form: "wide", a row a student, or "long", a row an answer.
        student: the column of the ids.
        names: the columns of the names.
        columns: of the wide form, those with answers.
        question: of the long form, the column that names the question.
        answer: of the long form, the column of the answers.
        unused: the others, each with why.
        how: by what this was decided, in a sentence.
    """

    form: Literal["wide", "long"]
    student: int
    names: tuple[int, ...] = ()
    columns: tuple[Column, ...] = ()
    question: int = -1
    answer: int = -1
    unused: tuple[tuple[int, str], ...] = ()
    how: str

    @property
    def identity(self) -> frozenset[int]:
        """The columns that say whose a row is, and in the long form of which question."""
        return frozenset({self.student, *self.names, self.question} - {-1})


def header_of(table: Table, names: Names, where: str) -> Header:
    """Return what the columns of a file are.

    Args:
        table: the file.
        names: of the questions and the students.
        where: the file, for what is told.

    Raises:
        InputError: no column has answers, or two have those to one question.
    """
    titles = [_plain(title) for title in table.header]
    known = frozenset(map(compared, names.ids))
    question = _first(titles, QUESTIONS)
    answer = _first(titles, ANSWERS)
    numbered = [
        at for at, title in enumerate(table.header) if isinstance(names.named(title), Named)
    ]
    if question is not None and answer is not None and not numbered:
        return _long(table, titles, question, answer, known)
    return _wide(table, titles, names, known, where)


def _plain(title: str) -> str:
    return " ".join(re.sub(r"[_\s]+", " ", title).split()).casefold()


def _first(titles: Sequence[str], words: Sequence[str]) -> int | None:
    return next((titles.index(word) for word in words if word in titles), None)


def _long(
    table: Table, titles: Sequence[str], question: int, answer: int, known: frozenset[str]
) -> Header:
    taken = {question, answer}
    student, why = _student(table, titles, taken, known)
    named = tuple(at for at in _name_columns(titles) if at not in {student, *taken})
    rest = sorted({*range(len(titles))} - {student, *named, *taken})
    head = table.header
    how = (
        f"a row an answer, since the header has {show(head[question])} and {show(head[answer])}; "
        f"{why}"
    )
    return Header(
        form="long",
        student=student,
        names=named,
        question=question,
        answer=answer,
        unused=tuple((at, "no column of answers") for at in rest),
        how=how,
    )


def _wide(
    table: Table, titles: Sequence[str], names: Names, known: frozenset[str], where: str
) -> Header:
    columns, unused = list[Column](), dict[int, str]()
    for at, title in enumerate(table.header):
        named = names.named(title)
        if isinstance(named, Named):
            columns.append(Column(at=at, title=title.strip(), named=named))
        else:
            unused[at] = named or "names no question"
    columns, beaten = _typed(columns)
    unused |= beaten
    if faults := [*_faults(columns, names, table, where)]:
        raise InputError(*faults)
    student, why = _student(table, titles, {one.at for one in columns}, known)
    named_by = tuple(
        at for at in _name_columns(titles) if at in unused and at not in {student, *beaten}
    )
    how = f"a row a student, since {len(columns)} columns name questions; {why}"
    return Header(
        form="wide",
        student=student,
        names=named_by,
        columns=tuple(columns),
        unused=tuple((at, why) for at, why in unused.items() if at not in {student, *named_by}),
        how=how,
    )


def _typed(columns: Sequence[Column]) -> tuple[list[Column], dict[int, str]]:
    """Return the columns of answers; where one of two for a question says "response", it is it."""
    by_question = defaultdict[Named, list[Column]](list)
    for column in columns:
        by_question[column.named].append(column)
    beaten = dict[int, str]()
    for same in by_question.values():
        typed = [one for one in same if TYPED.match(one.title)]
        if len(same) > 1 and len(typed) == 1:
            why = f"{typed[0].title} has the answers"
            beaten |= {one.at: why for one in same if one is not typed[0]}
    return [one for one in columns if one.at not in beaten], beaten


def _faults(columns: Sequence[Column], names: Names, table: Table, where: str) -> Iterator[Fault]:
    """Yield what keeps the columns from being those of answers."""
    if not columns:
        shown = ", ".join(show(title.strip()) for title in table.header[:LISTED])
        next_ = "name columns 1, 2, …, or write student, question and answer"
        yield Fault(f"{where}, header", f"no column names a question: {shown}", next_)
    by_slot = defaultdict[int, list[Column]](list)
    for column in columns:
        by_slot[column.named.slot].append(column)
    for slot, same in by_slot.items():
        if len({one.named.problem for one in same} - {""}) < len(same) > 1:
            said = " and ".join(show(one.title) for one in same)
            number = names.problems.slots[slot].number
            what = f"{said} are question {number}"
            yield Fault(f"{where}, header", what, "leave one of them out")
    for title in table.header:
        named = names.named(title)
        if isinstance(named, str) and named.startswith("questions"):
            yield Fault(f"{where}, {show(title)}", named, "name it by its number")


def _student(
    table: Table, titles: Sequence[str], taken: set[int], known: frozenset[str]
) -> tuple[int, str]:
    """Return the column of the ids, and how it was found.

    Where the key knows the students, it is the column that has most of them.
    """
    named = [at for word in IDS for at, title in enumerate(titles) if title == word]
    named += [at for at in _name_columns(titles) if at not in named]
    named = [at for at in named if at not in taken]
    free = [at for at in range(len(titles)) if at not in taken]
    if known and free:
        hits = {at: sum(compared(_cell(row, at)) in known for row in table.rows) for at in free}
        best = max([*named, *free], key=lambda at: hits[at])
        if hits[best]:
            return best, f"students by {show(table.header[best].strip())}"
    if named:
        return named[0], f"students by {show(table.header[named[0]].strip())}"
    if free:
        return free[
            0
        ], f"students by the first other column, {show(table.header[free[0]].strip())}"
    raise InputError(Fault("header", "no column says whose the answers are", "name one student"))


def _name_columns(titles: Sequence[str]) -> list[int]:
    return [at for at, title in enumerate(titles) if title in NAMES]


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
