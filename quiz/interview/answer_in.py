"""The answer that a typed line is, or comes to, marked; or why none is read in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import final

from engine.units import GB
from problems.answers.choice import ChoiceAnswer
from problems.answers.ranking import RankingAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.interview.script import Question
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.interview.asides import Asked, asked, is_of_part, leads_to_part, names_part
from quiz.interview.clauses_told import one_clause, sum_told
from quiz.interview.picks_told import order_texts, picked
from quiz.interview.plausible import OF_ALL, in_thousands, is_assigned, is_odd, is_too_much
from quiz.interview.told_at_last import Told, concluded, fallen, saving_told, told_at_last
from quiz.interview.verdicts_told import (
    ANOTHER_CARD,
    DIFFERENCE,
    tidied,
    verdict_told,
    without_card,
)
from quiz.marking.registry import marker_of
from quiz.marking.verdict import Verdict

OF_A_PART = "this is of a part; type what is asked for"
ELSE = "this is of something else; type what is asked for"
NOT_ITS_OWN = "this is added to an answer, or of another case"
NO_UNIT = "that would be no likely size; type it with its unit"
FROM_TO = "this says from what to what; type the difference"
CHANGED = re.compile(
    r"^.*?\bfrom\s+(?:about\s+|~\s*)?(?P<first>\d+(?:\.\d+)?)\s*(?:GB)?\s*to\s+"
    r"(?P<then>(?:about\s+|~\s*)?\d+(?:\.\d+)?\s*(?:[kmgt]i?b)?)[\s.!]*$",
    re.IGNORECASE,
)
# A figure that is so near to an earlier one is that one, rounded.
NEAR = Fraction(3, 100)
SAME = re.compile(
    r"\b(?:same|unchanged|no change|(?:does|do) ?(?:n'?t|not) change|as before|stays|constant)\b",
    re.IGNORECASE,
)
NOT_SAME = re.compile(
    r"\d|\?|\b(?:but|except|plus|not the same|minus|more|less)\b|\+", re.IGNORECASE
)
SHORT = 60
# Of a longer line the end is read, and so many of its ends.
LONGEST, MOST = 400, 40
# Once an answer stands these do not replace it: another case, and what is added to it.
ANOTHER_CASE = re.compile(
    r"\bif (?!i\b|my\b)|\bin case\b|\bcompared (?:to|with)\b|\bunless\b", re.IGNORECASE
)
WITH = re.compile(
    r"\b(?:with|after|once|when|under|without)\b(?! (?:room|plenty|ease))", re.IGNORECASE
)
ADDED = re.compile(
    r"^\s*(?:\+|(?:and |then )?(?:plus|another|add|minus)\b)[^=]*$|"
    r"\d\s*(?:[kmgt]i?b)?\s*(?:more|extra|on top|less|additional)[\s.!]*$",
    re.IGNORECASE,
)
CORRECTS = re.compile(
    r"\b(?:actually|ac(?:tu|ut)ally|sorry|wait|make that|correction|i mean|rather)\b",
    re.IGNORECASE,
)
# What the reader of numbers says where it left words out.
PASSED_OVER = "the words beside the number were passed over"


@dataclass(frozen=True, kw_only=True)
class Before:
    """What was answered before.

    Args:
        here: to the same question, None where nothing was.
        equal: the candidate's own number that this one equals where nothing changes.
        earlier: own numbers that this one follows from.
    """

    here: Verdict | None = None
    equal: Fraction | None = None
    earlier: tuple[Fraction, ...] = ()


def answer_in(question: Question, line: str, before: Before) -> Verdict | Unreadable:
    """Mark a line, or the answer that is in it.

    Args:
        question: one that has a problem.
        line: as typed.
        before: what was answered before.
    """
    if question.problem is None:
        raise ValueError(question.key)
    return _Reader(question, question.problem, before).answer(line)


@final
class _Reader:
    def __init__(self, question: Question, problem: Problem, before: Before) -> None:
        self._question = question
        self._problem = problem
        self._before = before
        self._of: Asked = asked(question, before.equal)

    def answer(self, line: str) -> Verdict | Unreadable:
        """Return the mark of a line, read by what its question asks for."""
        whole = self._graded(line)
        line = line[-LONGEST:]
        if self._is_beside(line):
            return Unreadable(offset=0, reason=NOT_ITS_OWN)
        match self._problem.answer:
            case ChoiceAnswer():
                read = whole if isinstance(whole, Verdict) else self._pick(line)
            case RankingAnswer():
                read = whole if isinstance(whole, Verdict) else self._order(line)
            case YesNoAnswer():
                read = self._yes_no(line, whole)
            case answer if answer.parts or answer.number is None:
                ends = (self._graded(told.text) for told in islice(told_at_last(line), MOST))
                read = next((one for one in (whole, *ends) if isinstance(one, Verdict)), None)
            case _:
                return self._number(line, whole)
        return read if read is not None else _why(whole)

    def _is_beside(self, line: str) -> bool:
        """Say whether a line with a figure speaks beside the answer that stands."""
        if self._before.here is None or self._problem.answer.number is None:
            return False
        if CORRECTS.search(line) or not re.search(r"\d", line):
            return False
        is_saving = self._question.aspect == "prediction"
        added = ADDED.search(line) is not None and not is_saving
        return added or ANOTHER_CASE.search(line) is not None

    def _number(self, line: str, whole: Verdict | Unreadable) -> Verdict | Unreadable:
        compared = without_card(line, self._of) if "peak" in self._of.key else line
        found = self._of_line(tidied(compared) if compared != line else line)
        if found is not None:
            return found
        if self._falls(line) and isinstance(whole, Verdict):
            return Unreadable(offset=0, reason=FROM_TO)
        if isinstance(whole, Verdict):
            is_part = self._is_part_alone(line) or names_part(line, self._of)
            return Unreadable(offset=0, reason=OF_A_PART if is_part else NO_UNIT)
        return whole

    def _of_line(self, line: str, lead: str = "") -> Verdict | None:
        """Return the number that a line is or comes to, behind a verdict if there is one."""
        if risen := self._risen(line):
            return self._read(risen, lead, line)
        ends = concluded(line, arrows=not self._falls(line))
        end = next(self._ends(ends, lead, line), None)
        if end is not None:
            return end
        if not self._falls(line) and not self._is_part_alone(line):
            whole = self._read(line, lead, line)
            if whole is not None:
                return whole
        told = saving_told if self._question.aspect == "prediction" else told_at_last
        end = next(self._ends(told(line), lead, line), None)
        if end is not None:
            return end
        if self._falls(line):
            return self._read(fallen(line) or "", lead, line)
        clause = one_clause(line, lambda text: self._read(text, lead, line), self._of)
        if clause is None and (summed := sum_told(line)):
            clause = self._read(summed, lead, line)
        return clause or self._same(line, lead)

    def _ends(self, ends: Iterator[Told], lead: str, line: str) -> Iterator[Verdict]:
        for one in islice(ends, MOST):
            if is_of_part(one.within, self._of):
                continue
            if leads_to_part(one.before, one.sign, self._of):
                continue
            if one.sign == "=" and is_assigned(one.before, one.text, self._of):
                continue
            read = self._read(one.text, lead, line)
            if read is not None:
                yield read

    def _risen(self, line: str) -> str | None:
        """Return what an earlier number of the candidate's own becomes: "from 20 to 40"."""
        found = CHANGED.match(line)
        if found is None or self._question.aspect == "prediction":
            return None
        first = Fraction(found["first"]) * GB
        near = any(abs(first - one) <= NEAR * one for one in self._before.earlier)
        return found["then"] if near else None

    def _falls(self, line: str) -> bool:
        return self._question.aspect == "prediction" and fallen(line) is not None

    def _is_part_alone(self, line: str) -> bool:
        if "=" in line:
            left, _, right = line.rpartition("=")
            return is_of_part(right, self._of) or leads_to_part(left, "=", self._of)
        return is_of_part(line, self._of)

    def _read(self, text: str, lead: str, line: str) -> Verdict | None:
        """Return the mark of a text where it is a number that a person would mean."""
        if self._falls(text) or is_odd(text, self._of):
            return None
        text = OF_ALL.sub(r"\1", text)
        read = self._graded(lead + in_thousands(text, self._of))
        if not isinstance(read, Verdict):
            return None
        value = read.parsed["number"] if isinstance(read.parsed, dict) else read.parsed
        if isinstance(value, Fraction) and is_too_much(value, text, line, read.remarks, self._of):
            return None
        if PASSED_OVER in read.remarks and names_part(text, self._of):
            return None
        return read

    def _same(self, line: str, lead: str) -> Verdict | None:
        """Return the number of before where a line says that it is the same, and no more."""
        own = self._before.equal
        if own is None or len(line) > SHORT or not SAME.search(line) or NOT_SAME.search(line):
            return None
        read = self._graded(f"{lead}{float(own / GB):.9g} GB")
        return read if isinstance(read, Verdict) else None

    def _yes_no(self, line: str, whole: Verdict | Unreadable) -> Verdict | None:
        """Return the mark of a verdict with its number, of it alone, or of its number."""
        is_apart = self._is_part_alone(line) or self._is_difference(line)
        is_apart = is_apart or ANOTHER_CARD.search(line) is not None
        compared = without_card(line, self._of) != line
        ends = any(re.search(r"\d", one.text) for one in concluded(line))
        is_whole = not (is_apart or compared or ends)
        told = verdict_told(line)
        if isinstance(whole, Verdict) and _has_number(whole) and is_whole:
            said = "yes" if _is_yes(whole) else "no"
            if told is None or told.says in {said, "tight"}:
                return whole
        if told is None or told.says == "tight":
            return self._number_later(line, whole)
        rest = tidied(without_card(told.rest, self._of))
        if re.search(r"\d", rest) and not self._is_difference(line):
            read = self._of_line(rest, f"{told.says}, ")
            if read is not None and _has_number(read):
                return read
        return self._alone(grade(self._problem, told.says)) if len(line) <= SHORT else None

    def _is_difference(self, line: str) -> bool:
        """Say whether what is over or left stands where the peak is asked for."""
        answer = self._problem.answer
        is_asked = isinstance(answer, YesNoAnswer) and answer.difference
        return not is_asked and DIFFERENCE.search(line) is not None

    def _alone(self, verdict: Verdict | Unreadable) -> Verdict | None:
        """Return a verdict without a number, but not where the same was said with one."""
        here = self._before.here
        if not isinstance(verdict, Verdict) or _has_number(verdict):
            return None
        if here is not None and _has_number(here) and _is_yes(here) == _is_yes(verdict):
            return None
        return verdict

    def _number_later(self, line: str, whole: Verdict | Unreadable) -> Verdict | None:
        """Return the mark of a number that is typed behind its verdict, or in place of another."""
        here = self._before.here
        if isinstance(whole, Verdict):
            return self._alone(whole)
        if here is None:
            ends = (self._graded(told.text) for told in islice(told_at_last(line), MOST))
            return next((end for end in ends if isinstance(end, Verdict)), None)
        return self._of_line(line, f"{'yes' if _is_yes(here) else 'no'}, ")

    def _pick(self, line: str) -> Verdict | None:
        answer = self._problem.answer
        if not isinstance(answer, ChoiceAnswer):
            return None

        def key_of(text: str) -> str | None:
            read = self._graded(text)
            match read.parsed if isinstance(read, Verdict) else None:
                case ((str(key),),):
                    return key
                case _:
                    return None

        again = self._before.here is not None and not CORRECTS.search(line)
        if again and WITH.search(line):
            return None
        key = picked(line, answer.items, key_of, alone=again)
        read = None if key is None else self._graded(key)
        return read if isinstance(read, Verdict) else None

    def _order(self, line: str) -> Verdict | None:
        answer = self._problem.answer
        grows = isinstance(answer, RankingAnswer) and answer.first in {"cheapest", "smallest"}
        texts = order_texts(line, grows=grows)
        ends = (told.text for told in islice(told_at_last(line), MOST))
        reads = (self._graded(text) for text in (*texts, *ends))
        return next((one for one in reads if isinstance(one, Verdict)), None)

    def _graded(self, line: str) -> Verdict | Unreadable:
        """Mark a text, behind half of an answer if one was typed before and a half is missing."""
        halves, before = marker_of(self._problem.answer).halves, self._before.here
        if halves and before and halves.lacks(before):
            lead = halves.lead(before.answer, line)
            joined = lead if isinstance(lead, Unreadable) else grade(self._problem, lead + line)
            if isinstance(joined, Verdict):
                return joined
        return grade(self._problem, line)


def _has_number(verdict: Verdict) -> bool:
    parsed = verdict.parsed
    return not isinstance(parsed, dict) or parsed.get("number") is not None


def _is_yes(verdict: Verdict) -> bool:
    return isinstance(verdict.parsed, dict) and bool(verdict.parsed.get("yes"))


def _why(whole: Verdict | Unreadable) -> Unreadable:
    if isinstance(whole, Unreadable):
        return whole
    return Unreadable(offset=0, reason=ELSE)
