"""The cheapest combinations of levers that fit.

A plan is a setting that fits and that no other makes needless: none that fits, and costs less or
no more than five points of a hundred of the step's time more, changes nothing further. So a
further plan is dearer and does with less of some change, and where the run fits as it is, every
plan is faster by more than that. Plans of one price stand in the order of how invasive their
levers are, and of those with the same levers only the first is told. Where nothing fits without,
levers that change numerics are pulled too.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.costs.step_time import Work, step_time, works
from engine.estimate import capacity
from engine.levers.memory import Need, need
from engine.levers.registry import levers
from engine.levers.space import BACK, Setting, settings
from engine.levers.ties import TIE, tied
from engine.modelled import require_training
from engine.scenario import Scenario

MOST = 5
HUNDRED = 100
# Of a lower bound, so that sums in another order are not above what they bound.
ROUNDED = 1 - 1e-6


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Levers that are pulled together.

    Attributes:
        levers: their names, and those of `engine.levers.space.BACK`, which take one back.
        scenario: what they make of the scenario.
        peak: bytes allocated.
        spare: bytes of the card that nvidia-smi would leave, at its upper estimate.
        overhead: step time over that of the scenario, less 1.
    """

    levers: tuple[str, ...]
    scenario: Scenario
    peak: int
    spare: int
    overhead: float

    def price(self, scenario: Scenario) -> float:
        """Return the overhead; where it moves to another stack, the stack's gains do not count."""
        moves = self.scenario.implementation != scenario.implementation
        return max(0.0, self.overhead) if moves else self.overhead


@dataclass(frozen=True, kw_only=True)
class Plans:
    """The plans of a scenario.

    Attributes:
        plans: the one to begin with first.
        room: bytes that nvidia-smi may show.
        tried: settings that were looked at.
        fitting: settings that fit.
    """

    plans: tuple[Plan, ...]
    room: int
    tried: int
    fitting: int


def plans(scenario: Scenario, *, headroom: int = 0) -> Plans:
    """Return the cheapest plans, at most five, of all settings of `engine.levers.space`.

    Args:
        scenario: what is to fit.
        headroom: percent of the card that are to stay free at the upper estimate of what
            nvidia-smi would show.

    Raises:
        UnmodelledError: the scenario is one of inference.
    """
    require_training(scenario, "plans", "change the scenario; memquiz solve says what has room")
    room = capacity(scenario) * (HUNDRED - headroom) // HUNDRED
    found = _among(scenario, list(settings(scenario)), room)
    if found.plans or found.fitting:
        return found
    return _among(scenario, list(settings(scenario, numerics=True)), room)


def _among(scenario: Scenario, every: Sequence[Setting], room: int) -> Plans:
    needs = need([setting.scenario for setting in every])
    fitting = [at for at, shown in enumerate(needs.shown) if shown <= room]
    before = step_time(scenario).seconds
    front = [
        _Found(setting=every[fitting[at]], at=fitting[at], overhead=seconds / before - 1)
        for seconds, at in _front([every[at] for at in fitting])
    ]
    kept = list(_kept(front))
    made = [_plan(one, needs, room) for one in kept if one.setting.levers]
    if any(not one.setting.levers for one in kept):  # it fits as it is
        made = [plan for plan in made if plan.price(scenario) < -TIE]
    groups = tied(made, lambda plan: plan.price(scenario))
    ordered = [plan for group in groups for plan in sorted(group, key=_invasiveness)]
    first: dict[tuple[str, ...], Plan] = {}
    for plan in ordered:
        first.setdefault(plan.levers, plan)
    return Plans(
        plans=tuple(first.values())[:MOST], room=room, tried=len(every), fitting=len(fitting)
    )


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A setting of the front: the place of its needs, and its step time over the scenario's."""

    setting: Setting
    at: int
    overhead: float


def _plan(found: _Found, needs: Need, room: int) -> Plan:
    return Plan(
        levers=found.setting.levers,
        scenario=found.setting.scenario,
        peak=needs.peak[found.at],
        spare=room - needs.shown[found.at],
        overhead=found.overhead,
    )


def _invasiveness(plan: Plan) -> tuple[int, float]:
    return sum(map(invasiveness, plan.levers)), plan.overhead


def invasiveness(name: str) -> int:
    """Return how invasive a lever is, or taking it back."""
    return levers()[BACK.get(name, name)].invasiveness


def _kept(front: Sequence[_Found]) -> Iterator[_Found]:
    """Yield what none that is kept makes needless, were it dearer by what counts as a tie.

    What changes least comes first, so that what is hidden hides nothing.
    """
    kept: list[_Found] = []
    for one in sorted(front, key=lambda found: changed(found.setting)):
        near = (other for other in kept if other.overhead <= one.overhead + TIE)
        if not any(needless(one.setting, other.setting) for other in near):
            kept.append(one)
    yield from kept


def _front(fitting: Sequence[Setting]) -> Iterator[tuple[float, int]]:
    """Yield seconds and place of the settings that no cheaper one makes needless, cheapest first.

    A setting's price is looked at more closely only when none can be cheaper by what is known.
    """
    prices = _Prices(max((one.scenario.workload.micro_batch for one in fitting), default=1))
    ways = (prices.rough, prices.near, prices.exact)
    heap = [(ways[0](one.scenario), 0, changed(one), at) for at, one in enumerate(fitting)]
    heapq.heapify(heap)
    found: list[Setting] = []
    while heap:
        seconds, known, pulled, at = heapq.heappop(heap)
        setting = fitting[at]
        if any(needless(setting, one) for one in found):
            continue
        if known < len(ways) - 1:
            closer = ways[known + 1](setting.scenario)
            heapq.heappush(heap, (closer, known + 1, pulled, at))
            continue
        found.append(setting)
        yield seconds, at


def needless(setting: Setting, other: Setting) -> bool:
    """Say whether `other` pulls no lever further than `setting` does, and takes none back more."""
    pairs = zip(other.degrees, setting.degrees, strict=True)
    return all(0 <= less <= more or more <= less <= 0 for less, more in pairs)


def changed(setting: Setting) -> int:
    """Return by how many degrees a setting differs from the scenario, all levers together."""
    return sum(map(abs, setting.degrees))


class _Prices:
    """Seconds of a step, ever closer: what many settings have in common is found once.

    Args:
        most: the largest micro-batch of all.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[object, ...], tuple[Work, ...]] = {}

    def rough(self, scenario: Scenario) -> float:
        """Return no more than `near` does: the slowest stage, in the largest micro-batches.

        What a micro-batch costs beside its sequences is spread over more of them there.
        """
        work = scenario.workload
        sequences = work.micro_batch * work.gradient_accumulation
        slowest = max(one.seconds for one in self._works(scenario, self._most))
        return sequences / self._most * slowest * ROUNDED**2

    def near(self, scenario: Scenario) -> float:
        """Return the seconds without what follows the last micro-batch."""
        work = scenario.workload
        seconds = [one.seconds for one in self._works(scenario, work.micro_batch)]
        return (sum(seconds) + (work.gradient_accumulation - 1) * max(seconds)) * ROUNDED

    def exact(self, scenario: Scenario) -> float:
        """Return the seconds of the whole step."""
        return step_time(scenario, self._works(scenario, scenario.workload.micro_batch)).seconds

    def _works(self, scenario: Scenario, micro_batch: int) -> tuple[Work, ...]:
        recipe, parallel = scenario.recipe, scenario.parallel
        key = (
            scenario.implementation,
            micro_batch,
            (recipe.precision, recipe.attention, recipe.recompute, recipe.loss),
            (parallel.tensor, parallel.pipeline, parallel.context, parallel.sequence_parallel),
            (parallel.expert, scenario.offload),
        )
        if key not in self._known:
            work = replace(scenario.workload, micro_batch=micro_batch)
            self._known[key] = works(replace(scenario, workload=work))
        return self._known[key]
