"""Problems that ask for a number, of whatever type their answer is: by itself or as a proof."""

import re
from collections.abc import Iterator, Mapping

from problems.answers.answer import FULL_CREDIT, Answer, Number
from problems.answers.factor import FactorAnswer
from problems.answers.repair import RepairAnswer
from problems.check.rule import Flaw, each_problem
from problems.check.texts import other_end
from problems.check.written import written
from problems.problem import Problem

# Where the type of answer says what a bare number is.
OF_TYPE: Mapping[type[Answer], str] = {
    FactorAnswer: "plain factor",
    RepairAnswer: "a bare number has the unit that its step is shown in",
}
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


@each_problem("unit")
def prompts_state_the_unit_of_a_bare_number(problem: Problem) -> Iterator[Flaw]:
    """A prompt says what a number without a unit means."""
    asked = problem.answer.number
    if asked is None:
        return
    words = OF_TYPE.get(type(problem.answer)) or _unit(asked)
    if words not in problem.prompt:
        yield Flaw("prompt", "does not say what a bare number is", f'say "{words}"')


def _unit(asked: Number) -> str:
    if asked.unit == "s":
        return "The answer is in seconds"
    if asked.unit == "1":
        return "plain number"
    if asked.default_unit == "B":
        return "A bare number is in bytes"
    if asked.default_unit == "KiB":
        return "KiB is 2^10 bytes and the unit of a bare number"
    return f"{asked.default_unit} is 10^9 bytes and the unit of a bare number"


@each_problem("band")
def prompts_state_how_near_is_full_credit(problem: Problem) -> Iterator[Flaw]:
    """A prompt says within how many percent a number earns all of the credit."""
    asked = problem.answer.number
    if asked is None or isinstance(problem.answer, FactorAnswer):
        return
    words = f"full credit within {int(100 * FULL_CREDIT[asked.band])}%"
    if words not in problem.prompt:
        yield Flaw("prompt", "does not say how near is full credit", f'say "{words}"')


@each_problem("ends")
def solutions_end_with_the_answer(problem: Problem) -> Iterator[Flaw]:
    """The last step of a solution ends with the number that is asked for."""
    asked = problem.answer.number
    if asked is not None:
        yield from other_end(problem, *sorted(written(problem.answer)))


@each_problem("hints-tell")
def hints_do_not_give_the_number(problem: Problem) -> Iterator[Flaw]:
    """No hint has the number that is asked for."""
    asked = problem.answer.number
    if asked is None:
        return
    for place, hint in enumerate(problem.hints, 1):
        plain = asked.default_unit not in {"GB", "KiB", "s"}
        found = NUMBER.findall(re.sub(r"\d+-bit", "", hint)) if plain else hint
        if told := [said for said in written(problem.answer) if said in found]:
            yield Flaw(f"hint {place}", f"gives the answer, {told[0]}", "stop one step before it")


@each_problem("symbols")
def prompts_define_every_symbol(problem: Problem) -> Iterator[Flaw]:
    """Every symbol that an answer may use is a positive number and stands in the prompt."""
    asked = problem.answer.number
    for symbol, value in (asked.symbols if asked is not None else {}).items():
        if value <= 0:
            yield Flaw("answer", f"the symbol {symbol} is {value}", "give it a positive number")
        if not re.search(rf"\b{symbol} = ", problem.prompt):
            yield Flaw("prompt", f"does not say what {symbol} is", f'say "{symbol} = …"')
