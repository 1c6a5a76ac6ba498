"""An interview that was held, read again: its questions and lines, each line behind its time."""

from collections.abc import Iterable, Iterator

from quiz.interview.events import Back, Left
from quiz.interview.scorecard_words import clock
from quiz.interview.sitting import Sitting, respond


def replay(sitting: Sitting, lines: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Yield the dialogue, paragraph by paragraph.

    Args:
        sitting: the interview at its beginning.
        lines: (seconds, line), in their order.
    """
    interview = sitting.interview
    yield interview.opening
    yield from _asked(sitting)
    time = 0.0
    for seconds, line in lines:
        if sitting.finished:
            return
        before = sum(one.seconds for one in sitting.exchanges)
        sitting, event = respond(sitting, line, seconds)
        time += sum(one.seconds for one in sitting.exchanges) - before
        yield f"{clock(time):>6} > {line}".rstrip()
        if isinstance(event, Left | Back) and not sitting.finished:
            yield from _asked(sitting)


def _asked(sitting: Sitting) -> Iterator[str]:
    part = sitting.interview.parts[sitting.part_of(sitting.position)]
    yield ""
    yield f"{part.title}: {sitting.question.says}"
