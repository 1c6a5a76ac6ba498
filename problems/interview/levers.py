"""Levers in order of cost, their savings said beforehand, and what they do to time."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from engine.catalog import models
from engine.errors import InputError
from engine.levers.splits import megatrons
from engine.scenario import Parallel, Scenario
from engine.units import GB, TB
from problems.bank.levers import first_lever, lever_ranks, lever_savings, plan_states
from problems.bank.peak import step
from problems.costs import overlap
from problems.costs.sharded import Sharded
from problems.draw import Draw
from problems.exact import PHASES_SAID
from problems.interview import carried
from problems.interview.posed import Posed, Row, Talk, items_said, points
from problems.interview.script import Move, Question, Reuse
from problems.model_states import FP32
from problems.problem import Level
from problems.proposals import said
from problems.wording import gb, number, sentence, short

TRIES = 6
COUNTS: Mapping[Level, tuple[int, ...]] = {"mid": (4,), "senior": (4, 5, 6)}
TENSOR = 8
STAGES = (4, 2, 8)


def posed(talk: Talk, draw: Draw) -> Iterator[Posed]:
    """Yield the questions on levers."""
    yield Posed(question=_prediction(talk), takes=2)
    yield from _after(talk)
    yield Posed(question=_first(talk), takes=1)
    yield from _order(talk, draw)
    if talk.level == "senior":
        yield Posed(question=_network(talk), takes=2)
        yield Posed(question=_interplay(talk), takes=2, turn=5)
        yield from _plan(talk)


def _about(talk: Talk) -> str:
    """Return which run the levers are about, as a sentence."""
    changes = talk.runs.cramped.changes
    if not changes:
        return "It does not fit. "
    with_ = "with" if "context" in changes else "on"
    return f"Take the run {with_} {changes}, which does not fit. "


def _first(talk: Talk) -> Question:
    run, pulls = talk.runs.cramped.run, talk.runs.pulls
    first, memory = first_lever.ranked(pulls)[0], run.scenario.hardware.gpu.memory
    shown = " · ".join(
        f"{letter} {_named(pull)}"
        for letter, pull in zip(first_lever.LETTERS, pulls, strict=False)
    )
    return talk.number(
        "first-lever",
        "E",
        first_lever.first_of(run, pulls),
        says=(
            "Of these, which do you pull first: the one that makes it fit by itself and adds "
            f"least to the time of a step? {shown}"
        ),
        scenario=run.scenario,
        stronger=(
            f"{sentence(first.name)}: {first.peak} is left of {gb(memory)}, for {first.percent} "
            "of step time. The others are rejected by the lines that they do not touch, or by "
            "their price."
        ),
        practises=("first-lever", "which-fits", "oom-checklist"),
    )


def _named(pull: first_lever.Pull) -> str:
    """Return a lever as it may be picked by name, with its degree."""
    x = pull.run.scenario
    if pull.name == first_lever.CHEAPEST:
        return f"{pull.name} ({x.workload.micro_batch})"
    return pull.name


def _prediction(talk: Talk) -> Question:
    pull = talk.runs.pull
    lever = said(pull.name, pull.after.scenario)
    return talk.number(
        "prediction",
        "E",
        lever_savings.saving_of(pull),
        says=(
            f"{_about(talk)}Before you pull it: by how much would {lever} alone lower the peak, "
            "in GB?"
        ),
        scenario=pull.before.scenario,
        aspect="prediction",
        moves=carried.of_saving(talk, pull.before, pull.after),
        stronger=(
            "Says the saving before trying, from the lines that the lever touches, and the "
            f"highest moment afterwards: {PHASES_SAID[pull.after.ledger.peak_phase]}."
        ),
        practises=("lever-saving", "recompute-idle"),
    )


def _after(talk: Talk) -> Iterator[Posed]:
    pull, cramped = talk.runs.pull, talk.runs.cramped
    after = pull.after
    share = Fraction(after.ledger.peak, after.scenario.hardware.gpu.memory)
    is_clear = next(one for one in talk.runs.pulls if one.name == pull.name).is_enough == (
        share < 1
    )
    if not is_clear:
        return
    lever = said(pull.name, after.scenario)
    question = talk.number(
        "after-the-lever",
        "E",
        step.whether_it_fits(after),
        says=f"With {lever}: does it fit then, and at which peak, in GB?",
        scenario=after.scenario,
        changes=lever,
        reuses=(
            Reuse(
                question=cramped.key,
                plus=Fraction(-pull.saved),
                says=f"the peak of before, less the saving, {gb(pull.saved)}",
            ),
        ),
        moves=(
            Move(question="prediction", times=Fraction(-1)),
            *carried.of_moments(talk, cramped.run, after),
        ),
        moments=carried.moments(talk, cramped.run, after),
        stronger="Takes the saving off the peak that is known, in place of adding up anew.",
        practises=("lever-saving", "which-fits"),
    )
    yield Posed(question=question, takes=1, turn=11)


def _order(talk: Talk, draw: Draw) -> Iterator[Posed]:
    if talk.level == "junior":
        return
    x = talk.runs.cramped.run.scenario
    drafts = (lever_ranks.order_on(draw, x, COUNTS[talk.level]) for _ in range(TRIES))
    draft = next((one for one in drafts if one is not None), None)
    if draft is None:
        return
    shown = items_said(draft.answer)
    question = talk.number(
        "lever-order",
        "E",
        draft,
        says=f"Put these in order by what they add to the time of a step, cheapest first: {shown}",
        scenario=x,
        stronger="Says of each what it keeps busy: products, links or the host.",
        practises=("rank-levers", "lever-cost"),
    )
    yield Posed(question=question, takes=3, turn=7)


def _slowed(talk: Talk) -> str:
    """Return what the slow network changes; ZeRO-3 too where it is not there."""
    network = "network of 100 Gb/s"
    return network if talk.scenario.parallel.zero == 3 else f"ZeRO-3 on a {network}"


def _slowly(talk: Talk) -> str:
    return "" if talk.scenario.parallel.zero == 3 else "You have moved to ZeRO-3 (FSDP2). "


def _network(talk: Talk) -> Question:
    run = Sharded(x=talk.runs.slow, sharing=1)
    rates = (
        f"The network is 100 Gb/s for each GPU, and a node's share it: over the ring each sends "
        f"{short(run.rate / GB)} "
        f"GB/s, and computes {short(run.flops / TB)} TFLOP/s."
    )
    if overlap.verdict(run) is None:
        draft = overlap.tokens_to_hide(run, "estimate")
        asks = (
            f"Weights are sent in 16 bits, gradients in {_reduced_said(run)}. "
            "From how many tokens of a micro-batch on does a GPU compute for as long as it sends?"
        )
    else:
        draft = overlap.whether_it_hides(run, "estimate")
        asks = (
            "Does gathering the weights hide behind the forward pass of a micro-batch, and how "
            "many seconds does it take?"
        )
    return talk.number(
        "network",
        "E",
        draft,
        says=f"{_slowly(talk)}{rates} {asks}",
        scenario=run.x,
        changes=_slowed(talk),
        stronger=(
            "Compares two times, bytes over the wire and FLOPs over the products, and says that "
            "tokens of a micro-batch, not GPUs, decide which is longer."
        ),
        practises=("sharding-throughput", "lever-cost"),
    )


def _reduced_said(run: Sharded) -> str:
    """Return how wide gradients are on the wire: FSDP2 reduces them as they are stepped."""
    return "fp32" if overlap.reduced_in(run) == FP32 else "16 bits"


def _interplay(talk: Talk) -> Question:
    return Question(
        key="interplay",
        aspect="terms",
        says=(
            "On that network: what do ZeRO-3, full recomputation and a larger micro-batch do to "
            "the tokens a second, together?"
        ),
        scenario=talk.runs.slow,
        points=points("terms", _interplay_rows(talk)),
        stronger=(
            "Says what is bound by the wire and what by products, and spends memory that one "
            "lever frees on what the other needs."
        ),
        practises=("sharding-throughput", "lever-cost", "hybrid-sharding"),
    )


def _interplay_rows(talk: Talk) -> Iterator[Row]:
    run = Sharded(x=talk.runs.slow, sharing=1)
    x = run.x
    yield (
        "gathers-twice",
        f"ZeRO-3 gathers the weights for forward and for backward: {gb(run.gathered_once)} each.",
        "senior",
    )
    yield "third-more", "Full recomputation is one more forward: a third more products.", "senior"
    yield (
        "more-tokens-hide",
        (
            f"More tokens than {number(x.tokens)} a micro-batch hide the same bytes behind more "
            "products."
        ),
        "senior",
    )
    many = x.workload.gradient_accumulation
    again = f"{many} times" if many > 1 else "with each micro-batch"
    yield (
        "accumulation-sends",
        f"Accumulation gathers and reduces anew {again} a step.",
        "senior",
    )
    yield (
        "recompute-buys-batch",
        "Recomputation frees activations, which buys the larger micro-batch.",
        "senior",
    )
    yield (
        "shard-in-node",
        f"Sharding inside a node of {x.hardware.gpu.gpus_per_node} keeps gathers off the network.",
        "senior",
    )
    yield (
        "prefetch",
        "Gathering a layer ahead overlaps; only what is longer than its products is waited for.",
        "senior",
    )


def _plan(talk: Talk) -> Iterator[Posed]:
    x = talk.scenario
    found = _split(x)
    if found is None:
        return
    pipeline, moved = found
    data = moved.parallel.data
    plan = plan_states.Plan(
        parameters=models()[x.model.name].parameters,
        tensor=TENSOR,
        pipeline=pipeline,
        data=data,
        zero=1,
        wide=4,
    )
    plan_said = f"tensor {TENSOR} × pipeline {pipeline} × data {data}"
    question = talk.number(
        "plan",
        "E",
        plan_states.plan_of(models()[x.model.name], plan, x.hardware.gpu),
        says=(
            f"The same GPUs as {plan_said} on Megatron-LM, ZeRO-1 over the replicas, gradients "
            "in fp32. Take stages and shares as equal: parameters on a GPU, and GB of weights, "
            "gradients, optimizer, total?"
        ),
        scenario=moved,
        changes=plan_said,
        stronger=(
            "Puts tensor parallelism inside the node, stages across nodes and data over the rest, "
            "with the bytes of each GPU and what fails first."
        ),
        practises=("plan-states", "plan-formula"),
    )
    yield Posed(question=question, takes=3, turn=15)


def _split(x: Scenario) -> tuple[int, Scenario] | None:
    """Return stages and the run on Megatron-LM over tensor, pipeline and data ranks."""
    for pipeline in STAGES:
        data, rest = divmod(x.parallel.data, TENSOR * pipeline)
        if rest or data < 2 or x.recipe.precision != "mixed":
            continue
        try:
            return pipeline, replace(
                x,
                implementation="megatron",
                recipe=replace(megatrons(x.recipe), precision="mixed-fp32-grad"),
                parallel=Parallel(
                    data=data, tensor=TENSOR, pipeline=pipeline, zero=1, sequence_parallel=True
                ),
            )
        except InputError:
            continue
    return None
