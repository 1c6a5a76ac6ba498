"""ZeRO-3 over all ranks, where groups of them each had a whole model (HSDP)."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    parallel = scenario.parallel
    if parallel.zero != 3:
        return WhyNot(sentence=f"it is about the shards of ZeRO-3, not ZeRO-{parallel.zero}")
    if parallel.shards == parallel.sharing:
        return WhyNot(sentence="the shards are over all ranks already")
    return replace(scenario, parallel=replace(parallel, shard=0))


LEVER = Lever(
    name="wider shards",
    short=("full shard", "no hsdp", "shard over all", "wider sharding"),
    says="shard = 0 (over all ranks, not groups of them)",
    change=_change,
    invasiveness=10,
)
