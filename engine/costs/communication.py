"""The terms in which a GPU sends to others, and what of them hides behind computing.

Assumed of overlap, each as frameworks do it by default or with the switch that is usual:

- gradients are reduced while the backward pass goes on (PyTorch DDP and FSDP2; Megatron's
  --overlap-grad-reduce), those of its last layer excepted; weights of ZeRO-3 are gathered a layer
  ahead (FSDP2's prefetch), those of the first layer excepted
- ZeRO-1 and 2 gather stepped weights before the next forward pass: not hidden
- of tensor parallelism the sums of input gradients hide behind weight gradients in Megatron
  (arXiv 2205.05198 section 6.2); all else waits
- the ring of context parallelism hides behind attention (arXiv 2310.01889 section 3)
- all-to-alls, of experts and of heads, and what goes between pipeline stages: not hidden

What is hidden slows nothing down here.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.costs import links, traffic
from engine.costs.computing import Computing
from engine.costs.held import Held
from engine.costs.links import Link
from engine.costs.terms import Resource, Term
from engine.costs.traffic import Sent
from engine.settings import Settings
from engine.stacks.registry import stack
from engine.stages import Stage


def in_a_micro_batch(settings: Settings, stage: Stage, computes: Computing) -> tuple[Term, ...]:
    """Return the terms of what a rank of `stage` sends in one micro-batch."""
    found = [
        *_tensor(settings, stage, computes),
        _context(settings, stage, computes),
        _experts(settings, stage),
        _pipeline(settings, stage),
    ]
    return tuple(term for term in found if term.amount)


def at_the_end(
    settings: Settings, stage: Stage, weights: Held, computes: Computing
) -> Iterator[Term]:
    """Yield the terms of exchanging gradients and weights, all micro-batches together."""
    reduced, gathered = (
        _exchange(settings, what)
        for what in (
            traffic.reduced(settings, stage, weights),
            traffic.gathered(settings, stage, weights),
        )
    )
    zero, passes = settings.parallel.zero, settings.workload.gradient_accumulation
    down, up = (sum(term.busy_seconds for term in terms) for terms in (reduced, gathered))
    inner = 1 - 1 / max(1, stage.layers)  # one layer has nothing to hide behind
    backward = computes.backward * (passes if zero >= 2 else 1)
    late = down + (up / 2 if zero == 3 else 0)
    hidden_late = _share(inner * late, backward, late)
    hidden_up = 0.0
    if zero == 3:
        early = _share(inner * up / 2, computes.forward * passes, up / 2)
        hidden_up = (early + hidden_late) / 2
    yield from _named(reduced, "gradients reduced", hidden_late, "data ranks add up gradients")
    why = "each rank gets the weights that others stepped or hold"
    yield from _named(gathered, "weights gathered", hidden_up, why)


def _share(work: float, window: float, whole: float) -> float:
    """Return the share of `whole` seconds that hides: what of `work` goes into `window`."""
    return min(work, window) / whole if whole else 0.0


def _tensor(settings: Settings, stage: Stage, computes: Computing) -> Iterator[Term]:
    sent = traffic.tensor(settings, stage)
    link = links.ring(settings.hardware.linked, links.tensor(settings))
    source = "arXiv 1909.08053 section 3; arXiv 2205.05198 section 4.2.2"
    kind = "reduce-scatter and all-gather" if settings.parallel.sequence_parallel else "all-reduce"
    yield _sent(
        sent.forward + sent.recomputed,
        link,
        name="tensor parallel, forward",
        why=f"two {kind}s a layer of all tokens' hidden states, two more where it is recomputed",
        source=source,
    )
    backward = _sent(
        sent.backward,
        link,
        name="tensor parallel, backward",
        why=f"two {kind}s a layer of their gradients; Megatron hides those of inputs behind "
        "weight gradients",
        source=source,
    )
    most = 0.5 if settings.parallel.sequence_parallel else 1.0
    yield _behind_column(settings, backward, computes, most)
    again = _sent(
        traffic.gathered_again(settings, stage),
        link,
        name="sequence parallel, gathered again",
        why="inputs kept in parts are gathered for the weight gradients, behind those of inputs",
        source="arXiv 2205.05198 section 4.2.2",
    )
    yield _behind_column(settings, again, computes, 1.0)


def _behind_column(settings: Settings, term: Term, computes: Computing, most: float) -> Term:
    hides = stack(settings.implementation).overlaps_tensor_parallel
    if not (hides and term.amount):
        return term
    busy = term.busy_seconds
    return replace(term, hidden=_share(most * busy, computes.column, busy))


def _context(settings: Settings, stage: Stage, computes: Computing) -> Term:
    gpu, group = settings.hardware.linked, links.context(settings)
    sent = traffic.context(settings, stage).total
    if sent.size and settings.parallel.exchange == "a2a":
        return _sent(
            sent,
            links.pairs(gpu, group),
            name="context parallel all-to-all",
            why="queries, keys and values go to where all tokens of a head are, "
            "the output comes back",
            source="arXiv 2309.14509 section 3",
        )
    term = _sent(
        sent,
        links.neighbours(gpu, group),
        name="context parallel ring",
        why="keys and values go round while attention uses those that came before",
        source="arXiv 2310.01889 section 3",
    )
    busy = term.busy_seconds
    return replace(term, hidden=_share(busy, computes.attention, busy))


def _experts(settings: Settings, stage: Stage) -> Term:
    group = links.expert(settings)
    sent = traffic.experts(settings, stage).total
    gpu = settings.hardware.linked
    return _sent(
        sent,
        links.pairs(gpu, group) if sent.size else links.ring(gpu, group),
        name="expert all-to-all",
        why="each token goes to its experts and comes back, and so do their gradients",
        source="arXiv 2006.16668 section 3",
    )


def _pipeline(settings: Settings, stage: Stage) -> Term:
    return _sent(
        traffic.pipeline(settings, stage).total,
        links.neighbours(settings.hardware.linked, links.pipeline(settings)),
        name="between pipeline stages",
        why="hidden states go to the next stage, their gradients to the one before",
        source="arXiv 2104.04473 section 3",
    )


def _exchange(settings: Settings, sent: traffic.Sharded) -> tuple[Term, ...]:
    """Return what data ranks exchange, of shared weights and of experts, under working names."""
    gpu = settings.hardware.linked
    rows = (
        ("", sent.shared, links.ring(gpu, links.sharing(settings))),
        (", experts", sent.experts, links.ring(gpu, links.replicas(settings))),
        (" between copies", sent.between, links.ring(gpu, links.copies(settings))),
    )
    source = "arXiv 1910.02054 section 7"
    return tuple(
        _sent(parts, link, name=what, why="", source=source)
        for what, parts, link in rows
        if parts.size
    )


def _named(terms: tuple[Term, ...], name: str, hidden: float, why: str) -> Iterator[Term]:
    for term in terms:
        over = term.why
        yield replace(term, name=name + term.name, hidden=hidden, why=f"{why}{over}")


def _sent(sent: Sent, link: Link, *, name: str, why: str, source: str) -> Term:
    return Term(
        name=name,
        resource=Resource.LINK,
        amount=sent.size,
        unit="B",
        rate=link.rate,
        messages=sent.messages,
        latency=link.latency,
        why=f"{why}, over {link.name}",
        source=source,
        rate_source=link.source,
    )
