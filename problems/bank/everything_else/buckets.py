"""Topic C, everything else: buckets of communication."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import MB
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.wording import billions, gb, number, paper, short
from problems.wrong_sizes import wrong_size

# Bucket elements, in millions.
SMALLEST, LARGEST, STEP = 20, 1200, 5
# DeepSpeed's guide to ZeRO-2: with overlap_comm its two buckets take 4.5 times their size.
OVERLAP = Fraction(9, 2)
BYTES = {"16-bit": 2, "fp32": 4}


@kind_at_levels(
    name="communication-buckets",
    topic="C",
    levels=("mid", "senior"),
    title="Buckets of communication",
    sources=(
        "Hugging Face DeepSpeed guide, ZeRO-2 section",
        "deepspeedai/DeepSpeed runtime/zero/stage_1_and_2.py",
    ),
)
def communication_buckets(draw: Draw, level: Level) -> Draft:
    """Ask for the bytes of two buckets, plain or with overlapped communication."""
    word = draw.choice(tuple(BYTES))
    reduce, gather = (MB * STEP * draw.between(SMALLEST // STEP, LARGEST // STEP) for _ in "ab")
    times = OVERLAP if level == "senior" else Fraction(1)
    elements = reduce + gather
    size = held(elements, BYTES[word], times)
    return one_size(
        prompt=_prompt(reduce, gather, word, times),
        size=size,
        hints=(
            "A bucket is a buffer of so many elements that stays allocated, whatever the model.",
            f"The two have {billions(elements)} billion elements of {BYTES[word]} bytes.",
            (
                f"With overlap that is held {short(times)} times."
                if times > 1
                else "Each of the two is held once, whatever the model."
            ),
        ),
        on_paper=_on_paper(elements, word, times, size),
        exact=(
            f"reduce bucket: {number(reduce)} × {BYTES[word]} = {gb(reduce * BYTES[word])}",
            f"all-gather bucket: {number(gather)} × {BYTES[word]} = {gb(gather * BYTES[word])}",
        ),
        mistakes=_mistakes(reduce, gather, word, size, times),
    )


def held(elements: int, each: int, times: Fraction = OVERLAP) -> int:
    """Return the bytes of buckets of so many elements that are held so many times."""
    return int(times * elements * each)


def _prompt(reduce: int, gather: int, word: str, times: Fraction) -> str:
    held = (
        f"Communication overlaps the backward pass, and the two buckets are then held "
        f"{short(times)} times: several are filled while others are sent."
        if times > 1
        else "Communication does not overlap the backward pass, and each bucket is held once."
    )
    return (
        f"A run under DeepSpeed's ZeRO-2 has a reduce bucket of {number(reduce)} elements and an "
        f"all-gather bucket of {number(gather)} elements, both {word}. {held}\n"
        "How much do the buckets take on each GPU?"
    )


def _on_paper(elements: int, word: str, times: Fraction, size: int) -> Iterator[str]:
    once = paper(elements * BYTES[word])
    yield f"{billions(elements)} billion elements × {BYTES[word]} bytes = {once}"
    if times > 1:
        yield f"× {short(times)} = {paper(size)}"


def _mistakes(
    reduce: int, gather: int, word: str, size: int, times: Fraction
) -> Iterator[Mistake]:
    why = "counts elements; {off} more with their bytes."
    yield wrong_size(Fraction(size, BYTES[word]), size, "elements taken for bytes", why)
    why = "is the reduce bucket alone; the other one adds {off}."
    share = Fraction(reduce, reduce + gather)
    yield wrong_size(share * size, size, "one bucket forgotten", why)
    if times > 1:
        why = f"has each bucket once; overlap holds them {short(times)} times, {{off}} more."
        yield wrong_size(size / times, size, "overlap forgotten", why)
    else:
        why = f"holds them {short(OVERLAP)} times, as overlap does: {{off}} too many."
        yield wrong_size(size * OVERLAP, size, "overlap counted", why)
    factor = Fraction(4, BYTES[word]) if word == "16-bit" else Fraction(1, 2)
    other = "fp32" if word == "16-bit" else "16-bit"
    sign = "less" if word == "16-bit" else "more"
    why = f"has {other} elements; here they are {word}, {{off}} {sign}."
    yield wrong_size(
        size * factor, size, f"buckets in {'32' if other == 'fp32' else '16'} bits", why
    )
