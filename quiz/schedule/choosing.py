"""Which question comes next: what is due first, then where most is unknown or missing.

Everything is drawn from (seed, place in the set), so that the same answers lead to the same
questions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.errors import InputError
from problems.draw import Draw
from problems.kind import Kind
from problems.problem import Level, kind_of
from problems.registry import build
from quiz.history.store import Answered
from quiz.marking.telling import could_tell
from quiz.schedule.concepts import Concept
from quiz.schedule.due import cards, due
from quiz.schedule.skill import LEVELS, Skill, level_for, skills

SEEDS = 10**9
# Seeds that are looked at for one whose question can tell a mistake.
TRIES = 24
# What weighs in a topic: each level that it lacks of senior, and its deviation. Topics are got to
# know before the weakest has its turns again and again.
LACKING, UNKNOWN = 0.25, 2.0
# For each of the last questions of the set that was of the topic.
TURN, TURNS = 0.35, 3


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the next question is chosen from.

    Args:
        fitting: the kinds that the options leave.
        level: the level that was asked for; None takes the learner's.
        seed: of the set.
        asked: ids of the set's questions so far.
    """

    fitting: tuple[Kind, ...]
    level: Level | None
    seed: int
    asked: tuple[str, ...]

    @property
    def draw(self) -> Draw:
        """The chance of this place in the set."""
        return Draw(f"practice next {len(self.asked)}", self.seed)

    @property
    def kinds_asked(self) -> tuple[str, ...]:
        """Names of the kinds that the set has had."""
        return tuple(map(kind_of, self.asked))


def overdue(
    fitting: Sequence[Kind], answered: Iterable[Answered], now: datetime
) -> tuple[Concept, ...]:
    """Return one due concept of each kind that fits, the most overdue kind first.

    Of a kind with several, a mistake stands for all: its question asks for the whole kind.
    """
    names = {kind.name for kind in fitting}
    found: dict[str, Concept] = {}
    for concept in due(answered, now):
        if concept.kind in names:
            kept = found.get(concept.kind)
            if kept is None or kept.mistake is None:
                found[concept.kind] = concept
    return tuple(found.values())


def next_due(fitting: Sequence[Kind], answered: Iterable[Answered]) -> datetime | None:
    """Return the first moment at which a concept of these kinds is due; None: there is none."""
    names = {kind.name for kind in fitting}
    return min((at.due for of, at in cards(answered).items() if of.kind in names), default=None)


def asked_again(wanted: Wanted, concept: Concept, answered: Iterable[Answered]) -> str:
    """Return the id of a fresh question of `concept`."""
    kind = next(kind for kind in wanted.fitting if kind.name == concept.kind)
    level = _level(wanted, kind.levels, skills(answered)[kind.topic])
    return _fresh(wanted.draw, kind, level, concept.mistake)


def chosen_next(wanted: Wanted, answered: Sequence[Answered]) -> str:
    """Return the id of a question of the topic that is known least or lacks most.

    Args:
        wanted: what there is to choose from; at least one kind fits.
        answered: every answer that stands, those of this set too.
    """
    learnt = skills(answered)
    topic = _topic(wanted, learnt)
    level, kinds = _at_level(wanted, topic, learnt[topic])
    met = Counter(one.attempt.kind for one in answered)
    in_set = Counter(wanted.kinds_asked)
    last = wanted.kinds_asked[-1:]
    fewest = min(kinds, key=lambda kind: _turn(kind, last, in_set, met))
    rank = _turn(fewest, last, in_set, met)
    draw = wanted.draw
    equal = [kind for kind in kinds if _turn(kind, last, in_set, met) == rank]
    return _fresh(draw, draw.choice(equal), level, None)


def _turn(
    kind: Kind, last: Sequence[str], in_set: Mapping[str, int], met: Mapping[str, int]
) -> tuple[bool, int, int]:
    return kind.name in last, in_set.get(kind.name, 0), met.get(kind.name, 0)


def _topic(wanted: Wanted, learnt: Mapping[str, Skill]) -> str:
    topics = sorted({kind.topic for kind in wanted.fitting})
    topic_of = {kind.name: kind.topic for kind in wanted.fitting}
    recent = [topic_of.get(name) for name in wanted.kinds_asked[-TURNS:]]

    def need(topic: str) -> float:
        skill = learnt[topic]
        lacks = LEVELS["senior"] - skill.mean
        return LACKING * lacks + UNKNOWN * skill.deviation - TURN * recent.count(topic)

    most = max(map(need, topics))
    return wanted.draw.choice([topic for topic in topics if need(topic) == most])


def _at_level(wanted: Wanted, topic: str, skill: Skill) -> tuple[Level, tuple[Kind, ...]]:
    """Return the level, and the kinds of `topic` that are posed at it."""
    kinds = tuple(kind for kind in wanted.fitting if kind.topic == topic)
    levels = {level for kind in kinds for level in kind.levels}
    level = _level(wanted, tuple(levels), skill)
    return level, tuple(kind for kind in kinds if level in kind.levels)


def _level(wanted: Wanted, levels: Sequence[Level], skill: Skill) -> Level:
    """Return which of `levels` is asked for, or is the nearest to the skill."""
    if wanted.level in levels and wanted.level is not None:
        return wanted.level
    mine = LEVELS[level_for(skill)]
    return min(levels, key=lambda level: (abs(LEVELS[level] - mine), LEVELS[level]))


def _fresh(draw: Draw, kind: Kind, level: Level, mistake: str | None) -> str:
    """Return the id of a question of `kind`, one that can tell `mistake` where that is found."""
    seed = kind.seed_at(level, draw.below(SEEDS))
    for _ in range(TRIES if mistake is not None else 0):
        if _tells(kind, seed, mistake):
            break
        seed = kind.seed_at(level, draw.below(SEEDS))
    return f"{kind.name}@{seed}"


def _tells(kind: Kind, seed: int, mistake: str | None) -> bool:
    try:
        return mistake in could_tell(build(kind.name, seed))
    except InputError:  # a kind of one's own that raises is told of when it is asked
        return True
