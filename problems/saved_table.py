"""What a layer saves as a table of tensors, and what of it a GPU keeps under a plan."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from problems.formula import Formula, constant, letter

A, B, D, F, H, K, L, S, T = map(letter, "abdfhkLst")
X = S * B * H
INPUT = 2 * X

Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """Tensors that a layer saves.

    Args:
        name: as the table has them.
        size: bytes.
        part: of the layer.
        split: tensor parallelism alone divides them by t.
        scores: they have an entry for each pair of tokens, and selective recomputation drops them.
    """

    name: str
    size: Formula
    part: Literal["norms", "attention", "MLP"]
    split: bool = False
    scores: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the layers are run, and what of them is asked for.

    Args:
        tensor: the layer's matrices are split over t GPUs.
        sequence: sequence parallelism goes with it.
        layers: one layer, all L, or the first of p stages under 1F1B.
        live: with full recomputation, the layer that is run again counts too, but for its own
            input, which is among those that are kept.
    """

    recompute: Recompute = "none"
    tensor: bool = False
    sequence: bool = False
    layers: Literal["one", "all", "stage"] = "one"
    live: bool = False

    @property
    def letters(self) -> str:
        """The letters that the plan brings."""
        many = {"one": "", "all": "L", "stage": "Lp"}[self.layers]
        return many + "t" * self.tensor


def saved(rows: Sequence[Row], plan: Plan) -> Formula:
    """Return the bytes that are asked for."""
    layer = of_layer(rows, plan)
    # Stage 0 of 1F1B holds p micro-batches of its L/p layers.
    many = {"one": constant(1), "all": L, "stage": L}[plan.layers]
    if not plan.live:
        return many * layer
    return many * layer + of_layer(rows, replace(plan, recompute="none")) - layer


def of_layer(rows: Sequence[Row], plan: Plan) -> Formula:
    """Return the bytes of one layer and one micro-batch on a GPU."""
    if plan.recompute == "full":
        return INPUT / T if plan.sequence else INPUT
    total = constant(0)
    for row in rows:
        if row.scores and plan.recompute == "selective":
            continue
        total += row.size / T if plan.tensor and (row.split or plan.sequence) else row.size
    return total


def gpt_rows(*, dropout: bool, eager: bool) -> tuple[Row, ...]:
    """Return what a block of LayerNorms, attention and a GELU MLP of 4h saves, in 16 bits.

    Source: arXiv 2205.05198 section 4.1, of which `dropout` and `eager` have 34·s·b·h + 5·a·s²·b.
    """
    scores = 5 if dropout else 2
    rows = (
        Row(name="inputs of both LayerNorms", size=4 * X, part="norms"),
        Row(name="input of the query, key and value matrices", size=2 * X, part="attention"),
        Row(name="queries, keys and values", size=6 * X, part="attention", split=True),
        Row(
            name=f"softmax of the scores{', its dropout mask and result' * dropout}",
            size=scores * A * S * S * B,
            part="attention",
            split=True,
            scores=True,
        ),
        Row(name="input of attention's output matrix", size=2 * X, part="attention", split=True),
        Row(name="dropout mask behind attention, 1 byte an entry", size=X, part="attention"),
        Row(name="input of the MLP", size=2 * X, part="MLP"),
        Row(name="input of GELU", size=8 * X, part="MLP", split=True),
        Row(name="input of the MLP's second matrix", size=8 * X, part="MLP", split=True),
        Row(name="dropout mask behind the MLP, 1 byte an entry", size=X, part="MLP"),
    )
    return tuple(
        row
        for row in rows
        if (eager or not row.scores) and (dropout or not row.name.startswith("dropout"))
    )


def gated_rows() -> tuple[Row, ...]:
    """Return what a block of RMSNorms, fused attention and a SwiGLU MLP saves, in 16 bits.

    Source: traced steps of PyTorch 2.13, as `problems.layers` has them.
    """
    tokens = S * B
    return (
        Row(name="inputs of both RMSNorms", size=4 * X, part="norms"),
        Row(name="outputs of both RMSNorms", size=4 * X, part="norms"),
        Row(name="queries", size=2 * tokens * A * D, part="attention", split=True),
        Row(name="keys and values", size=4 * tokens * K * D, part="attention", split=True),
        Row(
            name="input of attention's output matrix",
            size=2 * tokens * A * D,
            part="attention",
            split=True,
        ),
        Row(name="gate, SiLU of the gate, up", size=6 * tokens * F, part="MLP", split=True),
        Row(name="input of the down matrix", size=2 * tokens * F, part="MLP", split=True),
    )
