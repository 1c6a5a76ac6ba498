"""Topic C, everything else: the vocabulary-wide tensors, worked out with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.architecture import Architecture
from engine.units import GB, GIB
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level
from problems.repairs import repair
from problems.wording import bytes_of, listed, number
from problems.worked import Line, Worked, WrongLine, times

SEQUENCES = (256, 384, 512, 768, 2**10, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 32768)
MOST_TOKENS = 131072
LOGITS, COPY, GRADIENT = ("16-bit logits", 2), ("their fp32 copy", 4), ("its fp32 gradient", 4)
# What is alive at once: at the head, as the loss begins, and in its backward pass.
ALIVE = {"mid": (LOGITS, COPY), "senior": (LOGITS, COPY, GRADIENT)}
UNITS = "Which is the larger unit, a GB or a GiB?"


@dataclass(frozen=True, kw_only=True)
class Wide:
    """Tensors with an entry for each token and word of the vocabulary.

    Args:
        what: are counted: sequences of a micro-batch or examples of an evaluation.
        rows: of them.
        sequence: tokens of each.
        vocab: entries of the vocabulary.
        hidden: size that is sometimes taken for it.
        tensors: name and bytes of an entry of each that is alive.
    """

    what: str
    rows: int
    sequence: int
    vocab: int
    hidden: int
    tensors: tuple[tuple[str, int], ...]


@kind_at_levels(
    name="repair-logits",
    topic="C",
    levels=("junior", "mid", "senior"),
    title="The first wrong step of a price of logits",
    sources=(
        "huggingface/transformers#12878",
        "huggingface/trl#6858",
        "lone17.github.io, Memory usage for LLM training",
    ),
)
def repair_logits(draw: Draw, level: Level) -> Draft | None:
    """Ask for the first wrong step of what logits and their copies take."""
    model = scenarios.any_model(draw)
    stored = level == "junior" and draw.chance(50)
    rows = draw.between(50, 2000) if stored else draw.between(2, 32)
    sequence = draw.choice(SEQUENCES)
    if sequence > model.max_sequence or (not stored and rows * sequence > MOST_TOKENS):
        return None
    one = ("fp32 logits", 4) if stored else draw.choice((LOGITS, ("fp32 logits", 4)))
    tensors = ALIVE.get(level, (one,))
    what = "examples" if stored else "sequences"
    wide = wide_of(model.architecture, what, rows, sequence, tensors)
    names = listed([name for name, _ in tensors])
    when = f"a micro-batch of {rows} sequences of {number(sequence)} tokens has {names} at once"
    if stored:
        when = (
            f"an evaluation keeps the logits of {number(rows)} examples of {number(sequence)} "
            "tokens on the GPU, in fp32"
        )
    about = (
        f"{model.title} has h = {number(wide.hidden)} and a vocabulary of {number(wide.vocab)} "
        f"entries; {when}. Somebody works out what that takes."
    )
    return repair(draw, about, priced(wide), (*_wrongs(wide),))


def wide_of(
    a: Architecture, what: str, rows: int, sequence: int, tensors: tuple[tuple[str, int], ...]
) -> Wide:
    """Return the tensors of a model."""
    return Wide(
        what=what,
        rows=rows,
        sequence=sequence,
        vocab=a.vocab,
        hidden=a.hidden,
        tensors=tensors,
    )


def priced(wide: Wide) -> Worked:
    """Return tokens, elements, each tensor, their sum, and that in GiB."""
    parts = [_part(name, each) for name, each in wide.tensors]
    total = [_total([name for name, _ in wide.tensors])] if len(parts) > 1 else []
    last = (*parts, *total)[-1]
    return Worked(lines=(_tokens(wide), _elements(wide), *parts, *total, _in_gib(last.key)))


def _tokens(wide: Wide) -> Line:
    return Line(
        key="tokens",
        says=f"tokens: {number(wide.rows)} {wide.what} × {number(wide.sequence)}",
        of=lambda _: wide.rows * wide.sequence,
        form="count",
    )


def _elements(wide: Wide) -> Line:
    return Line(
        key="elements",
        says=f"elements of a tensor: {{tokens}} × {number(wide.vocab)}",
        of=lambda values: values["tokens"] * wide.vocab,
        form="count",
    )


def _part(name: str, each: int) -> Line:
    return Line(
        key=name,
        says=f"{name}: {{elements}} × {bytes_of(each)}",
        of=lambda values: values["elements"] * each,
    )


def _total(names: list[str]) -> Line:
    return Line(
        key="total",
        says=f"together: {' + '.join(f'{{{name}}}' for name in names)}",
        of=lambda values: sum((values[name] for name in names), Fraction(0)),
    )


def _in_gib(key: str) -> Line:
    return Line(
        key="gib",
        says=f"in GiB of 2^30 bytes: {{{key}}}",
        of=lambda values: values[key],
        form="GiB",
    )


def _wrongs(wide: Wide) -> Iterator[WrongLine]:
    yield from _count_wrongs(wide)
    for name, each in wide.tensors:
        yield from _part_wrongs(name, each)
    names = [name for name, _ in wide.tensors]
    if len(names) > 2:
        for name, slip in zip(names, ("16-bit logits", "fp32 copy", "fp32 gradient"), strict=True):
            rest = _total([other for other in names if other != name])
            yield _total(names).wrong(
                f"{slip} forgotten",
                rest.says,
                rest.of,
                why=f"leaves out the {name.removeprefix('their ').removeprefix('its ')}, "
                "{off} more: all of them are alive at once.",
                nudge="Is everything in the sum that is alive at once?",
            )
    before, gib = priced(wide).lines[-2:]
    ratio = Fraction(GIB, GB)
    for name, factor in (("GB typed as GiB", ratio), ("the conversion upside down", ratio**2)):
        yield gib.wrong(
            name,
            gib.says,
            times(before.key, factor),
            why="is too many: a GiB is 7.4% more than a GB, so there are {off} fewer.",
            nudge=UNITS,
        )


def _count_wrongs(wide: Wide) -> Iterator[WrongLine]:
    tokens, elements = _tokens(wide), _elements(wide)
    yield tokens.wrong(
        "micro-batch forgotten",
        f"tokens: {number(wide.sequence)}",
        lambda _: wide.sequence,
        why=f"is one of the {number(wide.rows)} {wide.what}, {{off}} tokens fewer than there are.",
        nudge="How many tokens have logits?",
    )
    yield tokens.wrong(
        "last token only",
        f"tokens: {number(wide.rows)} {wide.what}",
        lambda _: wide.rows,
        why="is one token of each; every token has logits here, {off} more.",
        nudge="How many tokens have logits?",
    )
    yield elements.wrong(
        "hidden size for the vocabulary",
        f"elements of a tensor: {{tokens}} × {number(wide.hidden)}",
        lambda values: values["tokens"] * wide.hidden,
        why=f"is as wide as the hidden size; logits have {number(wide.vocab)} entries a token.",
        nudge="How many entries has a token there?",
    )
    yield elements.wrong(
        "tokens forgotten",
        f"elements of a tensor: {number(wide.sequence)} × {number(wide.vocab)}",
        lambda _: wide.sequence * wide.vocab,
        why=f"has the tokens of one of {number(wide.rows)} {wide.what}, {{off}} elements fewer.",
        nudge="Whose tokens are multiplied there?",
    )


def _part_wrongs(name: str, each: int) -> Iterator[WrongLine]:
    bits = {2: ("32", "fp32", "16 bits"), 4: ("16", "16 bits", "fp32")}
    other, said, right = bits[each]
    nudge = "How many bytes has an entry of each tensor?"
    part, wide = _part(name, each), _part(name, 6 - each)
    more = "more" if each == 4 else "less"
    yield part.wrong(
        f"logits in {other} bits",
        wide.says,
        wide.of,
        why=f"is the price of {said}; this tensor is in {right}, {{off}} {more}.",
        nudge=nudge,
    )
    yield part.wrong(
        "elements taken for bytes",
        f"{name}: {{elements}} elements",
        lambda values: values["elements"],
        why=f"is a count of elements; each has {each} bytes, {{off}} more.",
        nudge=nudge,
    )
