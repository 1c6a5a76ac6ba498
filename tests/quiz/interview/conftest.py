"""An interview made by hand: four parts, nine questions, figures that can be checked on paper."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from engine.scenario_file import from_mapping
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.ranking import RankedItem
from problems.interview.drawing import interview as drawn
from problems.interview.script import Interview, Part, Point, Question, Reuse
from problems.problem import Mistake, Problem, Step
from quiz.interview.events import Answered
from quiz.interview.sitting import Sitting, respond

GB = 10**9
TABLES = {
    "model": {"name": "llama-2-7b"},
    "workload": {"micro_batch": 1, "sequence": 4096},
    "recipe": {"precision": "mixed", "optimizer": "adamw", "attention": "flash"},
    "parallel": {"data": 8, "zero": 2},
    "hardware": {"gpu": "a100-80gb", "gpus": 8},
}
PARAMETERS = 6_738_415_616
STATES = 16 * PARAMETERS  # 107.8 GB
SHARDED = 15 * PARAMETERS // 4  # 2 + 14/8 = 3.75 bytes a parameter, 25.27 GB
ACTIVATIONS = 17_200_000_000
# What each point is heard by, where the table of the program is not what is tested.
PHRASES = {
    "micro-batch": ("micro-batch", "batch size", "batch"),
    "sequence": ("sequence length", "sequence", "context length"),
    "precision": ("precision", "bf16", "16-bit", "dtype"),
    "recompute": ("recomputation", "recompute", "checkpointing"),
    "weights": ("weights", "parameters"),
    "gradients": ("gradients", "grads"),
    "master-copy": ("master copy", "master weights", "fp32 copy"),
    "moments": ("moments", "optimizer states", "adam states"),
    "buffers": ("communication buffers", "buckets", "reduce buffers"),
    "activations": ("activations",),
    "logits": ("logits",),
    "context": ("cuda context",),
    "moments-fall": ("moments", "master copy", "optimizer"),
    "gradients-fall": ("gradients",),
}


def point(name, says, level="junior"):
    return Point(name=name, says=says, level=level)


def problem(value, band, name, *mistakes):
    return Problem(
        kind=name,
        topic="A",
        level="mid",
        seed=1,
        prompt="GB is 10^9 bytes and the unit of a bare number.",
        answer=QuantityAnswer(value=Fraction(value), band=band, symbols={"s": 4096}),
        hints=("Which tensors stay?", "Bytes per parameter first."),
        solution=(Step(text=f"together {value / GB:.2f} GB", depth="whiteboard"),),
        mistakes=tuple(
            Mistake(name=said, value=Fraction(wrong), feedback=f"This is {said}.")
            for said, wrong in mistakes
        ),
    )


def moment():
    items = [
        RankedItem(key=key, name=name, value=Fraction(at))
        for at, (key, name) in enumerate((("a", "the first forward"), ("b", "the first step")))
    ]
    wrong, right = items
    choices = (
        Choice(item=wrong, mistake="no states yet", feedback="Nothing is new there."),
        Choice(item=right, feedback="The moments are created there."),
    )
    return Problem(
        kind="moment",
        topic="H",
        level="mid",
        seed=1,
        prompt="Where did it die?",
        answer=ChoiceAnswer(choices=choices),
        hints=("What is created late?",),
        solution=(Step(text="the moments are created in the first step"),),
        mistakes=(),
    )


def parts(run):
    def question(key, aspect, says, **more):
        stronger = more.pop("stronger", f"A stronger answer on {key}.")
        practises = more.pop("practises", ("zero-states",))
        return Question(
            key=key,
            aspect=aspect,
            says=says,
            scenario=run,
            stronger=stronger,
            practises=practises,
            **more,
        )

    states = (
        question(
            "conditions",
            "conditions",
            "Before any number: what do you want to know?",
            points=(
                point("micro-batch", "The micro-batch is 1."),
                point("sequence", "The sequence is 4,096 tokens."),
                point("precision", "Mixed precision, bf16 weights.", "mid"),
                point("recompute", "Nothing is recomputed.", "senior"),
            ),
        ),
        question(
            "terms",
            "terms",
            "Which tensors does a parameter bring with it?",
            points=(
                point("weights", "2 bytes of weights."),
                point("gradients", "2 bytes of gradients."),
                point("master-copy", "4 bytes of master copy.", "mid"),
                point("moments", "8 bytes of moments."),
                point("buffers", "Buckets on top of them.", "senior"),
            ),
        ),
        question(
            "states",
            "number",
            "What do the model states take, nothing sharded?",
            problem=problem(STATES, "count", "states", ("weights only", 2 * PARAMETERS)),
            practises=("model-states",),
        ),
    )
    activations = (
        question(
            "activations",
            "number",
            "And the saved activations?",
            problem=problem(ACTIVATIONS, "estimate", "activations", ("scores counted", 50 * GB)),
            practises=("model-activations",),
        ),
        question(
            "activations-at-16k",
            "number",
            "Now 16k context. The activations?",
            problem=problem(4 * ACTIVATIONS, "estimate", "activations-at-16k"),
            changes="16k context",
            reuses=(
                Reuse(
                    question="activations",
                    times=Fraction(4),
                    says="linear in the sequence: 4 × the line for 4,096",
                ),
            ),
            practises=("activation-scaling",),
        ),
    )
    sharding = (
        question(
            "whole",
            "exclusions",
            "Under ZeRO-2, what does no rank get less of?",
            points=(
                point("weights", "The weights stay whole."),
                point("activations", "Each rank has its own activations."),
                point("logits", "The logits are of its own tokens.", "mid"),
                point("context", "The CUDA context is on every card.", "senior"),
            ),
        ),
        question(
            "saving",
            "prediction",
            "Before you pull it: what does ZeRO-2 save on 8 GPUs, and where?",
            problem=problem(STATES - SHARDED, "estimate", "saving"),
            points=(
                point("moments-fall", "Moments and master copy to an eighth."),
                point("gradients-fall", "The gradients too."),
            ),
            practises=("zero-states",),
        ),
        question(
            "sharded",
            "number",
            "So what is left of the states?",
            problem=problem(SHARDED, "count", "sharded", ("gradients left whole", 37 * GB)),
            changes="ZeRO-2",
            reuses=(
                Reuse(
                    question="states",
                    times=Fraction(15, 64),
                    says="3.75 of 16 bytes a parameter",
                ),
            ),
            practises=("zero-states",),
        ),
    )
    last = (
        question(
            "died",
            "number",
            "It died in the first step and not before. Where?",
            problem=moment(),
            practises=("failure-moment",),
        ),
    )
    return (
        Part(key="states", title="per-parameter accounting", minutes=10, questions=states),
        Part(key="activations", title="activation scaling", minutes=8, questions=activations),
        Part(key="sharding", title="levers", minutes=9, questions=sharding),
        Part(key="verify", title="verify", minutes=3, questions=last),
    )


def made(level="mid"):
    run = from_mapping(TABLES)
    return Interview(
        level=level,
        minutes=30,
        seed=7,
        scenario=run,
        opening="Llama 2 7B is to be trained on 8 × A100 80GB. Will it fit?",
        conditions="Micro-batch 1, 4,096 tokens, mixed precision, AdamW, ZeRO-2.",
        parts=parts(run),
    )


@pytest.fixture(scope="session")
def asked():
    """Return a sitting of a drawn interview at a question, with answers to some before it."""

    def at(key, *, level="junior", minutes=30, seed=101, **answers):
        sitting = Sitting(interview=drawn(level, minutes, seed))
        while sitting.question.key != key:
            if said := answers.get(sitting.question.key):
                sitting, _ = respond(sitting, said, 1.0)
            sitting, _ = respond(sitting, "" if said else "skip", 1.0)
        return sitting

    return at


@pytest.fixture(scope="session")
def read_as(asked):
    """Return what a line to a question is read as, None where it is a thought."""
    at = cache(asked)

    def read(line, key, standing="", **more):
        sitting = at(key, **more)
        for one in (standing, line):
            if one:
                sitting, event = respond(sitting, one, 1.0)
        return event.verdict.reading if isinstance(event, Answered) else None

    return read


@pytest.fixture(scope="session")
def interview():
    """At mid level: what senior candidates add is not expected."""
    return made()


@pytest.fixture(scope="session")
def senior_interview(interview):
    """The same, with everything expected."""
    return replace(interview, level="senior")


@pytest.fixture(scope="session")
def phrases():
    """What its points are heard by."""
    return PHRASES
