"""How an interview opens: a run with its conditions left open, and which are worth asking for."""

from collections.abc import Iterator, Mapping

from engine.optimizers import optimizers
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.runs import context_said
from problems.interview.script import Question
from problems.model_states import STAGES
from problems.prompts import render
from problems.stated import CONDITIONS, PRECISIONS_SAID, in_words, kernel_said
from problems.wording import card, gb, number

# A precision as it is told, without the tensors that come of it.
TOLD: Mapping[str, str] = {
    "fp32": "all in fp32",
    "mixed": "mixed precision with 16-bit gradients",
    "mixed-fp32-grad": "mixed precision with fp32 gradients",
    "pure-bf16": "pure bf16, the optimizer too",
}


def opening(talk: Talk) -> str:
    """Return the run as the interviewer puts it, under-specified."""
    x = talk.scenario
    gpus, gpu = x.hardware.gpus, card(x.hardware.gpu)
    on = f"one {gpu}" if gpus == 1 else f"{number(gpus)} × {gpu}"
    context = context_said(x.workload.sequence)
    return f"You are to train {x.model.title} on {on} with {context} context. Will it fit?"


def conditions(talk: Talk) -> str:
    """Return the whole run, as it is told once conditions were asked for or assumed.

    Which tensors it leads to is not told: that is what is asked next.
    """
    x = talk.scenario
    optimizer = optimizers()[x.recipe.optimizer]
    sharded = x.parallel.zero == 3 and x.recipe.precision == "mixed"
    return render(
        "interview-conditions",
        x=x,
        stage=STAGES[x.parallel.zero],
        optimizer=optimizer.title,
        foreach=optimizer.at_once,
        precision="mixed precision as FSDP2 has it" if sharded else TOLD[x.recipe.precision],
    )


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the question for the conditions."""
    yield Posed(
        question=Question(
            key="conditions",
            aspect="conditions",
            says="Before any number: what do you have to know or assume about this run?",
            scenario=talk.scenario,
            points=points("conditions", _rows(talk)),
            stronger=(
                f"Says in one breath: {_said(talk)}; and which of them would overturn the answer."
            ),
            practises=("conditions-first", "activations-conditions"),
        ),
        takes=2,
    )


def _said(talk: Talk) -> str:
    return ", ".join(in_words(key, talk.scenario) for key in CONDITIONS)


def _rows(talk: Talk) -> Iterator[Row]:
    x = talk.scenario
    work, recipe, parallel = x.workload, x.recipe, x.parallel
    sequences = "sequence" if work.micro_batch == 1 else "sequences"
    yield (
        "micro-batch",
        f"The micro-batch: {work.micro_batch} {sequences} on a GPU, {number(x.tokens)} tokens.",
        "junior",
    )
    yield (
        "precision",
        f"The precision: {PRECISIONS_SAID[recipe.precision]}; usual ones take 8 to 18 bytes.",
        "junior",
    )
    states = optimizers()[recipe.optimizer]
    each = "one number" if states.states == 1 else f"{states.states} numbers"
    yield "optimizer", f"The optimizer: {states.title} keeps {each} a parameter.", "junior"
    if parallel.data > 1:
        yield (
            "sharding",
            f"Who shares what: {STAGES[parallel.zero]} over {number(parallel.data)} GPUs.",
            "junior",
        )
    kept = "keeps no scores" if recipe.attention == "flash" else "writes the scores out"
    yield (
        "attention-kernel",
        f"The attention kernel: {kernel_said(recipe)}, which {kept}.",
        "mid",
    )
    yield (
        "recomputation",
        {
            "none": f"Recomputation: none, {x.architecture.layers} layers keep what they save.",
            "selective": "Recomputation: selective, attention's inside is run again.",
            "full": f"Recomputation: full, {x.architecture.layers} layer inputs are kept.",
        }[recipe.recompute],
        "mid",
    )
    many = work.gradient_accumulation
    stays = f"over {many} micro-batches, so gradients stay" if many > 1 else "none here"
    yield "accumulation", f"Gradient accumulation: {stays}.", "mid"
    memory = f"{number(x.hardware.gpu.memory_mib)} MiB, {gb(x.hardware.gpu.memory)}"
    yield (
        "card-memory",
        f"What the card has: {memory} as its driver says, and not all of it is for tensors.",
        "mid",
    )
    yield (
        "loss-kernel",
        (
            f"The loss: plain cross entropy over {number(x.architecture.vocab)} words, fp32 "
            "logits and all."
        ),
        "senior",
    )
