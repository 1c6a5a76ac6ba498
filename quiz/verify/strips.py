"""A step's timeline cut into strips, each drawn as one bar: its highest moment by category."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.ledger import Phase
from engine.verify.timeline import Mark, Sample, Timeline

BACKWARD = "backward"


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A part of a step in which one phase runs.

    Attributes:
        label: the phase, or "backward" between its first and its last layer.
        micro_batch: from 1, with the reduction that ends it; 0 behind all of them. Two run at
            most: the later ones would repeat what the second does.
        events: the numbers of events after which its moments lie.
    """

    label: str
    micro_batch: int
    events: range


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A part of a stretch and its highest moment."""

    stretch: Stretch
    sample: Sample


def stretches(timeline: Timeline) -> tuple[Stretch, ...]:
    """Return the stretches of the last step, in order."""
    return tuple(_stretches(timeline))


def _stretches(timeline: Timeline) -> Iterator[Stretch]:
    number, before = 0, None
    for mark, end in _ends(timeline):
        if mark.phase is Phase.FORWARD:
            number += 1
        batch = 0 if mark.phase is Phase.STEP else number
        # Behind the backward pass and the step, only what they leave is dropped.
        if mark.phase or before is Phase.BACKWARD_FIRST:
            label = str(mark.phase or BACKWARD)
            yield Stretch(label=label, micro_batch=batch, events=range(mark.at, end + 1))
        before = mark.phase


def _ends(timeline: Timeline) -> Iterator[tuple[Mark, int]]:
    following = [mark.at for mark in timeline.marks[1:]] + [len(timeline.events)]
    for mark, end in zip(timeline.marks, following, strict=True):
        if mark.step == timeline.last_step:
            yield mark, end


def strips(timeline: Timeline, parts: Sequence[Stretch], number: int) -> tuple[Strip, ...]:
    """Return about `number` strips: one for each part, and the rest by how much happens in it."""
    spare = max(0, number - len(parts))
    length = max(1, sum(len(part.events) for part in parts))
    cut = [piece for part in parts for piece in _cut(part, 1 + spare * len(part.events) // length)]
    samples = timeline.samples([piece.events for piece in cut])
    return tuple(
        Strip(stretch=piece, sample=sample) for piece, sample in zip(cut, samples, strict=True)
    )


def _cut(part: Stretch, pieces: int) -> Iterator[Stretch]:
    begin, length = part.events.start, len(part.events)
    pieces = min(pieces, length)
    for place in range(pieces):
        start, stop = (begin + length * edge // pieces for edge in (place, place + 1))
        yield replace(part, events=range(start, stop))
