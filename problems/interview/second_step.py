"""The second step: what the first one has made, and why a run dies behind it."""

from collections.abc import Iterator
from fractions import Fraction

from engine.ledger import Category
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from problems.amounts import in_billions
from problems.draft import Draft
from problems.interview import states
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.script import Question, Reuse
from problems.on_paper import run_parts
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import bytes_of, number, paper
from problems.wrong_sizes import wrong_size


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on the second step."""
    yield Posed(question=_died(talk), takes=2, turn=3 if talk.level == "senior" else 1)
    yield Posed(question=_second(talk), takes=1, turn=12)


def _made(talk: Talk) -> int:
    """Return the bytes of optimizer states that the first step makes on a GPU."""
    return talk.runs.base.ledger.total(Category.OPTIMIZER_STATE)


def _died(talk: Talk) -> Question:
    return Question(
        key="died-in-step-2",
        aspect="terms",
        says="Say it ran through step 1 and died in step 2, out of memory. Why?",
        scenario=talk.scenario,
        points=points("terms", _died_rows(talk)),
        changes="out of memory in step 2",
        stronger=(
            "Separates what is new and stays from what is only in pieces, and says which number "
            "of step 1 and step 2 tells them apart."
        ),
        practises=("second-step", "moments-appear", "oom-cause"),
    )


def _died_rows(talk: Talk) -> Iterator[Row]:
    recipe = talk.scenario.recipe
    called = optimizers()[recipe.optimizer].called
    each = PRECISIONS[recipe.precision].stepped * optimizers()[recipe.optimizer].states
    yield (
        "states-made",
        (
            f"The optimizer made its {called} at the end of step 1, {bytes_of(each)} for each "
            "parameter that it steps, and they stay."
        ),
        "junior",
    )
    said = f"Step 1 ran forward and backward before the {called} were there; step 2 has both."
    yield "first-step-lower", said, "mid"
    yield "cache-in-pieces", "The cache of step 1 lies in pieces that step 2 does not fit.", "mid"
    yield "longer-batch", "Step 2 had a longer batch than step 1.", "mid"
    yield "kept-reference", "Something of step 1 is still held: a loss with its graph.", "senior"
    yield (
        "measure-both",
        "Which it is, memory_stats after step 1 and a snapshot of step 2 tell.",
        "senior",
    )


def _second(talk: Talk) -> Question:
    x = talk.scenario
    recipe, own = x.recipe, _made(talk)
    held = optimizers()[recipe.optimizer]
    each = PRECISIONS[recipe.precision].stepped * held.states
    whole = sum(part.each for part in run_parts(x))
    stage = x.parallel.zero
    reuses: tuple[Reuse, ...] = ()
    if stage in {0, 3}:
        reuses = (
            Reuse(
                question="states",
                times=Fraction(each, whole),
                says=f"{each} of the {whole} bytes of the line of the states",
            ),
        )
    return talk.number(
        "second-step",
        "H",
        _new(talk, own, each),
        says="How much is resident before step 2 that was not before step 1, in GB?",
        reuses=reuses,
        stronger=f"The {held.called} alone: weights and master copy were loaded, gradients go.",
        practises=("second-step", "moments-appear"),
    )


def _new(talk: Talk, own: int, each: int) -> Draft:
    x = talk.scenario
    called = optimizers()[x.recipe.optimizer].called
    owned = own // each
    size = states.sized(x)
    return one_size(
        prompt=talk.runs.base.prompt(
            "interview",
            ask_micro_batch=False,
            asks="How much do the tensors take that the first step makes and that stay?",
        ),
        size=own,
        hints=(
            "What is made when the optimizer steps for the first time?",
            f"Its {called}, for the parameters that this GPU steps.",
            f"{each} bytes for each of {number(owned)} parameters.",
        ),
        on_paper=(f"{each} × {in_billions(owned, each)} = {paper(own)}",),
        exact=(f"{called}: {each} bytes for each of {number(owned)} parameters",),
        mistakes=_new_mistakes(own, size, each, owned),
    )


def _new_mistakes(own: int, size: int, each: int, owned: int) -> Iterator[Mistake]:
    yield wrong_size(
        size, own, "all states counted", "is all model states; {off} of them were there before."
    )
    if each in {8, 4}:
        yield wrong_size(
            own // 2,
            own,
            "one moment for two",
            "is half of what the optimizer makes, {off} short.",
        )
    yield wrong_size(
        own + 4 * owned,
        own,
        "master copy counted too",
        "counts a master copy as new; the weights were loaded in every form, {off} less.",
    )
    yield wrong_size(
        own + 2 * owned,
        own,
        "gradients taken as new",
        "counts gradients as new; step 1 had them too, {off} less.",
    )
