"""What the layers save, and how it grows when one number changes."""

from collections.abc import Iterator
from fractions import Fraction

from engine.precisions import PRECISIONS
from problems.bank.activations.saved import Saved
from problems.exact import saved
from problems.interview import carried
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.runs import Followed
from problems.interview.script import Move, Question, Reuse
from problems.layers import layer_terms, per_token
from problems.wording import gb, number, short


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on the activations."""
    yield Posed(question=_terms(talk), turn=16, levels=("mid", "senior"))
    yield Posed(question=_saved(talk), takes=2)
    yield Posed(question=_at_length(talk), takes=1)
    if talk.runs.twice is not None:
        yield Posed(question=_twice(talk, talk.runs.twice), takes=1, turn=18)


def _terms(talk: Talk) -> Question:
    return Question(
        key="activation-terms",
        aspect="terms",
        says="Now one token in one layer: what is kept for the backward pass?",
        scenario=talk.scenario,
        points=points("terms", _rows(talk)),
        stronger=(
            "Counts by what each operator's backward needs, and says which of it a kernel or "
            "recomputation does away with."
        ),
        practises=("layer-activations", "activations-formula", "kept-products"),
    )


def _rows(talk: Talk) -> Iterator[Row]:
    x = talk.scenario
    terms = layer_terms(x)
    said = f"So many bytes a token and layer, times {number(x.tokens)} tokens and all layers."
    yield "bytes-a-token", said, "mid"
    if x.recipe.recompute == "full":
        width = PRECISIONS[x.recipe.precision].compute * x.architecture.hidden
        yield "layer-input", f"The layer's input alone, {number(width)} bytes a token.", "mid"
        yield "working-set", "One layer's working set while it is run again.", "mid"
    else:
        mlp = next(term.formula for term in terms if term.formula.endswith("f"))
        heads = next(term.formula for term in terms if term.name.startswith("q, k, v"))
        yield "mlp-kept", f"The MLP's wide tensors: {mlp} bytes a token.", "mid"
        yield "attention-kept", f"q, k, v and attention's output: {heads} bytes a token.", "mid"
        yield "norms-kept", "Inputs and outputs of the norms, as wide as the model.", "mid"
    scores = sum(term.each for term in terms if term.scores)
    if scores:
        yield "scores", f"Scores for every pair of tokens: {number(scores)} bytes a token.", "mid"
    else:
        yield "no-scores", "No scores: none are kept for pairs of tokens here.", "mid"
    many = x.workload.gradient_accumulation
    says = f"One micro-batch alone counts, not {many} accumulated ones."
    if many == 1:
        says = "One micro-batch alone counts, whatever the global batch."
    yield "one-micro-batch", says, "senior"


def _saved(talk: Talk) -> Question:
    x = talk.scenario
    return talk.number(
        "activations",
        "B",
        Saved(scenario=x, layers=x.architecture.layers).draft(),
        says=(
            f"What do all {x.architecture.layers} layers save for the backward pass of one "
            "micro-batch, in GB? Leave out logits and loss."
        ),
        stronger=(
            f"{number(per_token(layer_terms(x)))} bytes a token and layer × "
            f"{x.architecture.layers} layers × {number(x.tokens)} tokens, said as a product that "
            "can be scaled."
        ),
        practises=("model-activations", "layer-activations"),
    )


def _at_length(talk: Talk) -> Question:
    other = talk.runs.length
    x, y = talk.scenario, other.run.scenario
    times = Fraction(y.workload.sequence, x.workload.sequence)
    factor = Fraction(saved(other.run.ledger), saved(talk.runs.base.ledger))
    line = f"the line for {number(x.workload.sequence)} tokens"
    says = f"linear in the sequence: {times} × {line}"
    stronger = "Scales the line that is there in a second, and says what makes it linear."
    if any(term.scores for term in layer_terms(x)):
        says = (
            f"what is kept by the token goes with {times}, scores with {times**2}: "
            f"{short(factor)} × {line} together"
        )
        stronger = "Scales what is linear and the scores apart, and says which of the two is more."
    return talk.number(
        f"activations-at-{other.key.removeprefix('peak-at-')}",
        "B",
        Saved(scenario=y, layers=y.architecture.layers).draft(),
        says=f"{other.said}. The saved activations, in GB?",
        scenario=y,
        changes=other.changes,
        reuses=(Reuse(question="activations", times=factor, says=says),),
        moves=tuple(
            Move(question="activations", times=each)
            for each in carried.ACTIVATIONS.moved(talk.runs.base, other.run)
        ),
        stronger=stronger,
        practises=("activation-scaling",),
    )


def _twice(talk: Talk, other: Followed) -> Question:
    y = other.run.scenario
    size, before = saved(other.run.ledger), saved(talk.runs.base.ledger)
    return talk.number(
        "activations-twice",
        "B",
        Saved(scenario=y, layers=y.architecture.layers).draft(),
        says=f"Back to the first run, with {other.changes}. The saved activations, in GB?",
        scenario=y,
        changes=other.changes,
        reuses=(
            Reuse(
                question="activations",
                times=Fraction(size, before),
                says="twice the sequences, twice the line, "
                f"{gb(before)} more; the states do not move",
            ),
        ),
        stronger="Says that accumulation would have added nothing here.",
        practises=("activation-scaling", "accumulation-steps"),
    )
