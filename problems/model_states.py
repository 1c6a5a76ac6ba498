"""Model states as a few parts of so many bytes per parameter, and the ways to get them wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.optimizers import optimizers
from engine.precisions import PRECISIONS, Precision
from problems.wording import FP32_SHARD, bytes_of

FP32 = 4  # bytes
STAGES = {
    0: "DDP (plain data parallel)",
    1: "ZeRO-1",
    2: "ZeRO-2",
    3: "ZeRO-3 (FSDP2)",
}
SHARDS = {
    0: "shards nothing",
    1: "shards the optimizer's part and leaves weights and gradients whole",
    2: "shards the optimizer's part and the gradients and leaves the weights whole",
    3: "shards everything",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the model states.

    Args:
        name: as it is said: weights, gradients, master copy, moments, momentum, or FSDP2's
            "fp32 shard of the weights", which is weights and master copy in one.
        each: bytes per parameter.
        stage: the first ZeRO stage that shards it.
    """

    name: str
    each: int
    stage: int


@dataclass(frozen=True, kw_only=True)
class Change:
    """A wrong idea of the parts.

    `why` follows the wrong number and has a place for {missing}, the difference.
    """

    name: str
    parts: tuple[Part, ...]
    why: str

    def moves(self, right: tuple[Part, ...]) -> frozenset[str]:
        """Return the names of the parts that it has in other sizes than `right`."""
        return frozenset(part.name for part in {*self.parts} ^ {*right})


def parts_of(precision: str, optimizer: str, *, fsdp: bool = False) -> tuple[Part, ...]:
    """Return the parts that are there, largest stage first; FSDP2's fp32 shards if `fsdp`."""
    row, states = PRECISIONS[precision], optimizers()[optimizer].states
    shards = fsdp and row.master > 0
    parts = (
        Part(name=FP32_SHARD, each=row.master if shards else 0, stage=3),
        Part(name="weights", each=0 if shards else row.weights, stage=3),
        Part(name="gradients", each=row.stepped if shards else row.gradients, stage=2),
        Part(name="master copy", each=0 if shards else row.master, stage=1),
        Part(name="moments" if states > 1 else "momentum", each=states * row.stepped, stage=1),
    )
    return tuple(part for part in parts if part.each)


def each_of(parts: tuple[Part, ...], stage: int = 0, ranks: int = 1) -> Fraction:
    """Return the bytes per parameter on one of `ranks` ranks, sharded evenly."""
    whole = sum(part.each for part in parts if part.stage > stage)
    split = sum(part.each for part in parts if part.stage <= stage)
    return Fraction(whole * ranks + split, ranks)


def size_of(parts: tuple[Part, ...], parameters: int, stage: int = 0, ranks: int = 1) -> int:
    """Return the bytes on one of `ranks` ranks, each shard rounded up to whole parameters."""
    shard = -(-parameters // ranks)
    return sum(part.each * (shard if part.stage <= stage else parameters) for part in parts)


def sum_said(parts: tuple[Part, ...], stage: int = 0, ranks: int = 1) -> str:
    """Return the bytes per parameter as a sum on paper: "2 + 2 + 4 + 8", or "2 + 14/8" sharded."""
    if ranks == 1:
        return " + ".join(str(part.each) for part in parts)
    whole = [str(part.each) for part in parts if part.stage > stage]
    split = sum(part.each for part in parts if part.stage <= stage)
    return " + ".join([*whole, f"{split}/{ranks}"] if split else whole)


def total_said(parts: tuple[Part, ...], stage: int = 0, ranks: int = 1) -> str:
    """Return that sum with its result: "2 + 14/8 = 3.75 bytes"; "4 bytes" where it is one term."""
    said, result = sum_said(parts, stage, ranks), bytes_of(each_of(parts, stage, ranks))
    return result if said == result.split()[0] else f"{said} = {result}"


def changes(parts: tuple[Part, ...], precision: str) -> tuple[Change, ...]:
    """Return every usual wrong idea of these parts that changes their sum, most frequent first.

    Args:
        parts: all states of a recipe, or those of them that are asked for.
        precision: the recipe's, a name of `PRECISIONS`.
    """
    return tuple(
        change
        for change in _changes(parts, PRECISIONS[precision])
        if change.parts and each_of(change.parts) != each_of(parts)
    )


def _changes(parts: tuple[Part, ...], row: Precision) -> Iterator[Change]:
    names = {part.name for part in parts}
    yield from _left_out(parts, names)
    yield from _other_widths(parts, names, row)
    if FP32_SHARD in names:
        yield from _beside_the_shard(parts)
    weights = tuple(names & {"weights", FP32_SHARD})
    if not weights:
        return
    if row.stepped == FP32 and row.compute < FP32:
        yield _narrow(parts)
    if row.weights == 2 and row.stepped == 2:
        yield Change(
            name="everything in 32 bits",
            parts=tuple(replace(part, each=2 * part.each) for part in parts),
            why="has every state in fp32, {missing} too many: here all is bf16.",
        )
    yield Change(
        name="weights and gradients only",
        parts=_only(parts, *weights, "gradients"),
        why="is weights and gradients alone; what the optimizer holds is {missing} more.",
    )
    yield Change(
        name="weights only",
        parts=_only(parts, *weights),
        why="is the weights alone, which serve the model; training it adds {missing}.",
    )
    yield from _served_in_16_bits(parts, weights)


def _served_in_16_bits(parts: tuple[Part, ...], weights: tuple[str, ...]) -> Iterator[Change]:
    only = _only(parts, *weights)
    if all(part.each == FP32 for part in only):
        yield Change(
            name="16-bit weights only",
            parts=tuple(replace(part, each=FP32 // 2) for part in only),
            why="is the weights alone, and in 16 bits, as a model is served; here they are fp32, "
            "and with all that trains them {missing} more.",
        )


def _narrow(parts: tuple[Part, ...]) -> Change:
    """Return the idea that every state is 2 bytes wide, and so needs no master copy."""
    narrow = (
        replace(part, each=4 if part.name == "moments" else 2)
        for part in parts
        if part.name != "master copy"
    )
    return Change(
        name="everything in 16 bits",
        parts=tuple(narrow),
        why="has every state in 16 bits; the optimizer's are fp32, and so is what it steps: "
        "{missing} more.",
    )


def _beside_the_shard(parts: tuple[Part, ...]) -> Iterator[Change]:
    yield Change(
        name="16-bit weights on top",
        parts=(*parts, Part(name="weights", each=2, stage=3)),
        why=f"counts 16-bit weights beside the {FP32_SHARD}, {{missing}} too many: they are there "
        "only while a layer is gathered.",
    )
    yield Change(
        name="shard of the weights in 16 bits",
        parts=_scaled(parts, FP32_SHARD, Fraction(1, 2)),
        why="has the shard of the weights in 16 bits; the optimizer steps it, so it is fp32 and "
        "takes {missing} more.",
    )


def _left_out(parts: tuple[Part, ...], names: set[str]) -> Iterator[Change]:
    for name, what in (("master copy", "fp32 master copy"), (FP32_SHARD, FP32_SHARD)):
        if name in names:
            yield Change(
                name=f"{name} forgotten",
                parts=_without(parts, name),
                why=f"leaves out the {what}, {{missing}}: the optimizer steps it, because "
                "small updates vanish in 16 bits.",
            )
    if "moments" in names:
        yield Change(
            name="moments forgotten",
            parts=_without(parts, "moments"),
            why="leaves out AdamW's two moments, {missing}.",
        )
        yield Change(
            name="one moment forgotten",
            parts=_scaled(parts, "moments", Fraction(1, 2)),
            why="has one moment; AdamW keeps two for each parameter, {missing} more.",
        )
    if "momentum" in names:
        yield Change(
            name="momentum forgotten",
            parts=_without(parts, "momentum"),
            why="leaves out the momentum, {missing}: one value for each parameter.",
        )
    yield Change(
        name="gradients forgotten",
        parts=_without(parts, "gradients"),
        why="leaves out the gradients, {missing}: they are there until the optimizer has stepped.",
    )


def _other_widths(parts: tuple[Part, ...], names: set[str], row: Precision) -> Iterator[Change]:
    for name, takes in (("moments", "take"), ("momentum", "takes")):
        if name in names and row.stepped == FP32:
            yield Change(
                name="optimizer states in 16 bits",
                parts=_scaled(parts, name, Fraction(1, 2)),
                why=f"keeps the {name} in 16 bits; in fp32 the {name} {takes} {{missing}} more.",
            )
        elif name in names:
            yield Change(
                name="optimizer states in 32 bits",
                parts=_scaled(parts, name, Fraction(2)),
                why=f"keeps the {name} in fp32, {{missing}} too many: here all is bf16.",
            )
    if not row.master:
        yield Change(
            name="a master copy too many",
            parts=(*parts, Part(name="master copy", each=FP32, stage=1)),
            why="counts an fp32 master copy, {missing} too many: "
            + (
                "the weights are fp32 already." if row.weights == FP32 else "this recipe has none."
            ),
        )
    wide = any(part.name == "gradients" and part.each == FP32 for part in parts)
    yield Change(
        name=f"gradients in {16 if wide else 32} bits",
        parts=_scaled(parts, "gradients", Fraction(1, 2) if wide else Fraction(2)),
        why="has the gradients in 16 bits; here they are fp32 and take {missing} more."
        if wide
        else "has the gradients in fp32, {missing} too many: here they are 16 bits wide.",
    )


def _only(parts: tuple[Part, ...], *names: str) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.name in names)


def _without(parts: tuple[Part, ...], *names: str) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.name not in names)


def _scaled(parts: tuple[Part, ...], name: str, factor: Fraction) -> tuple[Part, ...]:
    return tuple(
        replace(part, each=int(part.each * factor)) if part.name == name else part
        for part in parts
    )
