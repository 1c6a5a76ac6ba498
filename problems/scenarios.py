"""Plausible scenarios: models, recipes, cards and numbers of GPUs that occur together."""

from dataclasses import replace
from functools import cache

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import CatalogModel, accelerators, models
from engine.errors import UnmodelledError
from engine.scenario import Hardware, Model, Parallel, Recipe, Scenario, Workload
from engine.units import GB
from problems.draw import Draw
from problems.on_paper import on_paper, parameters_of, states_that_stay

PRECISIONS = (("mixed", 6), ("mixed-fp32-grad", 2), ("fp32", 2), ("autocast", 2), ("pure-bf16", 2))
# FSDP2 shards fp32 weights or shards all in one dtype; the other two are refused by the scenario.
SHARDED_PRECISIONS = (("mixed", 5), ("fp32", 1), ("pure-bf16", 2))
OPTIMIZERS = (("adamw", 6), ("adamw-fused", 3), ("sgd-momentum", 2), ("sgd", 1))
# Those of them that keep something for each parameter.
WITH_STATES = (("adamw", 6), ("adamw-fused", 3), ("sgd-momentum", 1))

# Parameters below which the ranks are usual, in billions, and the ranks.
RANKS = (
    (2, (2, 4, 8, 16, 32)),
    (15, (2, 4, 8, 16, 32, 64, 128, 256)),
    (80, (8, 16, 32, 64, 128, 256, 512)),
)
MOST_RANKS = (32, 64, 128, 256, 512, 2**10)
NODE = 8
USUAL_SEQUENCE = 2048
LARGEST_CLUSTER = 512

SEQUENCES = (
    (512, 1),
    (2**10, 3),
    (2048, 4),
    (4096, 4),
    (8192, 4),
    (16384, 2),
    (32768, 2),
    (65536, 1),
    (131072, 1),
)
MICRO_BATCHES = (1, 2, 4, 8, 16, 32)
ACCUMULATIONS = (2, 4, 8, 16, 32)
LONGEST_EAGER = 4096
MOST_TOKENS = 131072
USUAL_DROPOUT = 0.1
# Before Ampere: no bf16 in the matrix units and no FlashAttention-2.
OLD = ("p100", "v100", "t4")
# Their NVLink is a bridge between two cards.
BRIDGED = ("a30", "a40", "rtx", "pcie", "nvl")

# Without autocast: its casts of activations are more than one adds up on paper.
RUN_PRECISIONS = (("mixed", 5), ("mixed-fp32-grad", 2), ("fp32", 2), ("pure-bf16", 2))
RECOMPUTES = {
    "flash": (("none", 1), ("full", 1)),
    "eager": (("none", 2), ("selective", 1), ("full", 1)),
}
# Billions of parameters up to which one node is enough, and from which many nodes and ZeRO-3 are
# the rule.
SMALL, LARGE = 3, 60


def any_model(draw: Draw) -> CatalogModel:
    """Return any catalogued model: parameters are exact for all of them."""
    return draw.choice(tuple(models().values()))


def any_parameters(draw: Draw) -> tuple[str, int]:
    """Return a catalogued model's title and parameters, or "a model" of so many."""
    if draw.chance(40):
        model = any_model(draw)
        return model.title, model.parameters
    digits, zeros = draw.between(101, 999), draw.choice((6, 7, 7, 8, 8))
    return "a model", int(f"{digits}{'0' * zeros}")


def states_recipe(draw: Draw, *, zero: int = 0) -> tuple[str, str]:
    """Return a precision and an optimizer that go with a ZeRO stage."""
    precision = draw.weighted(SHARDED_PRECISIONS if zero == 3 else PRECISIONS)
    return precision, draw.weighted(OPTIMIZERS)


def ranks_for(draw: Draw, model: CatalogModel) -> int:
    """Return a number of data-parallel ranks that a model of this size is trained on."""
    for billions, ranks in RANKS:
        if model.parameters < billions * GB:
            return draw.choice(ranks)
    return draw.choice(MOST_RANKS)


def gpu_for(draw: Draw, ranks: int, *, precision: str = "mixed") -> Accelerator:
    """Return a card; beyond one node one with a fast link, for pure bf16 one that has bf16."""
    return draw.choice(gpus_for(ranks, precision=precision))


def gpus_for(ranks: int, *, precision: str = "mixed") -> tuple[Accelerator, ...]:
    """Return the cards that `gpu_for` draws from."""
    bf16 = precision == "pure-bf16"
    return tuple(
        gpu
        for gpu in accelerators().values()
        if (ranks <= NODE or _has_fast_link(gpu)) and not (bf16 and is_old(gpu))
    )


def is_old(gpu: Accelerator) -> bool:
    """Return whether a card is older than Ampere."""
    return gpu.name.startswith(OLD)


def _has_fast_link(gpu: Accelerator) -> bool:
    """Return whether clusters of many nodes are built of it; a bridge joins pairs only."""
    return gpu.nvlink_gb_s > 0 and not any(part in gpu.name for part in BRIDGED)


def of_states(
    model: CatalogModel, recipe: tuple[str, str], gpu: Accelerator, stage: int, ranks: int
) -> Scenario | None:
    """Return a scenario with these model states.

    None where the ledger cannot model the rest, for blocks that no question tells of, and for
    experts: under ZeRO-3 they lie whole on the first ranks, which is another question.
    """
    precision, optimizer = recipe
    if model.architecture.experts is not None or not _is_plain(model.architecture):
        return None
    try:
        return Scenario(
            model=modelled(model.name),
            workload=Workload(sequence=min(model.max_sequence, USUAL_SEQUENCE)),
            recipe=Recipe(
                precision=precision,
                optimizer=optimizer,
                attention="eager" if is_old(gpu) else "flash",
            ),
            parallel=Parallel(data=ranks, zero=stage),
            hardware=Hardware(gpu=gpu, gpus=ranks),
        )
    except UnmodelledError:
        return None


def _is_plain(a: Architecture) -> bool:
    """Return whether a layer has norms before its parts alone, and no caps."""
    return a.norm_inputs and not a.norm_outputs and a.qk_norm != "full" and not a.soft_cap


@cache
def modelled(name: str) -> Model:
    """Return a catalogued model as a scenario takes it."""
    model = models()[name]
    return Model(
        name=model.name,
        title=model.title,
        architecture=model.architecture,
        max_sequence=model.max_sequence,
    )


@cache
def trainable() -> tuple[str, ...]:
    """Return the names of the models whose step is asked about: dense, and turning whole heads."""
    gpu = next(iter(accelerators().values()))
    recipe = ("mixed", "adamw")
    return tuple(
        name
        for name, model in models().items()
        if model.architecture.rotary_dim == model.architecture.head_dim
        and of_states(model, recipe, gpu, 0, 1) is not None
    )


def sequence_for(draw: Draw, model: Model, *, attention: str) -> int:
    """Return a usual sequence length that the model and the attention allow."""
    most = min(model.max_sequence, LONGEST_EAGER if attention == "eager" else MOST_TOKENS)
    return draw.weighted([row for row in SEQUENCES if row[0] <= most])


def dropout_for(draw: Draw, model: Model) -> float:
    """Return the published dropout or none; 0.1 at times where blocks are GPT's."""
    if model.architecture.gated:
        return 0.0
    return draw.choice((0.0, model.architecture.dropout or USUAL_DROPOUT))


def one_gpu_step(draw: Draw, *, recomputes: tuple[str, ...]) -> Scenario:
    """Return a step on one GPU that is all about activations: the rest of it is ordinary."""
    model = modelled(draw.choice(trainable()))
    recompute = draw.choice(recomputes)
    gpu = gpu_for(draw, 1)
    eager = recompute == "selective" or is_old(gpu) or draw.chance(35)
    attention = "eager" if eager else "flash"
    sequence = sequence_for(draw, model, attention=attention)
    return Scenario(
        model=model,
        workload=Workload(
            micro_batch=draw.choice([m for m in MICRO_BATCHES if m * sequence <= MOST_TOKENS]),
            sequence=sequence,
            gradient_accumulation=draw.choice(ACCUMULATIONS),
        ),
        recipe=Recipe(
            precision=draw.weighted((("mixed", 4), ("fp32", 1))),
            attention=attention,
            recompute=recompute,
            dropout=dropout_for(draw, model),
        ),
        hardware=Hardware(gpu=gpu),
    )


def run(draw: Draw, *, low: int, high: int, most: int = 32) -> Scenario | None:
    """Return a training run that takes `low` to `high` percent of its card, on paper.

    Its micro-batch is at most `most` sequences.

    None where the drawn model, card and recipe cannot come near.
    """
    gpu = draw.choice(tuple(accelerators().values()))
    old = is_old(gpu)
    model = modelled(draw.choice(trainable()))
    ranks = _run_ranks(draw, gpu, model)
    zero = _run_zero(draw, model, ranks)
    attention = "eager" if old or draw.chance(15) else "flash"
    precisions = SHARDED_PRECISIONS if zero == 3 else RUN_PRECISIONS
    recipe = Recipe(
        precision=draw.weighted([row for row in precisions if not old or row[0] != "pure-bf16"]),
        optimizer=draw.weighted(OPTIMIZERS),
        attention=attention,
        recompute=draw.weighted(RECOMPUTES[attention]),
        dropout=dropout_for(draw, model),
    )
    base = Scenario(
        model=model,
        workload=Workload(
            sequence=sequence_for(draw, model, attention=attention),
            gradient_accumulation=draw.choice((1, 1, 2, 4, 8, 16)),
        ),
        recipe=recipe,
        parallel=Parallel(data=ranks, zero=zero),
        hardware=Hardware(gpu=gpu, gpus=ranks),
    )
    return _filled(draw, base, (low, high), most)


def across_nodes(draw: Draw, *, low: int, high: int) -> Scenario | None:
    """Return a run of many nodes under ZeRO-2 or 3 that takes `low` to `high` percent of a card.

    None where the drawn model, card and recipe cannot come near.
    """
    gpu = draw.choice(_networked())
    model = modelled(draw.choice([n for n in trainable() if models()[n].parameters > GB]))
    ranks = draw.choice([n for n in MOST_RANKS if n <= LARGEST_CLUSTER])
    large = parameters_of(model.architecture) > LARGE * GB
    attention = "eager" if draw.chance(15) else "flash"
    base = Scenario(
        model=model,
        workload=Workload(
            sequence=sequence_for(draw, model, attention=attention),
            gradient_accumulation=draw.choice((1, 1, 2, 4, 8, 16)),
        ),
        recipe=Recipe(
            precision=draw.weighted((("mixed", 3), ("pure-bf16", 1))),
            optimizer=draw.weighted(WITH_STATES),
            attention=attention,
            recompute=draw.weighted(RECOMPUTES[attention]),
            dropout=dropout_for(draw, model),
        ),
        parallel=Parallel(data=ranks, zero=3 if large else draw.choice((2, 3, 3, 3, 3))),
        hardware=Hardware(gpu=gpu, gpus=ranks),
    )
    return _filled(draw, base, (low, high), MICRO_BATCHES[-1])


@cache
def _networked() -> tuple[Accelerator, ...]:
    """Return the cards of nodes of eight that have a network card each."""
    usual = min(gpu.network_gb_s for gpu in accelerators().values() if not is_old(gpu))
    return tuple(
        gpu
        for gpu in accelerators().values()
        if gpu.gpus_per_node == NODE and gpu.network_gb_s > usual and not is_old(gpu)
    )


def _run_ranks(draw: Draw, gpu: Accelerator, model: Model) -> int:
    small = parameters_of(model.architecture) < SMALL * GB
    ranks: tuple[int, ...] = (1, 1, 2, 4, 8) if small else (1, 2, 4, 8, 16, 32, 64, 128)
    if parameters_of(model.architecture) > LARGE * GB:
        ranks = (16, 32, 64, 128, 256, 512, 2**10)
    return draw.choice([n for n in ranks if n <= NODE or _has_fast_link(gpu)] or [NODE])


def _run_zero(draw: Draw, model: Model, ranks: int) -> int:
    if parameters_of(model.architecture) > LARGE * GB:
        return 3
    return 0 if ranks == 1 else draw.weighted(((0, 2), (1, 2), (2, 2), (3, 5)))


def _filled(draw: Draw, base: Scenario, percent: tuple[int, int], most: int) -> Scenario | None:
    memory, sequence = base.hardware.gpu.memory, base.workload.sequence
    # Most of what is drawn is too large by its states alone; its other sums are not needed.
    if 100 * states_that_stay(base) > percent[1] * memory:
        return None
    paper = on_paper(base)
    near = [
        micro_batch
        for micro_batch in MICRO_BATCHES
        if micro_batch <= most
        and micro_batch * sequence <= MOST_TOKENS
        and percent[0] * memory <= 100 * paper.peak_of(micro_batch) <= percent[1] * memory
    ]
    return with_micro_batch(base, draw.choice(near)) if near else None


def with_micro_batch(scenario: Scenario, micro_batch: int) -> Scenario:
    """Return the scenario with another micro-batch."""
    return replace(scenario, workload=replace(scenario.workload, micro_batch=micro_batch))
