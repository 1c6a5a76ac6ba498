"""Whether what ZeRO-3 sends hides behind computing, and from how many tokens on."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.precisions import PRECISIONS
from problems import scenarios
from problems.amounts import in_billions
from problems.answers.answer import FULL_CREDIT, Band
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.costs.sharded import FORWARD, Sharded
from problems.counted import products
from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.wording import digits_of, gb, in_seconds, number, rounded, short

# FLOPs a parameter and token: forward and backward, and what full recomputation adds.
STEP, AGAIN = 6, 2
# How near each other two times may come before it is no clear answer which is longer.
NEAR = Fraction(20, 100)
# Percent of the draws that look for a run whose gathering hides: such runs are more, so that half
# of the questions come of it.
HIDES = 38


def hides(draw: Draw, base: Sharded) -> Draft | None:
    """Ask whether gathering hides behind the forward pass, and how long it takes."""
    wanted, sequence = draw.chance(HIDES), base.x.workload.sequence
    sizes = [m for m in scenarios.MICRO_BATCHES if m * sequence <= scenarios.MOST_TOKENS]
    runs = [replace(base, x=scenarios.with_micro_batch(base.x, size)) for size in sizes]
    suited = [run for run in runs if verdict(run) is wanted]
    if not suited:
        return None
    return whether_it_hides(draw.choice(suited))


def whether_it_hides(run: Sharded, band: Band = "count") -> Draft:
    """Return the question whether a run's gathering hides, where `verdict` is clear."""
    x, sends, computes = run.x, run.sending, run.computing
    return Draft(
        prompt=render("gather-hides", **run.said, percent=_percent(band)),
        answer=YesNoAnswer(
            value=verdict(run) is True,
            proof=QuantityAnswer(value=sends, unit="s", default_unit="s", band=band),
        ),
        hints=(
            "Two times: bytes over what the ring carries, FLOPs over what the GPU computes.",
            "On a ring of N GPUs each sends (N - 1)/N of what is gathered, 2 bytes a parameter.",
            f"Computing takes {in_seconds(computes)}; compare what sending takes.",
        ),
        solution=tuple(_hides_steps(run, sends, computes)),
        mistakes=tuple(_hides_mistakes(run, sends, computes)),
        scenario=x,
    )


def _percent(band: Band) -> int:
    return int(100 * FULL_CREDIT[band])


def verdict(run: Sharded) -> bool | None:
    """Return whether gathering hides, None where attention may decide it or it is near."""
    counted = products(run.x).forward.total / run.flops
    if min(run.computing, counted) > (1 + NEAR) * run.sending:
        return True
    return False if max(run.computing, counted) < (1 - NEAR) * run.sending else None


def _hides_steps(run: Sharded, sends: Fraction, computes: Fraction) -> Iterator[Step]:
    x, parameters = run.x, in_billions(run.parameters)
    said = run.said
    on_paper_ = Fraction(2 * rounded(run.parameters) * (x.parallel.data - 1), x.parallel.data)
    yield Step(
        text=f"computing: 2 × {parameters} × {number(x.tokens)} tokens / {said['flops']} TFLOP/s "
        f"= {in_seconds(computes)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"sending: 2 × {parameters} × {run.ring} / {said['rate']} GB/s = "
        f"{in_seconds(on_paper_ / run.rate)}",
        depth="whiteboard",
    )
    counted = products(x).forward.total
    yield Step(
        text=f"counted with attention: {in_seconds(counted / run.flops)} of matrix products"
    )
    yield Step(
        text=f"{'yes: sending is shorter' if sends < computes else 'no: sending is longer'} than "
        "computing"
    )
    yield Step(text=f"With nothing rounded: {in_seconds(sends)}")


def _hides_mistakes(run: Sharded, sends: Fraction, computes: Fraction) -> Iterator[Mistake]:
    for name, value, why in (
        (
            "the computing",
            computes,
            "is the forward pass; asked is how long its weights are sent.",
        ),
        (
            "both gathers",
            2 * sends,
            "gathers the weights for the backward pass too; that one hides behind the backward.",
        ),
        (
            "a GPU's own share alone",
            sends / (run.x.parallel.data - 1),
            "sends one shard once; on a ring each GPU hands on those of all others too.",
        ),
        (
            "weights in fp32",
            2 * sends,
            "sends 4 bytes a parameter; weights are gathered in 16 bits.",
        ),
        (
            "bytes for elements",
            sends / 2,
            "has one byte a parameter; 16 bits are two.",
        ),
    ):
        yield Mistake(name=name, value=value, feedback=f"{in_seconds(value)} {why}")


def crossing(draw: Draw, base: Sharded) -> Draft | None:
    """Ask for the tokens with which a GPU computes for as long as it sends."""
    recompute = draw.choice(("none", "full"))
    x = replace(base.x, recipe=replace(base.x.recipe, recompute=recompute))
    return tokens_to_hide(replace(base, x=x))


def tokens_to_hide(run: Sharded, band: Band = "count") -> Draft:
    """Return the question for the tokens with which a run computes for as long as it sends."""
    flops = STEP + (AGAIN if run.x.recipe.recompute == "full" else 0)
    value = run.sent / run.rate * run.flops / (flops * run.parameters)
    return Draft(
        prompt=render("traffic-equals-compute", **run.said, percent=_percent(band)),
        answer=QuantityAnswer(value=value, unit="1", default_unit=None, band=band),
        hints=(
            "Both times grow with the parameters, so that their number cancels.",
            "On a ring of N GPUs each sends (N - 1)/N of what is gathered or reduced.",
            f"A parameter is sent as {_sent_said(run)} bytes and takes {flops} FLOPs a token.",
        ),
        solution=tuple(_crossing_steps(run, flops, value)),
        mistakes=tuple(_crossing_mistakes(run, flops, value)),
        scenario=run.x,
    )


def reduced_in(run: Sharded) -> int:
    """Return the bytes of an element of gradients on the wire."""
    return PRECISIONS[run.x.recipe.precision].stepped


def _sent_said(run: Sharded) -> str:
    return f"2 + 2 + {reduced_in(run)}"


def _crossing_steps(run: Sharded, flops: int, value: Fraction) -> Iterator[Step]:
    said, each = run.said, 4 + reduced_in(run)
    ring = Fraction(run.x.parallel.data - 1, run.x.parallel.data)
    wire, second = each * ring / run.rate, flops / run.flops
    for text in (
        f"sent a parameter: (2 + 2 + {each - 4}) × {run.ring} = {short(each * ring)} bytes",
        f"over {said['rate']} GB/s: {digits_of(wire * 10**12)} ps a parameter",
        f"{flops} FLOPs over {said['flops']} TFLOP/s: {digits_of(second * 10**15)} fs, by tokens",
        f"the first over the second: {number(rounded(int(wire / second)))}",
    ):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"counted: {gb(run.sent)} sent in a micro-batch")
    yield Step(text=f"With nothing rounded: {number(int(value))}")


def _crossing_mistakes(run: Sharded, flops: int, value: Fraction) -> Iterator[Mistake]:
    each, ranks = 4 + reduced_in(run), run.x.parallel.data
    for name, wrong, why in (
        (
            "forward pass alone",
            value * flops / FORWARD,
            f"computes 2 FLOPs a parameter; with the backward pass it is {flops}.",
        ),
        (
            "gradients not sent",
            value * 4 / each,
            "sends no gradients; they are reduce-scattered in each micro-batch.",
        ),
        (
            "gradients sent in 16 bits",
            value * 6 / each,
            "sends 16-bit gradients; with mixed precision FSDP2 reduces them in fp32.",
        ),
        (
            "gathered once only",
            value * (each - 2) / each,
            "gathers the weights once; they are freed after forward, and gathered again.",
        ),
        (
            "recomputation not counted" if flops > STEP else "recomputation counted",
            value * flops / (STEP if flops > STEP else STEP + AGAIN),
            f"has another number of FLOPs; here it is {flops} a parameter and token.",
        ),
        (
            "a GPU's own share alone",
            value / (ranks - 1),
            "sends one shard once; on a ring each GPU hands on those of all others too.",
        ),
        (
            "GB/s for Gb/s",
            8 * value,
            "takes the wire's rate for bits; GB/s are bytes.",
        ),
    ):
        shown = number(round(wrong))
        yield Mistake(name=name, value=Fraction(wrong), feedback=f"{shown} tokens: that {why}")
