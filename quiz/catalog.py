"""What is known by name: models, GPUs and kinds of question, as rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog import accelerators, models
from engine.levers.registry import levers
from engine.units import count, decimal
from problems.claims import claims
from problems.mistakes import mistakes
from problems.problem import TOPICS
from problems.registry import kinds


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows for a reader under their heads, and the same things in full as plain values."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    values: tuple[dict[str, Any], ...]
    note: str = ""


def _models() -> Table:
    found = models().values()
    return Table(
        heads=("name", "model", "parameters", "tokens"),
        rows=tuple((m.name, m.title, count(m.parameters), f"{m.max_sequence:,}") for m in found),
        values=tuple(
            {
                "name": m.name,
                "title": m.title,
                "parameters": m.parameters,
                "max_sequence": m.max_sequence,
                "source": m.source,
                "checked": m.checked,
            }
            for m in found
        ),
    )


def _gpus() -> Table:
    found = accelerators().values()
    return Table(
        heads=("name", "GPU", "MiB", "memory"),
        rows=tuple((g.name, g.title, f"{g.memory_mib:,}", decimal(g.memory)) for g in found),
        values=tuple(
            {
                "name": g.name,
                "title": g.title,
                "vendor": g.vendor,
                "memory_bytes": g.memory,
                "tflops_16bit": g.tflops_16bit,
                "bandwidth_gb_s": g.bandwidth_gb_s,
                "nvlink_gb_s": g.nvlink_gb_s,
                "pcie_gb_s": g.pcie_gb_s,
                "source": g.source,
                "checked": g.checked,
            }
            for g in found
        ),
    )


def _kinds() -> Table:
    found = kinds().values()
    return Table(
        heads=("kind", "topic", "level", "asks"),
        rows=tuple((k.name, k.topic, ", ".join(k.levels), k.title) for k in found),
        values=tuple(
            {
                "name": k.name,
                "topic": k.topic,
                "topic_title": TOPICS[k.topic],
                "levels": list(k.levels),
                "title": k.title,
                "sources": list(k.sources),
            }
            for k in found
        ),
        note=" · ".join(f"{key} {title}" for key, title in TOPICS.items()),
    )


def _levers() -> Table:
    found = levers().values()
    return Table(
        heads=("lever", "in the scenario file", "also typed as"),
        rows=tuple((one.name, one.says, ", ".join(one.short[:3])) for one in found),
        values=tuple(
            {
                "name": one.name,
                "short": list(one.short),
                "says": one.says,
                "changes_numerics": one.changes_numerics,
                "invasiveness": one.invasiveness,
            }
            for one in found
        ),
        note="the least invasive first; memquiz levers ranks them for a run of yours",
    )


def _mistakes() -> Table:
    found = mistakes().values()
    return Table(
        heads=("mistake", "credit", "what went wrong"),
        rows=tuple((one.name, str(one.share), one.says) for one in found),
        values=tuple(
            {"name": one.name, "credit": float(one.share), "says": one.says} for one in found
        ),
        note="credit: the share that an answer with this mistake earns at least",
    )


def _claims() -> Table:
    found = claims().values()
    return Table(
        heads=("claim", "says"),
        rows=tuple((one.id, one.claim) for one in found),
        values=tuple(
            {
                "id": one.id,
                "claim": one.claim,
                "truth": one.truth,
                "core": one.core,
                "points": {point.id: point.says for point in one.points},
                "errors": {error.id: error.says for error in one.errors},
                "source": one.source,
            }
            for one in found
        ),
        note="whether each is true: memquiz practice --topic claims, or --json",
    )


TABLES: Mapping[str, Callable[[], Table]] = {
    "models": _models,
    "gpus": _gpus,
    "kinds": _kinds,
    "levers": _levers,
    "mistakes": _mistakes,
    "claims": _claims,
}
