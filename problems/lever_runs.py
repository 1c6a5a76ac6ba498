"""Runs that do not fit their card, and what a lever does to the time of their step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from engine.costs.assumptions import CPU_ADAM, NVME_READ, NVME_WRITE
from engine.costs.step_time import Resource, StepTime, step_time
from engine.levers.lever import WhyNot
from engine.levers.registry import levers
from engine.levers.splits import cannot_move, megatrons, on_megatron
from engine.scenario import Scenario
from engine.units import GB
from problems import scenarios
from problems.draw import Draw
from problems.wording import listed, short

# Of a step's time: a change of a term below it is not told.
NOTABLE = 0.002
# What a step does not wait for as long as it did, or longer: these hide behind products in part.
WAITED_FOR = {
    "weights gathered": "waiting for gathered weights",
    "gradients reduced": "waiting for reduced gradients",
}
# Percent of the card that a run takes on paper which does not fit and may be made to.
CRAMPED = (115, 260)
SPLITS = {"tensor parallel": "tensor", "pipeline parallel": "pipeline"}
RESOURCES = {
    Resource.PRODUCTS: "matrix products",
    Resource.MEMORY: "passes over GPU memory",
    Resource.LINK: "waiting for the links",
}
WHY = {
    "smaller micro-batch": "more passes of fewer tokens: the same products, launched more often",
    "fused attention": "the scores never go through memory: less to read and write",
    "fused optimizer": "one pass over the states in place of many",
    "fused cross entropy": "the logits pass through memory fewer times",
    "chunked cross entropy": "the head's products, rows at a time: the same work",
    "selective recompute": "attention runs once more, a small part of the products",
    "ZeRO-1": "weights gathered in place of half of the all-reduce: still 2 × parameters sent",
    "ZeRO-2": "the same 2 × parameters on the wire as plain DDP",
    "ZeRO-3": "weights gathered in forward and in backward: 3 × parameters on the wire, not 2",
    "full recompute": "one more forward beside forward and backward: 1/3 more products",
    "tensor parallel": "two exchanges of all tokens a layer, forward and backward, none hidden",
    "pipeline parallel": "stages wait for each other, (p - 1)/m of the work",
    "activation offload": "full recompute, and each layer's input to the host and back",
    "CPU offload": "gradients to the host, stepped there, and weights back, every step",
    "NVMe offload": "CPU offload, and all states read from drives and written back every step",
}


def cramped(draw: Draw) -> Scenario | None:
    """Return a run that does not fit, None where what was drawn is none.

    Cards that are older than FlashAttention-2 are left out.
    """
    scenario = scenarios.run(draw, low=CRAMPED[0], high=CRAMPED[1])
    if scenario is None or scenarios.is_old(scenario.hardware.gpu):
        return None
    return scenario


def pulled(draw: Draw, scenario: Scenario, name: str) -> Scenario | None:
    """Return what a lever makes of a run, None where it does not apply.

    A lever that has degrees is pulled to a drawn one, whether the run fits then or not.
    """
    if name == "smaller micro-batch":
        return _smaller(draw, scenario)
    if name in SPLITS:
        return _split(draw, scenario, SPLITS[name])
    after = levers()[name].applied(scenario)
    return None if isinstance(after, WhyNot) else after


def _smaller(draw: Draw, scenario: Scenario) -> Scenario | None:
    """Return a run with micro-batches of a part of the size, and as many more of them."""
    work = scenario.workload
    parts = [n for n in (2, 4, 8) if work.micro_batch % n == 0]
    if not parts:
        return None
    n = draw.choice(parts)
    smaller = replace(
        work,
        micro_batch=work.micro_batch // n,
        gradient_accumulation=n * work.gradient_accumulation,
    )
    return replace(scenario, workload=smaller)


def _split(draw: Draw, scenario: Scenario, key: str) -> Scenario | None:
    """Return a run on Megatron-LM whose ranks share matrices or layers, sequences kept."""
    most = min(scenario.parallel.data, scenario.hardware.gpu.gpus_per_node)
    a = scenario.architecture
    parts = [n for n in (2, 4, 8) if n <= most and _divides(n, key, (a.layers, a.kv_heads))]
    if not parts or cannot_move(scenario):
        return None
    n, moved = draw.choice(parts), on_megatron(scenario.parallel)
    work = scenario.workload
    split: dict[str, Any] = {key: n}
    if key == "tensor":
        split["sequence_parallel"] = True
    return replace(
        scenario,
        implementation="megatron",
        workload=replace(work, gradient_accumulation=n * work.gradient_accumulation),
        recipe=megatrons(scenario.recipe),
        parallel=replace(moved, data=moved.data // n, **split),
    )


def _divides(n: int, key: str, sizes: tuple[int, int]) -> bool:
    layers, heads = sizes
    return (layers if key == "pipeline" else heads) % n == 0


@dataclass(frozen=True, kw_only=True)
class Priced:
    """A lever on a run, with the time of the step before and after."""

    name: str
    scenario: Scenario
    before: StepTime
    after: StepTime

    @property
    def overhead(self) -> float:
        """Step time over that before, less 1."""
        return self.after.seconds / self.before.seconds - 1

    @property
    def percent(self) -> Fraction:
        """The overhead in percent, to a hundredth: what lies below is no one's to know."""
        return Fraction(round(10_000 * self.overhead), 100)

    @cached_property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The terms of the step's time that change, with seconds more, the largest first."""
        rows: dict[str, float] = {}
        for sign, time in ((-1, self.before), (1, self.after)):
            for term in time.terms:
                rows[term.name] = rows.get(term.name, 0.0) + sign * term.seconds
        return tuple(sorted((row for row in rows.items() if row[1]), key=lambda row: -abs(row[1])))

    @property
    def notable(self) -> tuple[tuple[str, float], ...]:
        """The two of them that change most, as far as they do notably."""
        least = NOTABLE * self.before.seconds
        return tuple(row for row in self.terms[:2] if abs(row[1]) >= least)

    @property
    def waits_less(self) -> bool:
        """Whether a step waits less for gathered weights than before."""
        return any(name.startswith("weights gathered") and more < 0 for name, more in self.terms)

    @property
    def adds(self) -> str:
        """What more of a step's work the lever brings, as a verb with its object."""
        if self.after.host_bytes > self.before.host_bytes:
            return "to the host and back"
        if self.after.communication_bytes > self.before.communication_bytes:
            return "more on the links"
        return "more products" if self.after.flops > self.before.flops else "none of these"


def priced(name: str, before: StepTime, after: Scenario) -> Priced:
    """Return a lever with the time of the step that it leads to."""
    return Priced(name=name, scenario=after, before=before, after=step_time(after))


def seconds(value: float) -> str:
    """Return seconds to three digits: "13.8 s", "0.412 s"."""
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f} s"


def shares(time: StepTime) -> str:
    """Return where the time of a step goes: "90% matrix products and 10% passes over …"."""
    parts = [(100 * time.seconds_of(r) / time.seconds, said) for r, said in RESOURCES.items()]
    rows = [(round(percent), said) for percent, said in sorted(parts, reverse=True)]
    return listed([f"{percent}% {said}" for percent, said in rows if percent])


def wires(scenario: Scenario) -> str:
    """Return what a GPU can send, in GB/s one way: "450 GB/s to GPUs of its node and …"."""
    gpu, ranks = scenario.hardware.gpu, scenario.hardware.gpus
    said = []
    if ranks > 1 and gpu.nvlink_gb_s:
        where = "the GPUs of its node" if gpu.nvlink_gpus > 2 else "the other GPU of its pair"
        said.append(f"{gpu.nvlink_gb_s:g} GB/s to {where}")
    if ranks > gpu.gpus_per_node:
        said.append(f"{gpu.network_gb_s:g} GB/s to other nodes")
    joined = ranks == 1 or (gpu.nvlink_gb_s and gpu.nvlink_gpus > 2)
    said.append(f"{gpu.pcie_gb_s:g} GB/s to the host{'' if joined else ' and other GPUs'}")
    return listed(said)


def told(scenario: Scenario, time: StepTime, changed: Iterable[Scenario]) -> dict[str, str]:
    """Return what a prompt says of a step's time, of the wires and of what levers change."""
    said = dict.fromkeys(text for after in changed for text in details(scenario, after))
    return {
        "seconds": seconds(time.seconds),
        "shares": shares(time),
        "wires": wires(scenario),
        "details": "; ".join(said),
    }


def details(old: Scenario, new: Scenario) -> Iterator[str]:
    """Yield what the name of a lever leaves open: by how much, at what rates, with what else."""
    work = new.workload
    if new.offload.optimizer != old.offload.optimizer:
        yield f"a host steps {CPU_ADAM / GB:.2g} billion parameters a second"
    if new.offload.optimizer == "nvme":
        yield f"its drives read {NVME_READ // GB} GB/s and write {NVME_WRITE // GB} GB/s"
    if new.implementation != old.implementation and new.parallel.zero < old.parallel.zero:
        yield f"Megatron-LM has ZeRO-{new.parallel.zero} in place of ZeRO-{old.parallel.zero}"
    if old.workload.micro_batch != work.micro_batch:
        yield f"micro-batch of {work.micro_batch}, {work.gradient_accumulation} accumulated"
    together = f"on Megatron-LM, m = {work.gradient_accumulation} micro-batches a step"
    if new.parallel.tensor != old.parallel.tensor:
        yield f"tensor and sequence parallel over {new.parallel.tensor} ranks, {together}"
    if new.parallel.pipeline != old.parallel.pipeline:
        yield f"pipeline parallel over p = {new.parallel.pipeline} ranks, {together}"
    if new.offload != old.offload and new.parallel.zero != old.parallel.zero:
        yield f"offload of optimizer states with ZeRO-{new.parallel.zero}"
    yield from sharding_said(old, new)


def sharding_said(old: Scenario, new: Scenario) -> Iterator[str]:
    """Yield whose ZeRO it is that a lever brings, with what it holds beside the shares."""
    stage = new.parallel.zero
    if new.implementation != old.implementation or stage <= old.parallel.zero:
        return
    if stage == 3:
        yield (
            "ZeRO-3 is FSDP2, layers gathered one ahead, behind products, embedding and head "
            "until their backward"
        )
    elif stage == 2 or new.recipe.precision != "mixed-fp32-grad":
        yield f"ZeRO-{stage} is DeepSpeed's, its reduce bucket 500 million elements"


def why(row: Priced) -> str:
    """Return why a lever costs what it does, in a few words."""
    if row.name == "pipeline parallel":
        x = row.scenario
        stages, many = x.parallel.pipeline, x.workload.gradient_accumulation
        return f"{WHY[row.name]}: ({stages} - 1)/{many} = {short(Fraction(stages - 1, many))}"
    if row.name == "ZeRO-3" and row.waits_less:
        return f"{WHY[row.name]}, but a layer ahead, so that the step waits less for them"
    if row.name == "smaller micro-batch" and row.adds == "more on the links":
        return _sent_anew(row)
    return WHY[row.name]


def _sent_anew(row: Priced) -> str:
    """Return what more and smaller passes send, and whether the step notably waits for it."""
    times = row.after.communication_bytes / row.before.communication_bytes
    names = [name for name, _ in row.notable]
    hidden = not any(name.startswith(tuple(WAITED_FOR)) for name in names)
    launched = any(name.startswith("launching") for name in names)
    return (
        f"each pass sends anew, {times:.2g} × the bytes"
        f"{', which hide behind products' if hidden else ' on the links'}"
        f"{'; operators are launched more often' if launched else ''}"
    )


def most(row: Priced) -> str:
    """Return the two terms of the step's time that change most, as far as they do notably."""
    said = [
        f"{_waited(term)} {'+' if more > 0 else '-'}{seconds(abs(more))}"
        for term, more in row.notable
    ]
    return f" ({', '.join(said)})" if said else ""


def _waited(term: str) -> str:
    for name, said in WAITED_FOR.items():
        if term.startswith(name):
            return said + term.removeprefix(name)
    return term
