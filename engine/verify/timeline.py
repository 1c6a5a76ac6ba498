"""What a step allocated and released, in order, and the peak of each phase read from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.ledger import Category, Phase


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """One storage that lived during the run.

    Attributes:
        size: bytes of its block, while it was not empty.
        requested: bytes of the storage itself.
        shape: of the tensor that it was made for.
        dtype: of that tensor, as torch names it without its module.
        operator: what made it.
        module: dotted path of the module that ran; empty outside the model.
        backward: whether it was made in a backward pass.
        category: the kind of memory.
    """

    size: int
    requested: int
    shape: tuple[int, ...]
    dtype: str
    operator: str
    module: str
    backward: bool
    category: Category


@dataclass(frozen=True, kw_only=True)
class Mark:
    """From the event numbered `at` on, `phase` of step `step` runs; None is between phases."""

    at: int
    step: int
    phase: Phase | None


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment of the run: the bytes alive when `events` events have happened.

    `last` is the number of the allocation that was made last; -1 where none was.
    """

    size: int
    events: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A moment and the bytes that are alive then in each category that has any."""

    moment: Moment
    categories: Mapping[Category, int]


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """All allocations of a run.

    Attributes:
        allocations: numbered by their place.
        events: allocation number and bytes, positive where allocated and negative where freed.
        marks: where phases begin, in order; step 0 is the first.
    """

    allocations: tuple[Allocation, ...]
    events: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...]

    @property
    def last_step(self) -> int:
        """The number of the last step, a steady one if there was more than one."""
        return self.marks[-1].step

    def peaks(self, step: int) -> Mapping[Phase, Moment]:
        """Return the moment of each phase of `step` at which most is alive; the earliest one."""
        peaks: dict[Phase, Moment] = {}
        for mark, moments in self._stretches(step):
            if mark.phase is None:
                continue
            best = max(moments, key=lambda moment: moment.size)
            if mark.phase not in peaks or best.size > peaks[mark.phase].size:
                peaks[mark.phase] = best
        return {phase: peaks[phase] for phase in Phase if phase in peaks}

    def _stretches(self, step: int) -> Iterator[tuple[Mark, list[Moment]]]:
        for mark, following in zip(self.marks, (*self.marks[1:], None), strict=True):
            if mark.step == step:
                end = following.at if following else len(self.events)
                yield mark, [self._moments[number] for number in range(mark.at, end + 1)]

    @cached_property
    def _moments(self) -> tuple[Moment, ...]:
        moments, size, last = [Moment(size=0, events=0, last=-1)], 0, -1
        for number, (allocation, change) in enumerate(self.events, start=1):
            size += change
            last = allocation if change > 0 else last
            moments.append(Moment(size=size, events=number, last=last))
        return tuple(moments)

    def span(self, step: int) -> range:
        """Return the numbers of events after which a moment of `step` lies."""
        numbers = [mark.at for mark in self.marks if mark.step == step]
        after = [mark.at for mark in self.marks if mark.step > step]
        return range(numbers[0], (min(after) if after else len(self.events)) + 1)

    def at(self, events: int) -> Moment:
        """Return the moment when `events` events have happened."""
        return self._moments[events]

    @property
    def requests(self) -> Iterator[tuple[int, int]]:
        """What an allocator is asked for: an allocation's number and its bytes, 0 to free it."""
        return (
            (number, max(0, change)) for number, change in map(self.events.__getitem__, self.asked)
        )

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The events that an allocator sees.

        What comes and goes before the first step is left out: it is the model before it is
        sharded, which a real run builds on the meta device or on the CPU.
        """
        begin = self.marks[0].at if self.marks else 0
        kept: dict[int, int] = {}
        for number, (allocation, change) in enumerate(self.events[:begin]):
            if change > 0:
                kept[allocation] = number
            else:
                kept.pop(allocation, None)
        return (*sorted(kept.values()), *range(begin, len(self.events)))

    def alive(self, events: int) -> Mapping[int, int]:
        """Return the bytes of each allocation that is alive when `events` events have happened."""
        alive: dict[int, int] = {}
        for allocation, change in self.events[:events]:
            size = alive.pop(allocation, 0) + change
            if size:
                alive[allocation] = size
        return alive

    def by_category(self, events: int) -> Mapping[Category, int]:
        """Return the bytes alive in each category when `events` events have happened."""
        totals = dict.fromkeys(Category, 0)
        for allocation, size in self.alive(events).items():
            totals[self.allocations[allocation].category] += size
        return {category: size for category, size in totals.items() if size}

    def samples(self, stretches: Sequence[range]) -> tuple[Sample, ...]:
        """Return the highest moment of each stretch, the earliest of several.

        One pass over the events, however many stretches there are.

        Args:
            stretches: numbers of events after which a moment lies; none is empty, and each begins
                no earlier than the one before it ends.
        """
        samples, totals, done = [], dict.fromkeys(Category, 0), 0
        for stretch in stretches:
            highest = max((self._moments[n] for n in stretch), key=lambda moment: moment.size)
            for allocation, change in self.events[done : highest.events]:
                totals[self.allocations[allocation].category] += change
            done = highest.events
            alive = {category: size for category, size in totals.items() if size}
            samples.append(Sample(moment=highest, categories=alive))
        return tuple(samples)
