"""Topic G, claims: a sentence that one hears about memory, true or false, and why."""

from collections.abc import Callable, Iterator, Mapping

from engine.ledger import Category, Phase
from problems import scenarios
from problems.answers.claim import ClaimAnswer, RunFacts
from problems.claims import Claim, claims
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import each_of, parts_of, sum_said, total_said
from problems.peaks import Run
from problems.problem import Step
from problems.stated import kernel_said
from problems.wording import gb

ASKED = (
    "True or false, and why? One or two sentences in your own words are enough; a bare verdict "
    "earns half at most, the reason earns the rest."
)
# Percent of the card's memory, on paper, between which runs are drawn.
USUAL = (15, 95)
# Of the peak; smaller logits are no good example of anything.
LOGITS_SHARE = 10


@kind(
    name="claim",
    topic="G",
    level="mid",
    title="True or false, and why?",
    sources=("problems/data/claims.toml, a source for each",),
    allows={
        "distinct": "there are as many questions as claims",
    },
)
def claim(draw: Draw) -> Draft | None:
    """Ask whether a claim is true, and for the reason."""
    known = claims()
    found = known[draw.choice(tuple(known))]
    return Draft(
        prompt=f"{ASKED}\nClaim: {found.claim}",
        answer=ClaimAnswer(claim=found.id, truth=found.truth, core=found.reason),
        hints=_hints(found),
        solution=tuple(_steps(found)),
        mistakes=(),
    )


def _hints(found: Claim) -> tuple[str, str, str]:
    core = sum(point.core for point in found.points)
    carries = "One reason carries it" if core == 1 else f"Any of {core} reasons carries it"
    return (
        "Which tensors is it about: who has them, how wide are they, and when are they there?",
        f"{carries}: a fact that would have to be otherwise for the other verdict to hold.",
        found.hint,
    )


def _steps(found: Claim) -> Iterator[Step]:
    yield Step(
        text=f"{'true' if found.truth else 'false'}: {found.reason}",
        depth="whiteboard",
    )
    for point in found.points:
        yield Step(text=point.says)
    yield Step(text=f"source: {found.source}")


def _sharing(stage: int) -> Callable[[Run], bool]:
    return lambda run: run.scenario.parallel.zero == stage and run.scenario.parallel.data > 1


def _adam(run: Run) -> bool:
    return run.scenario.recipe.optimizer.startswith("adamw")


# Claims that a run's numbers speak to, and which runs they are put about.
ABOUT_RUNS: Mapping[str, Callable[[Run], bool]] = {
    "mixed-precision-halves": lambda run: (
        _adam(run) and run.scenario.recipe.precision.startswith("mixed")
    ),
    "zero1-scales": _sharing(1),
    "zero3-activations": _sharing(3),
    "global-batch": lambda run: run.scenario.workload.gradient_accumulation > 1,
    "accumulation": lambda run: run.scenario.workload.gradient_accumulation > 1,
    "flash-constant": lambda run: kernel_said(run.scenario.recipe) == "flash",
    "lazy-optimizer": _adam,
    "logits-negligible": lambda run: (
        100 * _at_most(run, Category.LOGITS) >= LOGITS_SHARE * run.ledger.peak
    ),
}


@kind(
    name="claim-in-run",
    topic="G",
    level="senior",
    title="True or false in this run, and why?",
    sources=("problems/data/claims.toml, a source for each",),
)
def claim_in_run(draw: Draw) -> Draft | None:
    """Put a claim about a run, whose numbers the reason has to agree with."""
    scenario = scenarios.run(draw, low=USUAL[0], high=USUAL[1])
    if scenario is None:
        return None
    run = Run(scenario=scenario)
    # True ones are fewer, and no one should be right by saying "false".
    truth = draw.chance(50)
    suited = tuple(
        name for name, suits in ABOUT_RUNS.items() if claims()[name].truth is truth and suits(run)
    )
    if not suited:
        return None
    found = claims()[draw.choice(suited)]
    return Draft(
        prompt=run.prompt("claim-in-run", ask_micro_batch=False, claim=found.claim),
        answer=ClaimAnswer(claim=found.id, truth=found.truth, core=found.reason, run=_facts(run)),
        hints=_hints(found),
        solution=(*_steps(found), *_numbers(run)),
        mistakes=(),
        scenario=scenario,
    )


def _at_most(run: Run, category: Category) -> int:
    return max(rows.get(category, 0) for rows in run.totals.values())


def _facts(run: Run) -> RunFacts:
    x = run.scenario
    parts = parts_of(x.recipe.precision, x.recipe.optimizer, fsdp=x.parallel.zero == 3)
    parameters, ranks = x.architecture.parameters, x.parallel.data
    sizes = {
        x.hardware.gpu.memory,
        *(size for size in run.ledger.sizes if size),
        *(size for rows in run.totals.values() for size in (*rows.values(), sum(rows.values()))),
        *(each * parameters // share for each in range(1, 21) for share in (1, ranks)),
    }
    return RunFacts(
        each=each_of(parts),
        shared=each_of(parts, x.parallel.zero, ranks),
        parts=tuple(part.each for part in parts),
        sizes=tuple(sorted(size for size in sizes if size)),
        named={
            "logit": _of(run, Category.LOGITS),
            "activation": _of(run, Category.ACTIVATIONS),
            "peak": (run.ledger.peak,),
        },
    )


def _of(run: Run, category: Category) -> tuple[int, ...]:
    """Return the sizes of a category: of each of its lines, and of all together at each phase."""
    rows = zip(run.ledger.lines, run.ledger.sizes, strict=True)
    lines = {size for line, size in rows if line.category is category and size}
    return tuple(sorted(lines | {rows.get(category, 0) for rows in run.totals.values()} - {0}))


def _numbers(run: Run) -> Iterator[Step]:
    """Yield what of the run's ledger a reason may name."""
    x = run.scenario
    parts = parts_of(x.recipe.precision, x.recipe.optimizer, fsdp=x.parallel.zero == 3)
    yield Step(text=f"model states: {sum_said(parts)} bytes a parameter, whole")
    if x.parallel.zero:
        said = total_said(parts, x.parallel.zero, x.parallel.data)
        yield Step(text=f"on one GPU under ZeRO-{x.parallel.zero}: {said} a parameter")
    for category in (Category.ACTIVATIONS, Category.LOGITS):
        yield Step(text=f"{category} at their most: {gb(_at_most(run, category))}")
    forward, step = (sum(run.totals[phase].values()) for phase in (Phase.FORWARD, Phase.STEP))
    yield Step(text=f"forward {gb(forward)}, step {gb(step)}, peak {gb(run.ledger.peak)}")
