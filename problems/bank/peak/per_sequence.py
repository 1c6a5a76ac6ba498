"""Topic D, the peak: what is fixed, what each sequence adds, and how many fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.scenario import Scenario
from problems import scenarios
from problems.answers.count import CountAnswer
from problems.answers.ledger import LedgerAnswer
from problems.answers.terms import Follows, Term
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.largest import divided, is_clear, wrong_sizes
from problems.on_paper import on_paper
from problems.peaks import Run, terms
from problems.problem import Mistake, Step
from problems.terms_asked import last_step, of_term, size_term
from problems.wording import gb, number, paper
from problems.wrong_ideas.applied import wrongs
from problems.wrong_sizes import wrong_size

EACH, FIXED, MOST = "per sequence", "fixed", "largest micro-batch"
ALIASES = {
    EACH: ("each sequence", "a sequence", "slope", "growth"),
    FIXED: ("constant", "intercept", "fixed part"),
    MOST: ("micro-batch", "largest batch", "largest", "batch", "n sequences"),
}
FEWEST_SEQUENCES, MOST_SEQUENCES = 2, 12
ROOMS = (70, 75, 80, 85, 90, 95)


def line_answer(each: int, fixed: int, room: int) -> LedgerAnswer:
    """Return what each sequence adds, what is fixed, and how many sequences fit into a room."""
    follows = Follows(how="fits", of=(EACH, FIXED), room=Fraction(room))
    most = follows.value({EACH: Fraction(each), FIXED: Fraction(fixed)})
    count = Term(
        name=MOST,
        aliases=ALIASES[MOST],
        answer=CountAnswer(value=int(most), noun="sequences"),
        follows=follows,
    )
    rows = (
        size_term(name, size, *ALIASES[name], band="estimate")
        for name, size in ((EACH, each), (FIXED, fixed))
    )
    return LedgerAnswer(terms=(*rows, count))


@kind(
    name="fixed-and-per-sequence",
    topic="D",
    level="senior",
    title="The peak as g·n + c for n sequences, and the largest micro-batch",
    sources=(
        "traced steps of PyTorch 2.13",
        "stanford-cs336/assignment1-basics",
    ),
)
def fixed_and_per_sequence(draw: Draw) -> Draft | None:
    """Ask for the slope and the constant of the peak over the micro-batch, and for the most."""
    base = scenarios.run(draw, low=25, high=90, most=MOST_SEQUENCES)
    if base is None:
        return None
    percent = draw.choice(ROOMS)
    room = base.hardware.gpu.memory * percent // 100
    line = line_of(base, room)
    return None if line is None else line.draft(percent)


def line_of(base: Scenario, room: int) -> "Line | None":
    """Return the peak as a line; None where its moment changes, or the border is not clear."""
    if not _may_be_clear(base, room):
        return None
    one, two = (Run(scenario=scenarios.with_micro_batch(base, many)) for many in (1, 2))
    each = two.ledger.peak - one.ledger.peak
    fixed = one.ledger.peak - each
    most = (room - fixed) // each if each > 0 else 0
    if not FEWEST_SEQUENCES <= most <= MOST_SEQUENCES or fixed <= 0:
        return None
    if not is_clear(room, fixed + most * each, fixed + (most + 1) * each, margin=20):
        return None
    run, above = (Run(scenario=scenarios.with_micro_batch(base, most + more)) for more in (0, 1))
    phases = {item.ledger.peak_phase for item in (one, two, run, above)}
    moments = {item.paper.moment.said for item in (one, two, run, above)}
    if len(phases) > 1 or len(moments) > 1:
        return None
    return Line(one=one, run=run, above=above, each=each, fixed=fixed, room=room)


def _may_be_clear(base: Scenario, room: int) -> bool:
    """Return whether on paper as few sequences fit as are asked about: ledgers take longer."""
    sums = on_paper(scenarios.with_micro_batch(base, 1))
    most = max((m for m in range(1, MOST_SEQUENCES + 2) if sums.peak_of(m) <= room), default=0)
    at = {sums.binding(many).said for many in (1, most + 1)}
    return FEWEST_SEQUENCES <= most <= MOST_SEQUENCES and len(at) == 1


@dataclass(frozen=True, kw_only=True)
class Line:
    """The peak of a step over its micro-batch.

    Args:
        one: the step with one sequence.
        run: the step with as many as fit.
        above: the step with one more.
        each: bytes that a sequence adds.
        fixed: bytes that are there whatever the micro-batch.
        room: bytes that the peak may take.
    """

    one: Run
    run: Run
    above: Run
    each: int
    fixed: int
    room: int

    @property
    def answer(self) -> LedgerAnswer:
        """The three numbers."""
        return line_answer(self.each, self.fixed, self.room)

    def draft(self, percent: int) -> Draft | None:
        """Return the draft; None where paper is too far from the ledger."""
        moment, answer = self.one.paper.moment, self.answer
        near = all(
            answer.terms[at].is_right(Fraction(size))
            for at, size in ((0, moment.growing), (1, moment.fixed))
        )
        if not near or divided(moment, self.room)[1] != answer.terms[2].answer.value:
            return None
        memory = self.run.scenario.hardware.gpu.memory_mib
        room_said = f"{percent}% of {number(memory)} MiB is {gb(self.room)}"
        return Draft(
            prompt=self.run.prompt(
                "fixed-and-per-sequence", ask_micro_batch=True, percent=percent
            ),
            answer=answer,
            hints=self._hints(room_said),
            solution=tuple(self._steps(room_said)),
            mistakes=tuple(self._mistakes(percent)),
            scenario=self.run.scenario,
        )

    def _hints(self, room_said: str) -> tuple[str, str, str]:
        moment = on_paper(self.one.scenario).moment
        growing = "; ".join(x.name for x in moment.amounts if x.tokens)
        fixed = "; ".join(x.name for x in moment.amounts if not x.tokens)
        return (
            (
                "Find the moment of the peak, and part what is alive there by one question: does "
                "it grow with the micro-batch?"
            ),
            (
                f"On paper the peak is at {moment.said}. With each sequence grow: {growing}. "
                f"Fixed are: {fixed}."
            ),
            f"The room: {room_said}. Take c from it, divide by g, and round down.",
        )

    def _steps(self, room_said: str) -> Iterator[Step]:
        moment = self.one.paper.moment
        yield Step(text=f"most is alive at {moment.said}:", depth="whiteboard")
        yield from terms(moment, one_sequence=True)
        yield Step(
            text=f"g = {paper(moment.growing)}, c = {paper(moment.fixed)}; room: {room_said}",
            depth="whiteboard",
        )
        yield Step(text=divided(moment, self.room)[0], depth="whiteboard")
        many = self.run.scenario.workload.micro_batch
        yield Step(text=f"peak with {many} sequences: {gb(self.run.ledger.peak)}")
        yield Step(text=f"peak with {many + 1}: {gb(self.above.ledger.peak)}, beyond the room")
        yield last_step(self.answer, "The rest of the difference is small lines and rounding")

    def _mistakes(self, percent: int) -> Iterator[Mistake]:
        yield from self._of_line()
        many = self.run.scenario.workload.micro_batch
        for count, name, why in wrong_sizes(self.run, self.above, percent, many):
            noun = "sequence" if count == 1 else "sequences"
            said = f"{count} {noun}: that {why}"
            yield from of_term(MOST, [Mistake(name=name, value=Fraction(count), feedback=said)])

    def _of_line(self) -> Iterator[Mistake]:
        """Yield what wrong ideas make of the slope and of what is fixed."""
        phase, many = self.run.ledger.peak_phase, self.run.scenario.workload.micro_batch
        of_above = wrongs(self.above, "size")
        for name, low in wrongs(self.run, "size").items():
            high = of_above.get(name)
            if high is None or phase not in low.phase_sizes or phase not in high.phase_sizes:
                continue
            each = high.phase_sizes[phase] - low.phase_sizes[phase]
            fixed = low.phase_sizes[phase] - many * each
            for term, size, right in ((EACH, each, self.each), (FIXED, fixed, self.fixed)):
                if size > 0 and size != right:
                    yield from of_term(term, [wrong_size(size, right, name, low.why)])
