"""Models and cards of the catalogue: their sizes and rates, and how a scenario names each."""

from collections.abc import Callable, Iterator
from functools import partial

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import CatalogModel, accelerators, models
from engine.units import decimal
from quiz.explain.explanation import Explanation


def told() -> Iterator[tuple[tuple[str, ...], Callable[[], Explanation]]]:
    """Yield the names of each model and card, and what explains it."""
    for model in models().values():
        yield (model.name, model.title), partial(_model, model)
    for card in accelerators().values():
        yield (card.name, card.title), partial(_card, card)


def _model(model: CatalogModel) -> Explanation:
    says = (
        f"{model.title}: {model.parameters:,} parameters, up to {model.max_sequence:,} tokens.",
        f"{', '.join(_sizes(model.architecture))}.",
        (
            f'In a scenario file: name = "{model.name}" in [model]; as an option: '
            f"--model {model.name}."
        ),
    )
    return Explanation(sort="model", name=model.name, says=says, sources=(model.source,))


def _sizes(a: Architecture) -> Iterator[str]:
    yield f"L = {a.layers:,} layers of width h = {a.hidden:,}"
    if a.latent:
        yield f"a = {a.heads:,} heads with latent attention"
    else:
        yield f"a = {a.heads:,} heads and k = {a.kv_heads:,} key-value heads of d = {a.head_dim:,}"
    if a.experts:
        yield (
            f"{a.experts.routed:,} experts of width {a.experts.ffn:,}, "
            f"{a.experts.per_token:,} of them for a token"
        )
    else:
        yield f"{'gated ' if a.gated else ''}MLP f = {a.ffn:,}"
    yield f"vocabulary V = {a.vocab:,}, head {'tied' if a.tied else 'not tied'}"
    if a.window:
        yield f"windows of {a.window:,} tokens in {a.window_layers or a.layers:,} layers"


def _card(card: Accelerator) -> Explanation:
    peers = f"{card.nvlink_gb_s:g} GB/s to its peers, " if card.nvlink_gb_s else ""
    says = (
        (
            f"{card.title} ({card.vendor}): {card.memory_mib:,} MiB = {decimal(card.memory)}, as "
            "its driver reports."
        ),
        (
            f"{card.tflops_16bit:g} TFLOP/s in 16 bits, {card.bandwidth_gb_s:,g} GB/s from its "
            "memory."
        ),
        (
            f"{peers}{card.pcie_gb_s:g} GB/s to the host, {card.network_gb_s:g} GB/s to other "
            "nodes, each in one direction."
        ),
        f'In a scenario file: gpu = "{card.name}" in [hardware]; as an option: --gpu {card.name}.',
    )
    return Explanation(sort="GPU", name=card.name, says=says, sources=(card.source,))
