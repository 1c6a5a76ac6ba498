"""Topic C, everything else: GB, GiB and MiB of one size."""

from collections.abc import Iterator
from fractions import Fraction

from engine.catalog import accelerators
from engine.units import GB, GIB, MB, MIB
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import card, number
from problems.wrong_sizes import wrong_size


@kind(
    name="units",
    topic="C",
    level="junior",
    title="GiB and MiB in GB",
    sources=("IEC 80000-13", "lone17.github.io, Memory usage for LLM training"),
)
def units(draw: Draw) -> Draft:
    """Ask for a size in GB that a log or a driver gives in GiB or MiB."""
    return draw.weighted(((_of_a_card, 3), (_of_a_log, 4), (_of_weights, 1)))(draw)


def _of_a_card(draw: Draw) -> Draft:
    gpu, used = draw.unlike(
        lambda: (draw.choice(tuple(accelerators().values())), draw.between(30, 99)),
        lambda figures: (figures[0].memory_mib, figures[1]),
    )
    mib = gpu.memory_mib * used // 100
    return one_size(
        prompt=(
            f"In nvidia-smi {number(mib)} MiB of {number(gpu.memory_mib)} MiB are in use on one "
            f"{card(gpu)}. You want to compare that with a sum of your own, which is in GB.\n"
            "How many GB are in use?"
        ),
        size=mib * MIB,
        hints=_hints("MiB", "2^20 bytes"),
        on_paper=(
            "a MiB is 2^20 bytes, 4.9% more than a MB",
            f"{number(mib)} MiB × 1.0486 MB = {mib * MIB / MB:,.0f} MB",
        ),
        exact=(f"{number(mib)} × 2^20 bytes",),
        mistakes=_of_mib(mib),
    )


def _of_a_log(draw: Draw) -> Draft:
    hundredths = draw.unlike(lambda: draw.between(120, 24000))
    size = GIB * hundredths // 100
    said = f"{hundredths / 100:,.2f} GiB"
    return one_size(
        prompt=(
            f"An allocator's message says that {said} are allocated. The sum on your paper is in "
            "GB.\nHow many GB are that?"
        ),
        size=size,
        hints=_hints("GiB", "2^30 bytes"),
        on_paper=(
            "a GiB is 2^30 bytes, 7.4% more than a GB",
            f"{said} × 1.074 = {size / GB:,.2f} GB",
        ),
        exact=(f"{hundredths / 100:,.2f} × 2^30 bytes",),
        mistakes=_of_gib(size),
    )


def _of_weights(draw: Draw) -> Draft:
    model, each = draw.unlike(
        lambda: (scenarios.any_model(draw), draw.between(2, 20)),
        lambda figures: (figures[0].name, figures[1]),
    )
    size = each * model.parameters
    gib = f"{size / GIB:,.2f} GiB"
    return one_size(
        prompt=(
            f"A tool prints {gib} for {each} bytes a parameter of {model.title}. A note beside "
            "it claims the same number of GB, which is a slip of units.\nWhat should the note "
            "say?"
        ),
        size=size,
        hints=_hints("GiB", "2^30 bytes"),
        on_paper=(
            "a GiB is 2^30 bytes, 7.4% more than a GB",
            f"{gib} × 1.074 = {size / GB:,.2f} GB",
        ),
        exact=(f"{each} × {number(model.parameters)} bytes",),
        mistakes=_of_gib(size),
    )


def _hints(unit: str, size: str) -> tuple[str, str, str]:
    return (
        "One of the two units is a power of two, the other a power of ten.",
        f"A {unit} is {size}; a GB is 10^9.",
        (
            f"In GB the number is {'larger' if unit == 'GiB' else 'smaller'}: multiply the bytes "
            f"of one {unit} by how many there are, and divide by 10^9."
        ),
    )


def _of_gib(size: int) -> Iterator[Mistake]:
    why = "divides by 1.074 where it multiplies: a GiB is the larger unit, so there are more GB."
    yield wrong_size(
        Fraction(size * GB, GIB) * Fraction(GB, GIB), size, "divided, not multiplied", why
    )


def _of_mib(mib: int) -> Iterator[Mistake]:
    size = mib * MIB
    why = "takes a MiB for a MB: a MiB has 1,048,576 bytes, {off} more in all."
    yield wrong_size(mib * MB, size, "MiB taken for MB", why)
    why = "divides the MiB by 1,024, which is GiB: {off} more as GB."
    yield wrong_size(Fraction(size * GB, GIB), size, "GiB typed as GB", why)
