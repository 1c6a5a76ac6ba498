"""What an optimizer on the host costs: the way there and back."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.costs.assumptions import PCIE_SHARE
from engine.costs.host import Offloaded
from engine.scenario import Hardware, Offload, Parallel, Scenario, Workload
from engine.units import GB, GIB
from problems import scenarios
from problems.amounts import in_billions
from problems.answers.quantity import QuantityAnswer
from problems.costs.told import Row, told
from problems.counted import to_the_host
from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Step
from problems.prompts import render
from problems.wording import gb, in_seconds, paper, rounded

RANKS = (1, 2, 4, 8)
# Bytes a parameter: gradients down and weights up, both in 16 bits; what stays, in fp32.
EACH, STATES = 4, 12
# Bytes a parameter that the GPU has to hold at least: weights, and room for the rest.
WHOLE = 3


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """What a GPU moves in a step over its own wire."""

    parameters: int
    ranks: int
    rate: Fraction
    work: Offloaded

    @property
    def seconds(self) -> Fraction:
        """Seconds that it takes, one way after the other."""
        return (self.work.down + self.work.up) / self.rate

    @property
    def on_paper(self) -> Fraction:
        """Bytes of it on paper."""
        return Fraction(EACH * rounded(self.parameters), self.ranks)

    @property
    def said(self) -> str:
        """The rate in GB/s."""
        return f"{float(self.rate / GB):g}"


def offload(draw: Draw) -> Draft | None:
    """Ask for the seconds that gradients and weights take to the host and back."""
    ranks, model = draw.choice(RANKS), scenarios.modelled(draw.choice(scenarios.trainable()))
    gpu = scenarios.gpu_for(draw, ranks, precision="pure-bf16")
    if WHOLE * model.architecture.parameters > gpu.memory:
        return None
    x = Scenario(
        model=model,
        workload=Workload(sequence=scenarios.SEQUENCES[0][0]),
        parallel=Parallel(data=ranks, zero=2 if ranks > 1 else 0),
        offload=Offload(optimizer="cpu"),
        hardware=Hardware(gpu=gpu, gpus=ranks),
    )
    moved = Transfer(
        parameters=model.architecture.parameters,
        ranks=ranks,
        rate=Fraction(str(round(gpu.pcie_gb_s * PCIE_SHARE, 1))) * GB,
        work=to_the_host(x),
    )
    return Draft(
        prompt=render("cost-offload", x=x, rate=moved.said),
        answer=QuantityAnswer(value=moved.seconds, unit="s", default_unit="s"),
        hints=(
            "The states never leave the host. What crosses the wire for a parameter, each way?",
            f"Down and up it is {EACH} bytes a parameter, of a GPU's share.",
            f"A GPU moves {paper(moved.on_paper)} in all; divide that by what its wire carries.",
        ),
        solution=tuple(_steps(moved)),
        mistakes=told(_mistakes(moved), in_seconds),
        scenario=x,
    )


def _steps(moved: Transfer) -> Iterator[Step]:
    share = f"/{moved.ranks}" if moved.ranks > 1 else ""
    size = paper(moved.on_paper)
    for text in (
        f"bytes a parameter: 2 down + 2 up = {EACH}",
        f"a GPU's share: {EACH}{share} × {in_billions(moved.parameters)} = {size}",
        f"over {moved.said} GB/s: {in_seconds(moved.on_paper / moved.rate)}",
    ):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"exactly: {gb(moved.work.down)} of gradients, {gb(moved.work.up)} of weights")
    yield Step(text=f"With nothing rounded: {in_seconds(moved.seconds)}")


def _mistakes(moved: Transfer) -> Iterator[Row]:
    states = Fraction(STATES * moved.parameters, moved.ranks) / moved.rate
    yield (
        "one way only",
        moved.work.down / moved.rate,
        "is the way of the gradients alone; the stepped weights come back besides.",
    )
    yield (
        "not shared",
        moved.seconds * moved.ranks,
        f"moves all of them over one wire; each of {moved.ranks} GPUs moves its share.",
    )
    yield (
        "the states moved",
        moved.seconds + 2 * states,
        "moves master copy and moments too; they stay on the host, where they are stepped.",
    )
    yield (
        "the states alone",
        states,
        "is the way of master copy and moments, which do not move at all.",
    )
    yield (
        "everything in fp32",
        2 * moved.seconds,
        "moves 4 bytes a parameter each way; both go in 16 bits.",
    )
    yield (
        "GiB for GB",
        moved.seconds * GB / GIB,
        "has the rate in GiB/s; it is in GB/s, of 10^9 bytes.",
    )
