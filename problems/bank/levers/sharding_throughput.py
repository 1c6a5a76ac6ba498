"""Topic E, levers: what sharding and recomputation do to the tokens a second."""

from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from engine.units import GB
from problems import scenarios
from problems.costs import overlap, trade
from problems.costs.sharded import Sharded
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.on_paper import parameters_of

RANKS = (8, 16, 32, 64, 128, 256)
# Bytes of states a parameter, and half as many again.
STATES = 24
# GPUs that share what is one GPU's network card in the catalogue: clouds differ.
SHARING = (1, 2, 4, 8)


@kind(
    name="sharding-throughput",
    topic="E",
    level="senior",
    title="What sharding and recomputation do to throughput",
    sources=(
        "docs/levers.md",
        "arXiv 1910.02054 section 7",
        "arXiv 2205.05198 section 5",
    ),
)
def sharding_throughput(draw: Draw) -> Draft | None:
    """Ask what hides behind computing, from where on, or what a larger micro-batch is worth."""
    gpu = scenarios.gpu_for(draw, scenarios.MOST_RANKS[0])
    ranks, model = draw.choice(RANKS), scenarios.modelled(draw.choice(scenarios.trainable()))
    parameters = parameters_of(model.architecture)
    # The states have to fit, with room for the rest.
    if scenarios.is_old(gpu) or parameters < GB or STATES * parameters > ranks * gpu.memory:
        return None
    x = Scenario(
        model=model,
        workload=Workload(sequence=scenarios.sequence_for(draw, model, attention="flash")),
        recipe=Recipe(precision=draw.weighted((("mixed", 3), ("pure-bf16", 1)))),
        parallel=Parallel(data=ranks, zero=3),
        hardware=Hardware(gpu=gpu, gpus=ranks),
    )
    within = ranks <= gpu.gpus_per_node
    run = Sharded(x=x, sharing=1 if within else draw.choice(SHARING))
    return draw.choice((overlap.hides, overlap.crossing, trade.pays))(draw, run)
