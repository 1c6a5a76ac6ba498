"""The smallest tensor or pipeline split with which a run on Megatron-LM fits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.levers.splits import megatrons
from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from problems import scenarios
from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.splits_on_paper import Sums, is_clear, smallest
from problems.wording import bare_gb, gb, number, paper, short

Split = Literal["tensor", "pipeline"]

DEGREES: dict[Split, tuple[int, ...]] = {"tensor": (1, 2, 4, 8), "pipeline": (1, 2, 4, 8, 16)}
NOUNS: dict[Split, str] = {"tensor": "ranks", "pipeline": "stages"}
ROOMS = (80, 85, 90, 95)
# Percent of the runs in which it does not matter what becomes of the activations that are passed
# over.
PASSED_OVER = 80


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A run on Megatron-LM that is to be split so that its peak is within the room."""

    key: Split
    base: Scenario
    sums: Sums
    percent: int

    @property
    def room(self) -> int:
        """Bytes of a GPU that the step may take."""
        return self.base.hardware.gpu.memory * self.percent // 100

    def on_paper(self, degree: int) -> int:
        """Return the peak on paper."""
        return self.sums.tensor(degree) if self.key == "tensor" else self.sums.pipeline(degree)

    def of_a_slip(self, degree: int) -> int:
        """Return the peak with activations left whole by ranks, or divided by stages."""
        if self.key == "tensor":
            return self.sums.states(degree) + self.sums.activations + self.sums.logits
        return self.sums.last_stage(degree)

    def exact(self, degree: int) -> int:
        """Return the ledger's peak."""
        return ledger(self.split(degree)).peak

    def split(self, degree: int) -> Scenario:
        """Return the run at a degree.

        Raises:
            InputError: so many cannot share it.
        """
        parallel = self.base.parallel
        if degree > 1:
            parallel = replace(
                parallel,
                data=parallel.data // degree,
                tensor=degree if self.key == "tensor" else 1,
                pipeline=degree if self.key == "pipeline" else 1,
                sequence_parallel=self.key == "tensor",
            )
        return replace(self.base, parallel=parallel)

    @property
    def never(self) -> tuple[tuple[int, str], ...]:
        """Degrees up to the number of GPUs that cannot be, and why, each in one sentence."""
        return tuple(self._never())

    def _never(self) -> Iterator[tuple[int, str]]:
        for degree in range(2, self.base.parallel.data + 1):
            try:
                self.split(degree)
            except InputError as error:
                # GPUs that are left over are no matter of the model, and are told by `among`.
                what = (fault.what for fault in error.faults if "cannot share" in fault.what)
                said = next(what, "").replace(" ranks ", f" {NOUNS[self.key]} ", 1)
                yield from [(degree, said)] if said else []


def smallest_split(draw: Draw, key: Split) -> Draft | None:
    """Ask for the smallest degree of a split within a share of the card."""
    cut = _cut(draw, key)
    if cut is None:
        return None
    a, data = cut.base.architecture, cut.base.parallel.data
    size = a.kv_heads if key == "tensor" else a.layers
    degrees = tuple(n for n in DEGREES[key] if size % n == 0 and data % n == 0)
    sums = {degree: cut.on_paper(degree) for degree in degrees}
    right = smallest(degrees, sums.__getitem__, cut.room)
    passed_over = draw.chance(PASSED_OVER)
    if passed_over and smallest(degrees, cut.of_a_slip, cut.room) == right:
        return None
    if right < 2 or not is_clear(sums, right, cut.room):
        return None
    try:
        peaks = {degree: cut.exact(degree) for degree in (right // 2, right)}
    except InputError:
        return None
    if not is_clear(peaks, right, cut.room):
        return None
    mistakes = tuple(_split_mistakes(cut, degrees, right, peaks))
    return _split_draft(cut, right, peaks, mistakes)


def _cut(draw: Draw, key: Split) -> Cut | None:
    """Return a run whose states alone do not fit a GPU that holds all of them."""
    gpu = scenarios.gpu_for(draw, scenarios.MOST_RANKS[0])
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    a, percent = model.architecture, draw.choice(ROOMS)
    ranks, shares = draw.choice((16, 32, 64)), draw.chance(50)
    work = Workload(
        micro_batch=draw.choice((1, 1, 2, 4)),
        sequence=scenarios.sequence_for(draw, model, attention="flash"),
        gradient_accumulation=draw.choice((16, 32, 64)),
    )
    recompute = draw.choice(("none", "none", "full"))
    if scenarios.is_old(gpu) or work.micro_batch * work.sequence > scenarios.MOST_TOKENS:
        return None
    bare = Sums(shape=a, gpus=ranks, activations=0, logits=0, shares=shares)
    fewest = bare.states(DEGREES[key][-1])
    if not fewest < gpu.memory < 3 * bare.states(1):
        return None
    try:
        base = Scenario(
            model=model,
            implementation="megatron",
            workload=work,
            recipe=megatrons(Recipe(recompute=recompute)),
            parallel=Parallel(data=ranks, zero=int(shares)),
            hardware=Hardware(gpu=gpu, gpus=ranks),
        )
        book = ledger(base)
    except InputError:
        return None
    sums = replace(
        bare, activations=saved(book), logits=book.total(Category.LOGITS, phase=Phase.LOSS)
    )
    return Cut(key=key, base=base, sums=sums, percent=percent)


def _split_draft(
    cut: Cut, right: int, peaks: dict[int, int], mistakes: tuple[Mistake, ...]
) -> Draft:
    a = cut.base.architecture
    return Draft(
        prompt=render(
            "smallest-split",
            x=cut.base,
            key=cut.key,
            table=a.vocab * a.hidden,
            activations=paper(cut.sums.activations),
            logits=paper(cut.sums.logits),
            percent=cut.percent,
        ),
        answer=CountAnswer(
            value=right,
            noun=NOUNS[cut.key],
            among=_powers(cut.base.parallel.data),
            never=cut.never,
        ),
        hints=_split_hints(cut),
        solution=tuple(_split_steps(cut, right, peaks)),
        mistakes=mistakes,
        scenario=cut.base,
    )


def _powers(most: int) -> tuple[int, ...]:
    """Return the powers of 2 up to `most`."""
    return tuple(2**n for n in range(most.bit_length()))


def _split_hints(cut: Cut) -> tuple[str, str, str]:
    room = f"{cut.percent}% of {number(cut.base.hardware.gpu.memory_mib)} MiB is {gb(cut.room)}"
    whole = cut.on_paper(1)
    if cut.key == "tensor":
        second = "Every term is divided by the degree: states, what the layers save, logits."
        if cut.sums.shares:
            second += (
                " Not the 12 bytes: fewer ranks share a larger part of them, so that each GPU's "
                "share is the same."
            )
    else:
        second = (
            "The states of the layers are divided by the stages. The first stage, though, has as "
            "many micro-batches begun as there are stages, so what layers save stays."
        )
    return (
        f"The room first: {room}. Then see which terms the split divides.",
        second,
        f"Unsplit, it is {paper(whole)} on paper. Try 2, then 4, and so on.",
    )


def _split_steps(cut: Cut, right: int, peaks: dict[int, int]) -> Iterator[Step]:
    room = f"{cut.percent}% of {number(cut.base.hardware.gpu.memory_mib)} MiB = {paper(cut.room)}"
    yield Step(text=f"room: {room}", depth="whiteboard")
    if cut.key == "pipeline":
        why = "p micro-batches of 1/p of the layers are begun on the first stage: saved in all"
        yield Step(text=f"{why} {paper(cut.sums.activations)}", depth="whiteboard")
    for degree in (right // 2, right):
        than = "within" if cut.on_paper(degree) <= cut.room else "above"
        yield Step(text=f"{degree}: {_summed(cut, degree)}, {than} the room", depth="whiteboard")
    yield Step(text=f"the smallest that fits: {right}", depth="whiteboard")
    for degree, peak in peaks.items():
        yield Step(text=f"exactly, with {degree}: {gb(peak)} of {gb(cut.room)}")
    yield Step(text=f"so the smallest is {right}")


def _summed(cut: Cut, degree: int) -> str:
    """Return the sum on paper at a degree, of the stage that has most."""
    sums, each = cut.sums, short(cut.sums.each(degree))
    if cut.key == "tensor":
        states, saved_, logits = (
            bare_gb(size)
            for size in (sums.states(degree), sums.activations // degree, sums.logits // degree)
        )
        total = paper(sums.tensor(degree))
        return f"states {states} ({each} bytes), saved {saved_}, logits {logits}: {total}"
    states = bare_gb(sums.of_stage(degree))
    if sums.first_stage(degree) >= sums.last_stage(degree):
        total = paper(sums.first_stage(degree))
        said = f"states {states} ({each} bytes), saved {bare_gb(sums.activations)}"
        return f"first stage, {said}: {total}"
    parts = f"saved {bare_gb(sums.activations // degree)}, logits {bare_gb(sums.logits)}"
    total = paper(sums.last_stage(degree))
    return f"last stage, states {states} ({each} bytes), {parts}: {total}"


def _split_mistakes(
    cut: Cut, degrees: tuple[int, ...], right: int, peaks: dict[int, int]
) -> Iterator[Mistake]:
    sums = cut.sums
    value = smallest(degrees, cut.of_a_slip, cut.room)
    if cut.key == "tensor":
        why = "leaves activations and logits whole; with sequence parallelism they are split too."
        yield _counted(value, "activations left whole", why)
    else:
        size = gb(sums.activations)
        why = f"divides {size} by the stages; the first one has as many micro-batches begun."
        yield _counted(value, "activations divided by the stages", why)
    bare = replace(sums, activations=0, logits=0)
    states = smallest(degrees, replace(cut, sums=bare).on_paper, cut.room)
    yield _counted(
        states,
        "model states alone",
        f"is enough for the states alone; layers save {gb(sums.activations)} besides.",
    )
    room = gb(cut.room)
    half = f"is not enough: exactly it takes {gb(peaks[right // 2])} of {room}."
    yield _counted(right // 2, "half of what it takes", half)
    if 2 * right not in dict(cut.never):
        more = f"fits too, but {right} is enough, with {gb(peaks[right])} of {room}."
        yield _counted(2 * right, "twice of what it takes", more)


def _counted(value: int, name: str, why: str) -> Mistake:
    return Mistake(name=name, value=Fraction(value), feedback=f"{value} {why}")
