#!/usr/bin/env python3
"""How near the estimate of a step's time is to steps that others measured.

    python3 bootstrap.py python benchmarks/step_time.py

Prints the error of each row of tests/engine/measured_b200.toml and of
tests/engine/costs/published_steps.toml, then every pair of rows of one model, more than 5% apart,
that the estimate has in another order than the measurement: by the step's time, and by tokens a
second. Nothing is fitted to a row; all rates are those of the catalogue and of
engine/costs/assumptions.py.
"""

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from pathlib import Path
from statistics import mean, median
from typing import Any

from engine.architecture import Architecture
from engine.catalog import accelerator, architecture_from_shape
from engine.costs.step_time import step_time
from engine.settings import Hardware, Model, Parallel, Recipe, Settings, Workload

TESTS = Path(__file__).parent.parent / "tests" / "engine"
MARGIN = 0.05
GPT: Mapping[str, Any] = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "tied": True,
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A measured step: `seconds` of it, and `tokens` of all ranks together.

    `allocated_mib` is the peak of each rank, where that was measured too.
    """

    group: str
    name: str
    settings: Settings
    seconds: float
    tokens: int
    allocated_mib: tuple[float, ...] = ()

    @property
    def predicted(self) -> float:
        """Seconds by the estimate; of one layer where that is what was measured."""
        if "table 4" in self.group:
            return of_a_layer(self)
        return step_time(self.settings).seconds

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted / self.seconds - 1


def b200() -> Iterator[Row]:
    """Yield the runs on 8 x B200."""
    table = _read(TESTS / "measured_b200.toml")
    for row in table["rows"]:
        shape = table["models"][row["model"]] | {"layers": row["layers"]}
        split = {name: row[name] for name in ("data", "tensor", "pipeline", "context", "expert")}
        parallel = Parallel(
            zero=table["parallel"]["zero"],
            sequence_parallel=row["tensor"] > 1,
            exchange=table["parallel"]["exchange"] if row["context"] > 1 else "p2p",
            **split,
        )
        yield Row(
            group=f"8 x B200, {row['model']}",
            name=row["id"],
            settings=_settings(
                architecture_from_shape(row["model"], shape),
                table["gpu"],
                parallel,
                Recipe(**table["recipe"]),
                (row["micro_batch"], row["sequence"], row["micro_batches"]),
            ),
            seconds=row["step_ms"] / 1e3,
            tokens=row["micro_batch"] * row["sequence"] * row["micro_batches"] * row["data"],
            allocated_mib=tuple(row["rank_allocated_mib"]),
        )


def korthikanti() -> Iterator[Row]:
    """Yield table 5 of arXiv 2205.05198: full recomputation, and the paper's own way."""
    table = _read(TESTS / "costs" / "published_steps.toml")["korthikanti"]
    for row in table["rows"]:
        shape = {name: row[name] for name in ("layers", "hidden", "heads")}
        whole = Architecture(**GPT, **shape, ffn=4 * row["hidden"], vocab=table["vocab"])
        work = (row["micro_batch"], table["sequence"], row["micro_batches"])
        for name, again, split in (("full", "full", False), ("work", "selective", True)):
            parallel = Parallel(
                tensor=row["tensor"], pipeline=row["pipeline"], sequence_parallel=split
            )
            yield Row(
                group="A100, arXiv 2205.05198 table 5",
                name=f"{row['id']} {name}",
                settings=_settings(whole, "a100-80gb", parallel, _old_recipe(again), work),
                seconds=row[f"{name}_s"],
                tokens=work[0] * work[1] * work[2],
            )


def layers() -> Iterator[Row]:
    """Yield table 4 of arXiv 2205.05198: one layer, as the difference of two and one."""
    table = _read(TESTS / "costs" / "published_steps.toml")["layer"]
    for row in table["rows"]:
        shape = Architecture(**GPT, layers=1, hidden=6144, heads=64, ffn=24576, vocab=51200)
        parallel = Parallel(tensor=8, sequence_parallel=row["sequence_parallel"])
        recipe = _old_recipe(row["recompute"])
        yield Row(
            group="A100, arXiv 2205.05198 table 4",
            name=row["id"],
            settings=_settings(shape, "a100-80gb", parallel, recipe, (4, 2048, 1)),
            seconds=row["ms"] / 1e3,
            tokens=4 * 2048,
        )


def mpt() -> Iterator[Row]:
    """Yield MPT under FSDP on A100 and H100; measured was tokens a second."""
    table = _read(TESTS / "costs" / "published_steps.toml")["mpt"]
    for row in table["rows"]:
        s = row["sequence"]
        shape = table["shapes"][row["model"]] | {"vocab": table["vocab"], "positions": s}
        each = row["micro_batch"] * s * row["micro_batches"]
        recipe = Recipe(optimizer="adamw", recompute=row["recompute"])
        name = f"{row['model']} s {s}, {row['gpus']} GPUs, {row['recompute']}"
        yield Row(
            group=f"MPT, {row['gpu']}",
            name=name,
            settings=replace(
                _settings(
                    Architecture(**GPT, **shape),
                    row["gpu"],
                    Parallel(data=row["gpus"], zero=3),
                    recipe,
                    (row["micro_batch"], s, row["micro_batches"]),
                ),
                implementation="fused",
            ),
            seconds=each / row["tokens_per_second"],
            tokens=each * row["gpus"],
        )


def of_a_layer(row: Row) -> float:
    """Return the seconds of one layer of `row`: what a second layer adds to its step."""

    def seconds(layers: int) -> float:
        a = replace(row.settings.architecture, layers=layers)
        model = replace(row.settings.model, architecture=a)
        terms = step_time(replace(row.settings, model=model)).terms
        return sum(term.seconds for term in terms if term.name != "optimizer step")

    return seconds(2) - seconds(1)


def inversions(rows: list[Row], of: Callable[[Row, float], float]) -> Iterator[tuple[Row, Row]]:
    """Yield the pairs of rows, more than the margin apart, that the estimate has the other way."""
    for one, other in combinations(rows, 2):
        measured = of(one, one.seconds) / of(other, other.seconds)
        if max(measured, 1 / measured) <= 1 + MARGIN:
            continue
        predicted = of(one, one.predicted) / of(other, other.predicted)
        if (measured > 1) != (predicted > 1):
            yield one, other


def time(_: Row, seconds: float) -> float:
    """Return the step's time."""
    return seconds


def rate(row: Row, seconds: float) -> float:
    """Return tokens a second of all GPUs together."""
    return row.tokens / seconds


@dataclass(frozen=True, kw_only=True)
class Group:
    """Steps that can be compared with one another, and how far the estimate is from them."""

    name: str
    rows: tuple[Row, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """Predicted over measured, less 1, of each row."""
        return tuple(row.error for row in self.rows)

    @property
    def said(self) -> tuple[str, str, str]:
        """Their mean, and the median and the largest of their sizes."""
        sizes = [abs(error) for error in self.errors]
        return f"{mean(self.errors):+.1%}", f"{median(sizes):.1%}", f"{max(sizes):.1%}"

    def orders(self, of: Callable[[Row, float], float]) -> tuple[list[tuple[Row, Row]], int]:
        """Return the pairs that the estimate has in another order, and the number of all."""
        return list(inversions(list(self.rows), of)), len(self.rows) * (len(self.rows) - 1) // 2


def groups() -> Iterator[Group]:
    """Yield all measured steps."""
    rows = [*layers(), *korthikanti(), *mpt(), *b200()]
    for name, members in groupby(rows, key=lambda row: row.group):
        yield Group(name=name, rows=tuple(members))


def main() -> int:
    """Print all of it."""
    for group in groups():
        _report(group)
    return 0


def _report(group: Group) -> None:
    _say(group.name)
    for row in group.rows:
        predicted, error = row.predicted, row.error
        _say(f"  {row.name:52} {row.seconds:9.4f} s {predicted:9.4f} s {error:+6.0%}")
    _say("  error: mean {}, median {}, largest {}".format(*group.said))
    for says, of in (("time", time), ("tokens a second", rate)):
        wrong, pairs = group.orders(of)
        _say(f"  order by {says}: {len(wrong)} of {pairs} pairs the other way")
        for one, other in wrong:
            _say(f"    {one.name} and {other.name}")


def _old_recipe(recompute: str) -> Recipe:
    """Return the recipe of Megatron-LM before flash attention."""
    return Recipe(
        precision="mixed-fp32-grad",
        optimizer="adamw-fused",
        attention="eager",
        recompute=recompute,
        dropout=0.1,
    )


def _settings(
    architecture: Architecture,
    gpu: str,
    parallel: Parallel,
    recipe: Recipe,
    work: tuple[int, int, int],
) -> Settings:
    micro_batch, sequence, passes = work
    return Settings(
        model=Model(name="own", title="own", architecture=architecture),
        implementation="megatron",
        workload=Workload(
            micro_batch=micro_batch, sequence=sequence, gradient_accumulation=passes
        ),
        recipe=recipe,
        parallel=parallel,
        hardware=Hardware(gpu=accelerator(gpu), gpus=parallel.ranks),
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
