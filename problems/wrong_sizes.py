"""Wrong sizes that several questions have: what each comes to, and how far it is off."""

from collections.abc import Iterator
from fractions import Fraction

from engine.scenario import Workload
from problems.problem import Mistake
from problems.wording import all_of, gb


def wrong_size(value: Fraction | int, right: int, name: str, why: str) -> Mistake:
    """Return the mistake that gives `value` in the place of `right`.

    Args:
        value: the wrong number, in bytes.
        right: the right one.
        name: of the mistake.
        why: follows the wrong number, with a place for {off}, how far it is off.
    """
    off = gb(abs(Fraction(value) - right))
    return Mistake(name=name, value=Fraction(value), feedback=f"{gb(value)} {why.format(off=off)}")


def other_batches(size: int, work: Workload, gone: str) -> Iterator[Mistake]:
    """Yield one sequence for the micro-batch, and all accumulated micro-batches at once.

    Args:
        size: bytes that grow with the micro-batch.
        work: what one step processes.
        gone: why the micro-batches are not there together.
    """
    yield wrong_size(
        Fraction(size, work.micro_batch),
        size,
        "micro-batch forgotten",
        f"is one sequence; the micro-batch has {work.micro_batch}, {{off}} more.",
    )
    yield wrong_size(
        size * work.gradient_accumulation,
        size,
        "all accumulated micro-batches counted",
        f"counts {all_of(work.gradient_accumulation)} micro-batches; {gone}, so {{off}} are too "
        "many.",
    )
