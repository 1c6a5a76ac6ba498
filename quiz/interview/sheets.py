"""The sheets of an interview of two: one for the candidate, one for the interviewer."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import PurePosixPath

from engine.architecture import Architecture
from engine.units import both
from problems.interview.script import Interview, Part, Point, Question
from quiz.interview import writing
from quiz.interview.answers_told import accepted, right, wrong_answers
from quiz.interview.document import (
    Block,
    Document,
    Exhibit,
    Grid,
    Points,
    Say,
    Section,
    Space,
    Typed,
)
from quiz.interview.marking import expects
from quiz.interview.questions_said import heading
from quiz.output.scenario_words import headline

CANDIDATE, INTERVIEWER = "candidate", "interviewer"
# Lines to write on for each question of a part.
LINES = 4
BOXES = ("☐ 0", "☐ half", "☐ full")
UNITS = (
    "GB is 10^9 bytes, GiB is 2^30 bytes, 7.4% more. Say which one is meant.",
    "K, M and B behind a number of parameters are 10^3, 10^6 and 10^9.",
    "32k tokens are 32 × 1,024.",
    "A bare number is taken as GB.",
)
MARKED = (
    "conditions: what is asked or assumed before the first number",
    "terms: the parts of a sum by name",
    "exclusions: what is not divided, and what is not in the number",
    "prediction: what a change saves, said before it is made",
    "number: within 15% where it is an estimate, within 2% where it can be counted",
)


def files(interview: Interview) -> Mapping[PurePosixPath, bytes]:
    """Return both sheets, each as a page and as Markdown."""
    documents = {CANDIDATE: candidate(interview), INTERVIEWER: interviewer(interview)}
    return {
        PurePosixPath(f"{name}{suffix}"): write(document).encode()
        for name, document in documents.items()
        for suffix, write in ((".html", writing.html), (".md", writing.markdown))
    }


def again(interview: Interview) -> str:
    """Return the options that give the same interview."""
    return f"--level {interview.level} --minutes {interview.minutes} --seed {interview.seed}"


def candidate(interview: Interview) -> Document:
    """Return the candidate's sheet: the question, what may be used, room for each part."""
    return Document(
        title="Mock interview: the candidate's sheet",
        about=(("time", f"{interview.minutes} minutes"), ("level", interview.level)),
        sections=(
            Section(title="The question", blocks=(Say(text=interview.opening, strong=True),)),
            Section(
                title="What may be used",
                blocks=(
                    Points(caption="Units", items=UNITS),
                    _card(interview),
                    _shape(interview.scenario.architecture),
                    Say(text="Paper and pen; no calculator is needed. Think aloud."),
                ),
            ),
            Section(
                title="What is marked, each by itself",
                blocks=(Points(caption="Five marks", items=MARKED),),
            ),
            *(_room(number, part) for number, part in enumerate(interview.parts, 1)),
        ),
    )


def _card(interview: Interview) -> Grid:
    gpu = interview.scenario.hardware.gpu
    rows = (
        ("memory as the driver reports it", f"{gpu.memory_mib:,} MiB = {both(gpu.memory)}"),
        ("16-bit peak, dense", f"{gpu.tflops_16bit:,g} TFLOP/s"),
        ("memory bandwidth", f"{gpu.bandwidth_gb_s:,g} GB/s"),
        (
            "to the GPUs of its node, each direction",
            f"{gpu.nvlink_gb_s:,g} GB/s" if gpu.nvlink_gb_s else "no link but PCIe",
        ),
        ("to the host, each direction", f"{gpu.pcie_gb_s:,g} GB/s"),
        ("to other nodes, each direction", f"{gpu.network_gb_s:,g} GB/s"),
        ("GPUs in a node", str(gpu.gpus_per_node)),
    )
    return Grid(caption=f"The card: {gpu.title}", head=("what", "how much"), rows=rows)


def _shape(shape: Architecture) -> Grid:
    mlp = "gated, three matrices" if shape.gated else "two matrices"
    rows = (
        ("layers", f"{shape.layers}"),
        ("hidden size", f"{shape.hidden:,}"),
        ("query heads, key-value heads", f"{shape.heads}, {shape.kv_heads}"),
        ("size of a head", f"{shape.head_dim}"),
        ("width of the MLP", f"{shape.ffn:,} ({mlp})"),
        ("vocabulary", f"{shape.vocab:,}"),
        ("head tied to the embedding", "yes" if shape.tied else "no"),
    )
    return Grid(caption="The model, as its configuration says", head=("what", "size"), rows=rows)


def _room(number: int, part: Part) -> Section:
    return Section(
        title=f"Part {number}: {part.title}",
        blocks=(
            Say(text=f"About {_minutes(part.minutes)}."),
            Space(lines=LINES * len(part.questions)),
        ),
    )


def _minutes(number: int) -> str:
    return f"{number} minute{'s' if number != 1 else ''}"


def interviewer(interview: Interview) -> Document:
    """Return the interviewer's sheet: the answers, what to listen for, space for marks."""
    return Document(
        title="Mock interview: the interviewer's sheet",
        about=(
            ("interview", f"{interview.id}, {interview.level}, {interview.minutes} minutes"),
            ("run", headline(interview.scenario)),
            ("second screen", f"memquiz interview --interviewer {again(interview)}"),
        ),
        command=f"memquiz interview {again(interview)}",
        sections=(
            Section(title="Schedule", blocks=(_schedule(interview), Say(text=HOW))),
            Section(
                title="To begin with",
                blocks=(
                    Typed(caption="Read aloud", lines=(interview.opening,)),
                    Typed(
                        caption="Tell what is asked for of this, and all of it before a number",
                        lines=tuple(interview.conditions.splitlines()),
                    ),
                ),
            ),
            *(_part(interview, number, part) for number, part in enumerate(interview.parts, 1)),
            Section(title="Rubric", blocks=(_rubric(interview), Space(lines=LINES))),
        ),
    )


HOW = (
    "Mark what was said, not how it was said. A number that follows from an earlier wrong one "
    "counts in full. A point that was made before it was asked for counts. Give a hint where a "
    "minute passes without a step, and note it. What is accepted for a quarter, or for a share of "
    "pairs, has no box: write it beside the boxes. On the second screen the typed answer earns it."
)


def _schedule(interview: Interview) -> Grid:
    ends = tuple(accumulate(part.minutes for part in interview.parts))
    rows = tuple(
        (
            f"{number} {part.title}",
            f"{end - part.minutes}:00 to {end}:00",
            str(part.minutes),
            str(len(part.questions)),
        )
        for number, (part, end) in enumerate(zip(interview.parts, ends, strict=True), 1)
    )
    return Grid(
        caption="When, and for how long",
        head=("part", "clock", "minutes", "questions"),
        rows=rows,
        numbers=frozenset({2, 3}),
    )


def _part(interview: Interview, number: int, part: Part) -> Section:
    return Section(
        title=f"Part {number}: {part.title}, {_minutes(part.minutes)}",
        sections=tuple(
            Section(
                title=f"{number}.{at} {heading(question)}",
                blocks=tuple(_question(interview, question)),
            )
            for at, question in enumerate(part.questions, 1)
        ),
    )


def _question(interview: Interview, question: Question) -> Iterator[Block]:
    if question.changes:
        yield Say(text=f"A follow-up. It changes: {question.changes}.")
    yield Typed(caption="Read aloud", lines=tuple(question.says.splitlines()))
    yield from _answer(question)
    if question.points:
        yield _listen(interview, question)
    yield from _ways(question)
    if question.problem and question.problem.hints:
        yield Points(caption="Hints to give", items=question.problem.hints, ordered=True)
    yield Points(caption="A stronger answer", items=(question.stronger,))
    yield Say(text=f"Mark for {question.aspect}: {'   '.join(BOXES)}")


def _answer(question: Question) -> Iterator[Block]:
    problem = question.problem
    if problem is None:
        return
    if problem.exhibit:
        yield Exhibit(caption="To show", text=problem.exhibit)
    yield Say(text=f"The answer: {right(problem.answer)}", strong=True)
    yield Points(caption="Accepted", items=accepted(problem.answer))
    for caption, depth in (("On paper", "whiteboard"), ("In full", "exact")):
        steps = tuple(step.text for step in problem.solution if step.depth == depth)
        if steps:
            yield Points(caption=caption, items=steps)
    wrong = tuple(wrong_answers(problem))
    if wrong:
        yield Grid(
            caption="Wrong answers, and what each means",
            head=("said", "mistake", "what it means"),
            rows=wrong,
        )


def _listen(interview: Interview, question: Question) -> Grid:
    return Grid(
        caption="What to listen for",
        head=("heard", "point", "expected"),
        rows=tuple(
            (f"☐ {number}", point.says, _expected(interview, point))
            for number, point in enumerate(question.points, 1)
        ),
    )


def _expected(interview: Interview, point: Point) -> str:
    return "yes" if expects(interview.level, point) else f"from {point.level} on: a plus"


def _ways(question: Question) -> Iterator[Block]:
    if question.reuses:
        yield Points(
            caption="How it follows from an earlier line (☐ used)",
            items=tuple(
                f"{one.question.replace('-', ' ')}: {one.says}" for one in question.reuses
            ),
        )


def _rubric(interview: Interview) -> Grid:
    return Grid(
        caption="Marks, each aspect by itself; the mark of an aspect is the mean of its rows",
        head=("question", "aspect", "0", "half", "full"),
        rows=tuple(
            (f"{number}.{at} {heading(question)}", question.aspect, "☐", "☐", "☐")
            for number, part in enumerate(interview.parts, 1)
            for at, question in enumerate(part.questions, 1)
        ),
    )
