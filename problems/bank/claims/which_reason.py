"""Topic G, claims: the verdict on a sentence, picked with its reason out of a few."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.claims import Claim, FalseStatement, Point, with_reasons
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step

# How many there are to pick from.
OPTIONS: dict[Level, int] = {"junior": 3, "mid": 4, "senior": 5}
LETTERS = "abcde"
# Percent of the times that the right reason may be the longest: it is then about as often the
# longest as any other, so that length gives nothing away.
ANY_LENGTH = 60
ASKED = (
    "One of these is the verdict with the reason that carries it; the others are false, or true "
    "and beside the point. Which one?"
)


@dataclass(frozen=True, kw_only=True)
class Option:
    """A verdict and what is said for it.

    Args:
        verdict: "true" or "false".
        said: one sentence.
        mistake: what picking it overlooks; "" for the right one.
        why: what is said to one who picks it.
    """

    verdict: str
    said: str
    mistake: str = ""
    why: str

    @property
    def text(self) -> str:
        """The option as it is shown."""
        return f"{self.verdict}. {self.said}"


@kind_at_levels(
    name="which-reason",
    topic="G",
    levels=("junior", "mid", "senior"),
    title="Which reason carries the verdict?",
    sources=("problems/data/claims, a source for each", "problems/data/reasons"),
    allows={
        "distinct": "a claim and a few of its reasons are all that it draws",
    },
)
def which_reason(draw: Draw, level: Level) -> Draft | None:
    """Put a claim, and ask for its verdict with the reason among a few."""
    truth, any_length = draw.chance(50), draw.chance(ANY_LENGTH)
    suited = [
        (claim, points)
        for claim in with_reasons().values()
        if claim.truth == truth and (points := _reasons(claim, any_length=any_length))
    ]
    claim, points = draw.choice(suited)
    point = draw.choice(points)
    wrong = _wrong(draw, claim, OPTIONS[level] - 1, beside=level == "senior")
    right = Option(verdict=_verdict(claim), said=point.says, why=claim.reason)
    if wrong is None:
        return None
    options = draw.sample((right, *wrong), OPTIONS[level])
    return Draft(
        prompt=f"{ASKED}\nClaim: {claim.claim}",
        answer=ChoiceAnswer(choices=tuple(map(_choice, LETTERS, options))),
        hints=_hints(claim, wrong),
        solution=tuple(_steps(claim, right, wrong)),
        mistakes=(),
    )


def _reasons(claim: Claim, *, any_length: bool) -> tuple[Point, ...]:
    """Return the reasons that carry the verdict, without those longer than all false ones."""
    longest = max(len(error.says) for error in claim.errors)
    cores = (point for point in claim.points if point.core)
    return tuple(point for point in cores if any_length or len(point.says) < longest)


def _wrong(draw: Draw, claim: Claim, count: int, *, beside: bool) -> tuple[Option, ...] | None:
    """Return `count` wrong options, one at least with the other verdict; None where none are."""
    errors = [_false(claim, error) for error in claim.errors]
    against = [option for option in errors if option.verdict != _verdict(claim)]
    if not against:
        return None
    first = draw.choice(against)
    rest = [option for option in errors if option is not first]
    if beside:
        rest += [_beside(claim, point) for point in claim.points if not point.core]
    if len(rest) < count - 1:
        return None
    return (first, *draw.sample(rest, count - 1))


def _verdict(claim: Claim, *, other: bool = False) -> str:
    return "true" if claim.truth != other else "false"


def _false(claim: Claim, error: FalseStatement) -> Option:
    verdict = _verdict(claim, other=error.misconception)
    return Option(verdict=verdict, said=error.says, mistake="a false reason", why=error.why)


def _beside(claim: Claim, point: Point) -> Option:
    return Option(
        verdict=_verdict(claim),
        said=point.says,
        mistake="a reason beside the point",
        why="That is so, but it does not decide the claim.",
    )


def _choice(letter: str, option: Option) -> Choice:
    item = RankedItem(key=letter, name=option.text, value=Fraction(not option.mistake))
    return Choice(item=item, mistake=option.mistake, feedback=option.why)


def _hints(claim: Claim, wrong: Sequence[Option]) -> tuple[str, str, str]:
    return (
        "Settle the verdict first: who holds these tensors, how wide are they, and when?",
        f"It is not this one: “{wrong[-1].text}” {wrong[-1].why}",
        claim.hint,
    )


def _steps(claim: Claim, right: Option, wrong: Sequence[Option]) -> Iterator[Step]:
    yield Step(text=f"{right.verdict}: {claim.reason}", depth="whiteboard")
    for option in wrong:
        yield Step(text=f"not “{option.said}” {option.why}")
    yield Step(text=f"source: {claim.source}")
    yield Step(text=f"So it is: {right.text}")
