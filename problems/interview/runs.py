"""The runs that an interview is about: one at first, and what follow-ups make of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

from engine.errors import InputError
from engine.estimate import Fits, fits
from engine.ledger import Phase
from engine.optimizers import optimizers
from engine.scenario import Scenario
from problems import scenarios
from problems.bank.levers import first_lever, lever_savings
from problems.draw import Draw
from problems.peaks import Run
from problems.problem import Level
from problems.wording import number

# How often a run fits, is tight or does not fit, and what it takes of its card on paper, percent.
VERDICTS: tuple[tuple[Fits, int], ...] = (("yes", 8), ("tight", 5), ("no", 8))
SHARES: dict[Fits, tuple[int, int]] = {"yes": (30, 85), "tight": (85, 101), "no": (108, 260)}
# How near the card's memory a follow-up's peak may come before yes or no is no clear answer.
NEAR = Fraction(8, 100)
ATTEMPTS = 20_000
# Choices of levers that are looked at for one run.
TRIES = 6
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
# What becomes of a run's context and of its GPUs; of one that does not fit a shorter one may.
LENGTHS: dict[Fits, tuple[Fraction, ...]] = {
    "yes": (Fraction(2), Fraction(4), Fraction(8)),
    "tight": (Fraction(2), Fraction(4)),
    "no": (Fraction(2), Fraction(4), HALF, QUARTER),
}
RANKS = (Fraction(2), Fraction(4), Fraction(8), HALF, QUARTER)
SHORTEST = 512
# Percent of the runs with their peak at the loss that are passed over, so that others come too.
AT_THE_LOSS = 70
# Percent of the runs with which a lever that is not enough is looked for first.
NOT_ENOUGH = 75
# Percent of the runs of which another context is to turn the verdict.
TURNS = 75
# The same lever is right so often: of such runs so many percent are passed over.
OFTEN = 85
MOST_TOKENS, LONGEST_EAGER, MOST_RANKS = 2**18, 8192, 1024
NODE = 8
# A follow-up that takes more of the card than this is no question any more.
MOST_OF_CARD = 6
KILO, TOKENS = 1024, "-token"
# 100 Gb/s, in GB/s of one GPU.
SLOW_NETWORK = 12.5


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A run as a follow-up has it.

    Args:
        key: of the question on its peak.
        changes: what it changes: "32k context".
        said: the same as the interviewer puts it.
    """

    key: str
    run: Run
    changes: str
    said: str

    @property
    def is_clear(self) -> bool:
        """Whether it fits or does not, by a margin."""
        return is_clear(self.run)


@dataclass(frozen=True, kw_only=True)
class Runs:
    """What an interview is about.

    Args:
        base: the run at first.
        length: the same with another context.
        ranks: the same on another number of GPUs.
        cramped: the one of them that does not fit, on which levers are pulled.
        pulls: three to five levers on it, of which some make it fit.
        pull: the one whose saving is predicted.
    """

    base: Run
    length: Followed
    ranks: Followed
    cramped: Followed
    pulls: tuple[first_lever.Pull, ...]
    pull: lever_savings.Pull

    @property
    def verdict(self) -> Fits:
        """Whether the run fits."""
        return fits(self.base.scenario, self.base.ledger)

    @cached_property
    def twice(self) -> Followed | None:
        """The run with a micro-batch twice as large, None where there is none."""
        x = self.base.scenario
        size = 2 * x.workload.micro_batch
        said = f"a micro-batch of {size}"
        return _follow("peak-twice", said, f"With {said}", partial(_with_micro_batch, x, size))

    @cached_property
    def stepped(self) -> Followed | None:
        """The run with another optimizer, None where it cannot be: SGD with momentum, or AdamW."""
        x = self.base.scenario
        name = "sgd-momentum" if x.recipe.optimizer != "sgd-momentum" else "adamw"
        title, before = (optimizers()[one].title for one in (name, x.recipe.optimizer))
        said = f"{title} in place of {before}"
        return _follow(f"peak-with-{name}", title, said, partial(_stepped_by, x, name))

    @property
    def slow(self) -> Scenario:
        """The run under ZeRO-3 with a network of 100 Gb/s for each GPU."""
        x = self.base.scenario
        return replace(
            x,
            parallel=replace(x.parallel, zero=3),
            hardware=replace(x.hardware, network_gb_s=SLOW_NETWORK),
        )


def drawn(draw: Draw, level: Level) -> Iterator[Runs]:
    """Yield what an interview of a level may be about, one draw after another."""
    wanted = draw.weighted(VERDICTS)
    for _ in range(ATTEMPTS):
        base = _base(draw, level, wanted)
        found = None if base is None else _followed(draw, base)
        if found is not None:
            yield found


def _base(draw: Draw, level: Level, wanted: Fits) -> Run | None:
    """Return a run for a level that fits, is tight or does not fit, as is wanted."""
    low, high = SHARES[wanted]
    many = level == "senior"
    scenario = (scenarios.across_nodes if many else scenarios.run)(draw, low=low, high=high)
    if scenario is None or not (many or _is_for(level, scenario)):
        return None
    base = Run(scenario=scenario)
    if fits(scenario, base.ledger) != wanted:
        return None
    if base.ledger.peak_phase is Phase.LOSS and draw.chance(AT_THE_LOSS):
        return None
    return base


def _is_for(level: Level, x: Scenario) -> bool:
    """Return whether a run is one for a level: a junior's shares nothing, or everything."""
    parallel = x.parallel
    if scenarios.is_old(x.hardware.gpu) or not optimizers()[x.recipe.optimizer].states:
        return False
    if level == "junior":
        return parallel.data <= NODE and parallel.zero in {0, 3}
    return parallel.data > 1 and parallel.zero > 0


def _followed(draw: Draw, base: Run) -> Runs | None:
    length, ranks = _length(draw, base), _ranks(draw, base)
    if length is None or ranks is None:
        return None
    begun = Followed(key="peak", run=base, changes="", said="")
    cramped = next((x for x in (begun, length, ranks) if _verdict(x.run) == "no"), None)
    if cramped is None:
        return None
    for _ in range(TRIES):
        found = _pulled(draw, cramped.run)
        if found is not None:
            pulls, pull = found
            return Runs(
                base=base, length=length, ranks=ranks, cramped=cramped, pulls=pulls, pull=pull
            )
    return None


def _pulled(
    draw: Draw, run: Run
) -> tuple[tuple[first_lever.Pull, ...], lever_savings.Pull] | None:
    """Return levers on a run that does not fit, and the one whose saving is predicted."""
    pulls = first_lever.pulls_on(draw, run)
    if len(pulls) < first_lever.FEWEST or not first_lever.are_clear(run, pulls):
        return None
    cheapest = first_lever.ranked(pulls)[0].name
    if cheapest == first_lever.CHEAPEST and draw.chance(OFTEN):
        return None
    wanted = not draw.chance(NOT_ENOUGH)
    ordered = sorted(draw.sample(pulls, len(pulls)), key=lambda one: one.is_enough != wanted)
    pull = _predicted(run, tuple(ordered))
    return None if pull is None else (pulls, pull)


def _verdict(run: Run) -> Fits:
    return fits(run.scenario, run.ledger)


def is_clear(run: Run) -> bool:
    """Return whether a run fits or does not, by a margin."""
    share = Fraction(run.ledger.peak, run.scenario.hardware.gpu.memory)
    return _verdict(run) != "tight" and abs(share - 1) > NEAR


def _predicted(before: Run, pulls: tuple[first_lever.Pull, ...]) -> lever_savings.Pull | None:
    """Return the first lever whose saving is worth it and adds up on paper."""
    for one in pulls:
        pull = lever_savings.Pull(name=one.name, before=before, after=one.run)
        if lever_savings.is_clear(pull):
            return pull
    return None


def _length(draw: Draw, base: Run) -> Followed | None:
    """Return the run with another context, None where there is none.

    It turns the verdict where it can and that is drawn.
    """
    x, turns = base.scenario, draw.chance(TURNS)
    most = LONGEST_EAGER if x.recipe.attention == "eager" else MOST_TOKENS
    found, factors = list[Followed](), LENGTHS[_verdict(base)]
    for times in draw.sample(factors, len(factors)):
        sequence = int(times * x.workload.sequence)
        if not SHORTEST <= sequence <= min(x.model.max_sequence, most):
            continue
        if times * x.tokens > MOST_TOKENS:
            continue
        said = context_said(sequence)
        other = _follow(
            f"peak-at-{said.removesuffix(TOKENS).replace(',', '')}",
            f"{said} context",
            f"Now {said} context",
            partial(_at_length, x, sequence),
        )
        if other is not None and other.run.ledger.peak < MOST_OF_CARD * x.hardware.gpu.memory:
            found.append(other)
    before = _verdict(base)
    clear = [one for one in found if one.is_clear]
    turned = [one for one in clear if turns and before in {"tight", _turned(one.run)}]
    return next(iter((*turned, *clear, *found)), None)


def _with_micro_batch(x: Scenario, size: int) -> Scenario:
    return replace(x, workload=replace(x.workload, micro_batch=size))


def _stepped_by(x: Scenario, optimizer: str) -> Scenario:
    return replace(x, recipe=replace(x.recipe, optimizer=optimizer))


def _turned(run: Run) -> Fits:
    """Return the verdict that a run has not, of yes and no."""
    return "no" if _verdict(run) == "yes" else "yes"


def _at_length(x: Scenario, sequence: int) -> Scenario:
    return replace(x, workload=replace(x.workload, sequence=sequence))


def _ranks(draw: Draw, base: Run) -> Followed | None:
    """Return the run on another number of GPUs, where it can with a clear answer."""
    x = base.scenario
    plain = ", plain data parallel" if x.parallel.zero == 0 else ""
    found = list[Followed]()
    for data in [NODE] if x.parallel.data == 1 else _numbers(draw, x):
        said = f"{number(data)} GPUs"
        other = _follow(f"peak-on-{data}", said, f"Now {said}{plain}", partial(on_gpus, x, data))
        if other is not None and other.is_clear:
            return other
        found += [other] if other is not None else []
    return next(iter(found), None)


def _numbers(draw: Draw, x: Scenario) -> list[int]:
    drawn = [times * x.parallel.data for times in draw.sample(RANKS, len(RANKS))]
    return [
        int(data)
        for data in drawn
        if data.denominator == 1 < data <= MOST_RANKS
        and x.hardware.gpu in scenarios.gpus_for(int(data))
    ]


def _follow(key: str, changes: str, said: str, change: Callable[[], Scenario]) -> Followed | None:
    try:
        run = Run(scenario=change())
    except InputError:
        return None
    return Followed(key=key, run=run, changes=changes, said=said)


def on_gpus(x: Scenario, data: int) -> Scenario:
    """Return a run on another number of data-parallel GPUs."""
    return replace(
        x,
        parallel=replace(x.parallel, data=data),
        hardware=replace(x.hardware, gpus=data),
    )


def context_said(sequence: int) -> str:
    """Return a length as people say it before "context": "32k", or "512-token"."""
    return f"{sequence // KILO}k" if sequence % KILO == 0 else f"{number(sequence)}{TOKENS}"
