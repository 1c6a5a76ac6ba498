"""How a problem reads: nothing left over of its making, whole sentences, no more than is read."""

import re
from collections.abc import Iterator

from problems.check.rule import Flaw, each_problem
from problems.check.texts import cut, texts
from problems.problem import Problem

LEFT_OVER = re.compile(r"[{}]|%\}|\bNone\b|\bFraction\b|\bnan\b|  | ,| \.(?!\d)")
# What is read twice or disagrees: "7 = 7", "1 layers", "- 0 ×", a sum of nothing.
TWICE = re.compile(
    r"(?<![\w.,/])(?<!× )(?<!\+ )([\d.]+) = \1(?![.,\d])"
    r"|(?<![\d.,])1 (?:bytes|sequences|GPUs|layers)\b"
    r"|- 0 ×|\b1 × 1 =|is nothing|apart\."
)
# (place, fewest characters, most characters)
LENGTHS = (("prompt", 150, 1350), ("hint", 21, 500), ("step", 1, 260), ("mistake", 20, 320))
STEPS = (3, 20)
# A person reads about 15 characters of such a text in a second, and a page more slowly than a
# line: two minutes are the most that a question of some minutes can spend on being read.
CHARACTERS_A_SECOND, LONGEST_READING = 15, 150


@each_problem("left-over")
def nothing_is_left_of_the_making(problem: Problem) -> Iterator[Flaw]:
    """No mark of a template, no Python value, no blank too many is left in a text."""
    for where, text in texts(problem):
        if found := LEFT_OVER.search(text):
            near = text[max(found.start() - 20, 0) : found.end() + 20]
            yield Flaw(where, f"{found[0]!r} in {cut(near)}", "write what is meant in its place")


@each_problem("sentences")
def prompts_are_sentences(problem: Problem) -> Iterator[Flaw]:
    """Each line of a prompt begins with a capital or a digit and ends with a stop."""
    for line in problem.prompt.splitlines() or [""]:
        if not re.match(r"[A-Z0-9]", line):
            yield Flaw("prompt", f"{cut(line)} begins small", "begin with a capital or a digit")
        if not line.endswith((".", "?")):
            yield Flaw("prompt", f"{cut(line[-40:])} has no stop", "end it with . or ?")


@each_problem("said-twice")
def nothing_is_said_twice(problem: Problem) -> Iterator[Flaw]:
    """Sums say something and nouns agree with their number."""
    for where, text in texts(problem):
        if found := TWICE.search(text):
            near = text[max(found.start() - 20, 0) : found.end() + 20]
            yield Flaw(where, f"{found[0]!r} in {cut(near)}", "leave it out, or mend the noun")


@each_problem("length")
def texts_are_of_readable_length(problem: Problem) -> Iterator[Flaw]:
    """Prompts, hints, steps and feedback are neither scraps nor pages."""
    for where, text in texts(problem):
        for place, fewest, most in LENGTHS:
            if where.startswith(place) and not fewest <= len(text) <= most:
                what = f"{len(text)} characters, not {fewest} to {most}: {cut(text)}"
                yield Flaw(where, what, "say more" if len(text) < fewest else "say less")
    fewest, most = STEPS
    if not fewest <= len(problem.solution) <= most:
        what = f"{len(problem.solution)} steps, not {fewest} to {most}"
        yield Flaw("solution", what, "make it steps that one can follow")


@each_problem("reading")
def a_question_is_read_in_time(problem: Problem) -> Iterator[Flaw]:
    """Prompt and exhibit are read in two and a half minutes."""
    seconds = (len(problem.prompt) + len(problem.exhibit)) // CHARACTERS_A_SECOND
    if seconds > LONGEST_READING:
        what = f"takes {seconds} s to read, more than {LONGEST_READING} s"
        yield Flaw("prompt and exhibit", what, "leave out what the answer does not need")
