"""Questions about a worked answer with one wrong step, put together of its lines and a mistake."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from engine.units import GB, KB, KIB, MB, decimal
from problems.answers.repair import RepairAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exhibits import item
from problems.problem import Mistake, Step
from problems.slips import unit_slips
from problems.wording import number, short
from problems.worked import Line, Worked, WrongLine

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
# A number that is less far off could be rounding.
LEAST_OFF = Fraction(5, 100)
# Less is said in MB, and GB for GiB is no slip there.
LEAST_IN_GB = GB // 10
# What a sum of model states is short of, and the right one has {off} more.
STATES_FORGOTTEN = {
    "weights": "leaves the weights out, {off} more",
    "gradients": "leaves the gradients out, {off} more: they are there until the optimizer steps",
    "master copy": "leaves the fp32 master copy out, {off} more: the optimizer steps it",
    "moments": "leaves AdamW's two moments out, {off} more",
    "momentum": "leaves the momentum out, {off} more",
}
ASKS = (
    "Of the steps below one is the first whose number is not right. Those behind it go on from "
    "its number and are no mistakes of their own; numbers are rounded to three digits. Which "
    "step is it, and what is the right number there? Type both, such as 2, 14 GB: half of the "
    "credit each, full credit within 2%. GB is 10^9 bytes and GiB 2^30; a bare number has the "
    "unit that its step is shown in."
)


def repair(draw: Draw, about: str, worked: Worked, wrongs: Sequence[WrongLine]) -> Draft | None:
    """Return a question about `worked` with a drawn one of `wrongs`; None where none is far off.

    Args:
        draw: picks the wrong line.
        about: what is worked out, with every assumption; a sentence or more.
        worked: the answer as it would be right.
        wrongs: what may go wrong in it.
    """
    told = [wrong for wrong in wrongs if is_told(worked, wrong)]
    if not told:
        return None
    wrong = draw.choice(told)
    return posed(about, worked, wrong, told)


def posed(
    about: str,
    worked: Worked,
    wrong: WrongLine,
    others: Sequence[WrongLine],
    *,
    told: str = "",
) -> Draft:
    """Return the question about `worked` with `wrong` in it.

    Args:
        about: what is worked out.
        worked: the answer as it would be right.
        wrong: the line that is wrong.
        others: what else may be thought of that line.
        told: what the solution says of it besides.
    """
    place = worked.place(wrong.line.key)
    steps = worked.steps(wrong.line)
    shown = wrong.line.written(steps[place - 1].shown)
    return Draft(
        prompt=f"{about}\n{ASKS}",
        exhibit="\n".join(item(str(at), step.text, room=3) for at, step in enumerate(steps, 1)),
        answer=RepairAnswer(steps=steps, why=f"The {shown} shown {_why(worked, wrong)}"),
        hints=(
            "Take the steps in order and work each one out from the numbers before it.",
            wrong.nudge,
            _last_hint(place, len(steps)),
        ),
        solution=tuple(_solution(worked, wrong, told)),
        mistakes=tuple(_mistakes(worked, wrong, others)),
    )


def is_told(worked: Worked, wrong: WrongLine) -> bool:
    """Return whether a wrong line has a number that is no rounding of the right one."""
    right, shown = _both(worked, wrong)
    return right > 0 and shown > 0 and abs(shown / right - 1) > LEAST_OFF


def _both(worked: Worked, wrong: WrongLine) -> tuple[Fraction, Fraction]:
    key = wrong.line.key
    return worked.values()[key], worked.values(wrong.line)[key]


def _why(worked: Worked, wrong: WrongLine) -> str:
    right, shown = _both(worked, wrong)
    return wrong.why.format(off=wrong.line.written(abs(right - shown)))


def _last_hint(place: int, steps: int) -> str:
    """Name two steps beside each other, of which the first or the second is the wrong one."""
    first = place - 1 if place == steps or (place > 1 and place % 2 == 0) else place
    return f"It is the {ORDINALS[first - 1]} step or the {ORDINALS[first]}."


def _solution(worked: Worked, wrong: WrongLine, told: str) -> Iterator[Step]:
    key, texts = wrong.line.key, worked.texts()
    place = worked.place(key)
    right, shown = _both(worked, wrong)
    yield Step(text=f"step {place}, {texts[place - 1]}", depth="whiteboard")
    yield Step(text=f"As shown it is {wrong.line.written(shown)}, which {_why(worked, wrong)}")
    for at, (text, carried) in enumerate(zip(texts, worked.texts(wrong.line), strict=True), 1):
        if at > place and text != carried:
            yield Step(text=f"From there step {at} is {text}")
    if place > 1:
        held = f"Steps 1 to {place - 1} hold" if place > 2 else "Step 1 holds"
        yield Step(text=f"{held}: nothing before step {place} is off")
    if told:
        yield Step(text=told)
    yield Step(text=f"Step {place} without rounding: {exactly(worked.lines[place - 1], right)}")


def exactly(line: Line, value: Fraction) -> str:
    """Return a number of `line` as a solution ends with it."""
    if line.form == "GiB":
        return line.written(value)
    if line.form == "bytes":
        return decimal(round(value))
    return number(int(value)) if value.denominator == 1 else short(value)


def _mistakes(worked: Worked, wrong: WrongLine, others: Sequence[WrongLine]) -> Iterator[Mistake]:
    """Yield what may be typed in place of the right number: the one shown, others, a later one."""
    key = wrong.line.key
    for other in (wrong, *(o for o in others if o.line.key == key and o is not wrong)):
        value = _both(worked, other)[1]
        yield Mistake(
            name=other.name,
            value=value,
            feedback=f"{other.line.written(value)} {_why(worked, other)}",
        )
    right = worked.values()
    *_, last = (line for line in worked.lines if line.form != "count")
    if wrong.line.form != "count" and worked.place(last.key) > worked.place(key):
        yield Mistake(
            name="a later step's number",
            value=right[last.key],
            feedback=f"{last.written(right[last.key])} is right for a later step; the number "
            "of the first one that is not right is asked for.",
        )
    if wrong.line.is_size:
        yield from _unit_slips(round(right[key]))


def _unit_slips(size: int) -> Iterator[Mistake]:
    """Yield the numbers that come of units taken for each other."""
    if size >= LEAST_IN_GB:
        yield from unit_slips(size)
    elif size < MB:
        value = Fraction(size * KB, KIB)
        yield Mistake(
            name="KiB typed as kB",
            value=value,
            feedback=f"{float(value) / KB:,.3g} kB is the right number in KiB of 2^10 bytes; "
            "a KiB is 2.4% more than a kB.",
        )
