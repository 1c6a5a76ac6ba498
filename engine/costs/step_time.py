"""How long one optimizer step takes on its own hardware, term by term.

The slowest pipeline stage paces the step: its micro-batches one after another, and one micro-batch
of each other stage to fill and drain the pipeline, (p−1)/m of its time where stages are alike.
Then come the exchange of gradients and weights and the optimizer's step, of the stage where they
take longest.

Counts are exact; rates and overlap are assumptions (`engine.costs.assumptions`,
`engine.costs.communication`). So differences between two settings say more than the seconds of
one. Not counted: data loading, uneven routing of experts, a pipeline schedule other than 1F1B.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.costs import communication, computing, host
from engine.costs.computing import Computing
from engine.costs.held import Held, held
from engine.costs.terms import Resource, StepTime, Term
from engine.settings import Settings
from engine.stages import Stage, stages

__all__ = ["Resource", "StepTime", "Term", "Work", "step_time", "works"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Work:
    """What one rank of a stage does in one micro-batch."""

    stage: Stage
    weights: Held
    computes: Computing
    terms: tuple[Term, ...]

    @property
    def seconds(self) -> float:
        """Seconds that the micro-batch takes."""
        return _seconds(self.terms)


def step_time(settings: Settings, of: tuple[Work, ...] | None = None) -> StepTime:
    """Return the time of one training step of `settings`, which need not be a checked Scenario.

    `data` x `context` ranks share what ZeRO shards; `gradient_accumulation` is the number of
    micro-batches that go through the pipeline in a step. `of` is what `works` returns, where that
    is at hand already.
    """
    stages_work = of or works(settings)
    slowest = max(stages_work, key=lambda work: work.seconds)
    passes = settings.workload.gradient_accumulation
    ends = (_end(settings, work) for work in dict.fromkeys(stages_work))
    return StepTime(
        terms=(
            *(term.times(passes) for term in slowest.terms),
            *_bubble(stages_work, slowest),
            *max(ends, key=_seconds),
        )
    )


def _end(settings: Settings, work: Work) -> tuple[Term, ...]:
    """Return the terms after the last micro-batch, on a rank of one stage."""
    weights, computes = work.weights, work.computes
    return (
        *communication.at_the_end(settings, work.stage, weights, computes),
        *computing.at_the_end(settings, weights),
        *host.terms(settings, work.stage, weights, computes),
    )


def _seconds(terms: Iterable[Term]) -> float:
    return sum(term.seconds for term in terms)


def works(settings: Settings) -> tuple[Work, ...]:
    """Return each stage's work in one micro-batch; those of the middle are alike.

    ZeRO, the optimizer, where its states are and the number of micro-batches change nothing here.
    """
    known: dict[tuple[int, int, bool, bool], Work] = {}
    found = []
    for stage in stages(settings):
        if stage.work not in known:
            known[stage.work] = _work(settings, stage)
        found.append(known[stage.work])
    return tuple(found)


def _work(settings: Settings, stage: Stage) -> Work:
    weights = held(settings, stage)
    computes = computing.computing(settings, stage, weights)
    terms = (
        *computes.terms,
        *communication.in_a_micro_batch(settings, stage, computes),
        *host.activations(settings, stage),
    )
    return Work(stage=stage, weights=weights, computes=computes, terms=terms)


def _bubble(stages_work: tuple[Work, ...], slowest: Work) -> tuple[Term, ...]:
    """Return the time in which the slowest stage waits for the others.

    Source: arXiv 2104.04473 section 2.2, (p−1)·(t_f + t_b) of 1F1B.
    """
    others = len(stages_work) - 1
    if not others:
        return ()
    waits = sum(work.seconds for work in stages_work) - slowest.seconds
    term = Term(
        name="pipeline bubble",
        resource=Resource.IDLE,
        amount=others,
        unit="micro-batch",
        rate=others / waits,
        why="one micro-batch of every other stage fills and drains the pipeline: (p-1)/m",
        source="arXiv 2104.04473 section 2.2",
        rate_source="the other stages' own terms",
    )
    return (term,)
