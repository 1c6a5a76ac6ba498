"""Tensors that are alike, counted together: one row for what stands in every layer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.ledger import Category
from engine.verify.timeline import Allocation

Alive = Iterable[tuple[Allocation, int]]
NUMBERED = re.compile(r"(?<=\.)\d+(?=\.|$)")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Tensors of one shape, dtype and category, in modules that differ in layer numbers only.

    Attributes:
        module: the path, with the layers as "0-31"; empty outside the model.
        operators: what made them, without namespaces' overloads, in the order of the alphabet.
        each: bytes of one.
        count: how many there are.
    """

    category: Category
    dtype: str
    shape: tuple[int, ...]
    module: str
    operators: tuple[str, ...]
    each: int
    count: int

    @property
    def size(self) -> int:
        """Bytes of all together."""
        return self.each * self.count


def grouped(alive: Alive) -> tuple[Group, ...]:
    """Return the groups of what is alive, largest first."""
    found: dict[tuple[object, ...], list[tuple[Allocation, int]]] = defaultdict(list)
    for one, size in alive:
        path = NUMBERED.sub("*", one.module)
        found[one.category, one.dtype, one.shape, size, path].append((one, size))
    groups = (_group([one for one, _ in rows], rows[0][1]) for rows in found.values())
    return tuple(sorted(groups, key=lambda group: -group.size))


def _group(alike: Sequence[Allocation], each: int) -> Group:
    any_one = alike[0]
    return Group(
        category=any_one.category,
        dtype=any_one.dtype,
        shape=any_one.shape,
        module=_path([one.module for one in alike]),
        operators=tuple(sorted({operator(one) for one in alike} - {""})),
        each=each,
        count=len(alike),
    )


def operator(allocation: Allocation) -> str:
    """Return what made it, without its overload: "aten.mul" for "aten.mul.Tensor"."""
    name = allocation.operator
    return name.rpartition(".")[0] if name.count(".") > 1 else name


def _path(modules: Sequence[str]) -> str:
    """Return the path that `modules` share, the numbers in it as ranges."""
    numbers = zip(*(map(int, NUMBERED.findall(module)) for module in modules), strict=True)
    ranges = iter([_ranges(sorted(set(column))) for column in numbers])
    return NUMBERED.sub(lambda _: next(ranges), modules[0])


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as "0-3,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
