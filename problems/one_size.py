"""Questions that ask for one size: the draft around a product, its steps and its mistakes."""

from collections.abc import Iterable
from fractions import Fraction

from problems.answers.answer import FULL_CREDIT
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.problem import Mistake, Step
from problems.slips import unit_slips
from problems.wording import gb

# The unit of a bare number, and how near is full credit.
BARE_IN_GB = (
    "GB is 10^9 bytes and the unit of a bare number; full credit within "
    f"{int(100 * FULL_CREDIT['count'])}%."
)


def one_size(
    *,
    prompt: str,
    size: int,
    hints: tuple[str, str, str],
    on_paper: Iterable[str],
    exact: Iterable[str],
    mistakes: Iterable[Mistake],
) -> Draft:
    """Return the draft of a question that asks for `size` bytes, to be met within 2%.

    Args:
        prompt: all but the unit of a bare number, which is added.
        size: the answer.
        hints: from a nudge to nearly the answer.
        on_paper: the sum with rounded numbers, step by step.
        exact: what leads to the exact number, which is added as the last step.
        mistakes: without those of GB and GiB, which are added.
    """
    steps = [Step(text=text, depth="whiteboard") for text in on_paper]
    steps += [Step(text=text) for text in exact]
    return Draft(
        prompt=f"{prompt} {BARE_IN_GB}",
        answer=QuantityAnswer(value=Fraction(size)),
        hints=hints,
        solution=(*steps, Step(text=f"exactly {gb(size)}")),
        mistakes=(*mistakes, *unit_slips(size)),
    )
