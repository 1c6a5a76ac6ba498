"""The peak and its moment, whether it fits, and follow-ups on both."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from engine.estimate import Fits, fits
from engine.ledger import Phase
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.bank.peak import step
from problems.draft import Draft
from problems.exact import PHASES_SAID
from problems.interview import carried, second_step
from problems.interview.posed import Posed, Talk, items_said
from problems.interview.runs import Followed
from problems.interview.script import Move, Picked, Question, Reuse
from problems.peaks import Run
from problems.problem import Step
from problems.wording import gb, listed, paper, sentence

LETTERS = "abcde"
# Terms of the peak that are named.
SHOWN = 4
# The moments of a step that may be its peak; the end of the forward pass seldom is.
MOMENTS = (Phase.LOSS, Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST, Phase.STEP)
# How far the next moment is below the peak, so that one can say which is the highest.
APART = Fraction(3, 100)
VERDICTS: Mapping[Fits, tuple[str, tuple[str, ...]]] = {
    "yes": ("yes, with room to spare", ("yes",)),
    "tight": ("tight", ("barely",)),
    "no": ("no", ()),
}


# Other names of those moments.
ALSO_SAID: Mapping[Phase, tuple[str, ...]] = {
    Phase.LOSS: (
        "the loss", "backward of the loss", "backward pass of the loss", "backward pass of loss",
        "loss backward", "backward pass of the cross entropy", "cross entropy", "ce",
        "ce backward", "cross entropy backward", "ce loss", "logits", "softmax backward",
        "backward of ce", "backward of cross entropy", "backward of the ce",
    ),
    Phase.BACKWARD_FIRST: (
        "first layer of backward", "first layer of the backward pass", "first backward layer",
        "start of backward", "start of the backward pass", "beginning of backward",
    ),
    Phase.BACKWARD_LAST: ("end of backward", "last layer of backward", "after backward"),
    Phase.STEP: ("step", "optimizer step", "optimizer", "optimiser step", "adam step"),
}  # fmt: skip


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on the peak."""
    draft = _moments(talk.runs.base)
    if draft is not None:
        yield Posed(question=_moment(talk, draft), takes=1, turn=14, levels=("mid", "senior"))
    yield Posed(question=_peak(talk), takes=2)
    yield Posed(question=_fits(talk), takes=1)
    yield Posed(question=_follow_up(talk, talk.runs.length), takes=1, turn=2)
    yield Posed(question=_follow_up(talk, talk.runs.ranks), takes=2, turn=8)
    if talk.runs.twice is not None:
        yield Posed(question=_follow_up(talk, talk.runs.twice), takes=2, turn=19)
    yield from second_step.posed(talk)


def _moment(talk: Talk, draft: Draft) -> Question:
    return talk.number(
        "moment",
        "D",
        draft,
        says=f"At which moment of a steady step is most allocated? {items_said(draft.answer)}",
        stronger="Goes through the moments by what comes alive and what is gone by then.",
        practises=("moments-ledger", "timeline-peak", "largest-share"),
    )


def _moments(run: Run) -> Draft | None:
    """Return the question for the moment of the peak, None where two are too near."""
    phases = {p: size for p, size in run.ledger.phases.items() if p in MOMENTS}
    ordered = sorted(phases, key=lambda phase: -phases[phase])
    first, peak = ordered[0], run.ledger.peak
    if phases[first] < peak or phases[ordered[1]] * (1 + APART) > peak:
        return None
    choices = tuple(
        Choice(
            item=RankedItem(
                key=key,
                name=PHASES_SAID[phase],
                aliases=ALSO_SAID[phase],
                value=Fraction(size),
            ),
            mistake="" if phase is first else "another moment binds then",
            feedback=_told(run, phase, peak - size),
        )
        for key, (phase, size) in zip(LETTERS, phases.items(), strict=False)
    )
    name = PHASES_SAID[first]
    return Draft(
        prompt=run.prompt(
            "interview",
            ask_micro_batch=False,
            asks="At which moment of a steady step is most allocated on a GPU?",
        ),
        answer=ChoiceAnswer(choices=choices),
        hints=(
            "Go through the step: what is made, and what has been freed by then?",
            f"Of these it is not {PHASES_SAID[ordered[-1]]}, where least is alive.",
            f"On paper compare {listed([PHASES_SAID[phase] for phase in sorted(ordered[:2])])}.",
        ),
        solution=(
            Step(text=f"alive then, the largest first: {_alive(run)}", depth="whiteboard"),
            *(
                Step(text=f"{PHASES_SAID[p]}: {gb(peak - phases[p])} below the peak")
                for p in ordered[1:]
            ),
            Step(text=f"most is allocated at the highest: {name}"),
        ),
        mistakes=(),
        scenario=run.scenario,
    )


def _told(run: Run, phase: Phase, off: int) -> str:
    said = sentence(PHASES_SAID[phase])
    if off:
        return f"{said} has {gb(off)} less than the highest moment."
    line, size = run.ledger.alive[0]
    return f"{said} is the highest; the largest line then is {line.name}, {gb(size)}."


def _alive(run: Run) -> str:
    largest = sorted(run.paper.moment.amounts, key=lambda x: -x.size)[:SHOWN]
    return "; ".join(x.name for x in largest)


def _peak(talk: Talk) -> Question:
    moment = talk.runs.base.paper.moment
    where = "the GPU" if talk.scenario.hardware.gpus == 1 else "one GPU"
    return talk.number(
        "peak",
        "D",
        step.peak_of(talk.runs.base),
        says=f"Add it up: the peak of allocated memory on {where} in a steady step, in GB?",
        stronger=(
            f"Says the moment first, {moment.said}, and adds up only what is alive then: "
            f"{listed([x.name for x in moment.amounts])}."
        ),
        reuses=tuple(_of_lines(talk.runs.base)),
        moves=carried.of_moments(talk, talk.runs.base, talk.runs.base),
        moments=carried.moments(talk, talk.runs.base, talk.runs.base),
        practises=("peak", "peak-ledger", "fits"),
    )


def _of_lines(run: Run) -> Iterator[Reuse]:
    """Yield the ways from the lines that stay alive at the peak, with all else added."""
    for line in carried.at_peak(run):
        others = run.ledger.peak - line.of(run)
        yield Reuse(
            question=line.key,
            plus=Fraction(others),
            says=f"{line.said}, and {gb(others)} of all else that is alive then",
        )


def _fits(talk: Talk) -> Question:
    memory, draft = talk.scenario.hardware.gpu.memory, _verdict(talk.runs.base)
    return talk.number(
        "fits",
        "D",
        draft,
        says=(f"The card has {gb(memory)}. Does it fit? {items_said(draft.answer)}"),
        stronger=(
            "Compares the upper estimate of what nvidia-smi would show, not the sum of tensors "
            "alone, with the card, and says how sure that is."
        ),
        practises=("fits", "three-numbers"),
        picked=_by_peak(talk.runs.base),
    )


def _by_peak(run: Run) -> Picked:
    """Return the verdict that follows from a peak, with as much outside it as in the ledger."""
    memory = run.scenario.hardware.gpu.memory
    outside = run.ledger.nvidia_smi[1] - run.ledger.peak
    key = dict(zip(VERDICTS, LETTERS, strict=False))
    return Picked(
        question="peak",
        upto=((Fraction(memory - outside), key["yes"]), (Fraction(memory), key["tight"])),
        above=key["no"],
    )


def _verdict(run: Run) -> Draft:
    """Return the question for the verdict: yes, tight or no."""
    right, book = fits(run.scenario, run.ledger), run.ledger
    memory = run.scenario.hardware.gpu.memory
    most = book.nvidia_smi[1]
    said = f"{gb(book.peak)} allocated, up to {gb(most)} in nvidia-smi, {gb(memory)} on the card"
    choices = tuple(
        Choice(
            item=RankedItem(key=key, name=name, aliases=aliases, value=Fraction(memory - most)),
            mistake="" if verdict == right else "another verdict than the ledger's",
            feedback=f"{sentence(said)}.",
        )
        for key, (verdict, (name, aliases)) in zip(LETTERS, VERDICTS.items(), strict=False)
    )
    return Draft(
        prompt=run.prompt(
            "interview",
            ask_micro_batch=False,
            asks=(
                "Does a steady step fit? Yes, if what nvidia-smi would show is within the card by "
                "its upper estimate; no, if the tensors alone exceed it; tight between the two."
            ),
        ),
        answer=ChoiceAnswer(choices=choices),
        hints=(
            "Two numbers decide it: what tensors take, and that with the allocator and context.",
            "Tensors alone above the card is no. Is there room for a tenth more?",
            f"On paper the tensors take {paper(run.paper.peak)}.",
        ),
        solution=(
            Step(text=f"tensors on paper: {paper(run.paper.peak)}", depth="whiteboard"),
            Step(text=f"the card has {paper(memory)}", depth="whiteboard"),
            Step(text=said),
            Step(text=f"the verdict: {VERDICTS[right][0]}"),
        ),
        mistakes=(),
        scenario=run.scenario,
    )


def _follow_up(talk: Talk, other: Followed) -> Question:
    before, after = talk.runs.base.ledger.peak, other.run.ledger.peak
    draft, asks = step.peak_of(other.run), "What is the peak then"
    if other.is_clear:
        draft, asks = step.whether_it_fits(other.run), "Does it fit, and at which peak"
    return talk.number(
        other.key,
        "D",
        draft,
        says=f"{other.said}, all else as at first. {asks}, in GB?",
        scenario=other.run.scenario,
        changes=other.changes,
        reuses=(
            Reuse(question="peak", plus=Fraction(after - before), says=_moved(before, after)),
        ),
        moves=(
            *carried.of_moments(talk, other.run, other.run),
            *_with_tokens(talk.runs.base, other.run),
        ),
        moments=carried.moments(talk, other.run, other.run),
        stronger="Names the lines that move, changes those, and leaves the others as they stand.",
        practises=("fits", "more-ranks", "longest-context"),
    )


def _with_tokens(before: Run, after: Run) -> Iterator[Move]:
    """Yield how a peak moves whose error belongs to the tokens, where a micro-batch has others."""
    times = carried.by_tokens(before, after)
    if times != 1:
        yield Move(question="peak", times=times)


def _moved(before: int, after: int) -> str:
    if abs(after - before) * 100 < before:
        return "nothing that is large moves: the peak of before"
    verb = "more" if after > before else "less"
    return f"the peak of before, and {gb(abs(after - before))} {verb} for the lines that move"
