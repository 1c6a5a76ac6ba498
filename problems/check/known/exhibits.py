"""What is shown beneath a prompt as it stands: it fits a terminal and hides nothing."""

import re
from collections.abc import Iterator

from problems.check.rule import Flaw, each_problem
from problems.check.texts import cut
from problems.exhibits import WIDEST
from problems.problem import Problem

MOST_LINES = 40


@each_problem("exhibit")
def exhibits_fit_a_terminal(problem: Problem) -> Iterator[Flaw]:
    """An exhibit has at most 40 lines of at most 77 columns, without blanks at their ends."""
    lines = problem.exhibit.split("\n") if problem.exhibit else []
    if len(lines) > MOST_LINES:
        yield Flaw("exhibit", f"{len(lines)} lines, more than {MOST_LINES}", "cut it with …")
    for number, line in enumerate(lines, 1):
        where = f"exhibit line {number}"
        if len(line) > WIDEST:
            yield Flaw(where, f"{len(line)} columns, more than {WIDEST}", "cut or break it")
        if line != line.rstrip():
            yield Flaw(where, f"{cut(line[-20:])} ends in blanks", "strip it")
        if re.search(r"[\x00-\x1f\x7f]", line):
            yield Flaw(where, "has a control character", "write blanks in the place of tabs")
