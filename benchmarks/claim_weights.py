#!/usr/bin/env python3
"""Learns, from labelled answers, how much each word speaks for a verdict, a reason, a falsehood.

    make weights
    python3 bootstrap.py python benchmarks/claim_weights.py [--leave-claims-out]

Reads tests/quiz/claims/answers/*.jsonl and the sentences of the claims themselves, and writes
quiz/data/claim_weights.json. The answers under unseen/ are for judging the result and are never
read here. With --leave-claims-out nothing is written: each quarter of the claims is marked by
what was learnt from answers to the others alone.

The model is a sum of weights for each thing judged: the verdict is right, or hedged the wrong way;
the core reason is given; something is false. The chance of a label is that of the ways to it.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

import torch
from claim_answers import Answer, answers, digest, taught, unseen
from torch import Tensor
from torch.nn.functional import embedding_bag, logsigmoid
from weight_file import write

from problems.claims import Claim, FalseStatement, claim, claims, falsehoods
from quiz.claims.features import ALWAYS, features, is_plain
from quiz.claims.judging import LABELS, judge
from quiz.claims.naming import Profile, profile, unit
from quiz.claims.reading import read
from quiz.claims.weights import HEADS, PART, UNIT, Weights, weights

# Features that stand in one answer alone tell nothing of others, and the file holds so many.
FEWEST, KEPT = 2, 28000
# How freely weights may grow, and how much a judged part counts beside the label.
FREEDOM, PARTS = 2.0, 0.5
STEPS = 300
# Of so many answers one is learnt from without its claim, too.
ANONYMOUS = 2
# How much a feature of each kind says before anything is learnt: for all claims, for one.
STRENGTH = {
    "word": (0.5, 0.7),
    "concept": (0.35, 0.5),
    "verdict": (2.0, 2.0),
    "length": (1.0, 0.0),
}
SIDES = ("right", "hedged", "wrong")
FOLDS = 4

# A feature of all claims has "" for a claim.
Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """An answer as the features that it has, each with its strength."""

    answer: Answer
    strengths: Mapping[Key, float]


def say(line: str) -> None:
    """Write one line."""
    sys.stdout.write(f"{line}\n")


def sample(answer: Answer) -> Sample:
    """Return an answer with its features, those of all claims and those of its own."""
    asked = claim(answer.claim)
    found = features(asked, read(asked, answer.text))
    keys = chain.from_iterable((("", name), (answer.claim, name)) for name in found)
    strengths = {key: _strength(key) for key in keys}
    return Sample(answer=answer, strengths={k: s for k, s in strengths.items() if s})


def _strength(key: Key) -> float:
    claim_id, name = key
    kind = "word"
    if name == ALWAYS or name.startswith("length "):
        kind = "length"
    elif name.startswith("="):
        kind = "verdict"
    elif "<" in name and ">" in name:
        kind = "concept"
    return STRENGTH[kind][bool(claim_id)]


def learn(samples: Sequence[Sample]) -> Mapping[Key, Sequence[float]]:
    """Return the weight of each feature for each head, its strength included.

    Some answers are learnt from twice, the second time as if they were to a claim that nothing is
    known of, so that the weights of all claims can stand alone.
    """
    samples = [*samples, *map(_of_any_claim, samples[::ANONYMOUS])]
    counted = Counter(key for one in samples for key in one.strengths)
    keys = sorted(key for key, times in counted.items() if times >= FEWEST)
    found = fit(samples, keys)
    telling = {key: sum(w * w for w in found[key]) * counted[key] for key in keys}
    found = fit(samples, sorted(sorted(keys, key=lambda key: (-telling[key], key))[:KEPT]))
    return {key: [w * _strength(key) for w in row] for key, row in found.items()}


def _of_any_claim(one: Sample) -> Sample:
    general = {key: s for key, s in one.strengths.items() if not key[0]}
    return Sample(answer=one.answer, strengths=general)


def _bags(samples: Sequence[Sample], keys: Sequence[Key]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the features of all answers in one row, their strengths, and where each begins."""
    at = {key: index for index, key in enumerate(keys)}
    bags = [[(at[key], s) for key, s in one.strengths.items() if key in at] for one in samples]
    places = torch.tensor([place for bag in bags for place, _ in bag], dtype=torch.int64)
    strengths = torch.tensor([s for bag in bags for _, s in bag], dtype=torch.float64)
    starts = torch.tensor([0, *(len(bag) for bag in bags[:-1])]).cumsum(0)
    return places, strengths, starts


def fit(samples: Sequence[Sample], keys: Sequence[Key]) -> Mapping[Key, Sequence[float]]:
    """Return the weights that make the labels likeliest, with a cost for large ones."""
    places, strengths, starts = _bags(samples, keys)
    table = torch.zeros(len(keys), len(HEADS), dtype=torch.float64, requires_grad=True)
    wanted = _wanted([one.answer for one in samples])
    search = torch.optim.LBFGS([table], max_iter=STEPS, line_search_fn="strong_wolfe")

    def cost() -> Tensor:
        search.zero_grad()
        given = embedding_bag(places, table, starts, mode="sum", per_sample_weights=strengths)
        found: Tensor = _cost(given, wanted) + table.square().sum() / (2 * FREEDOM)
        found.backward()
        return found

    search.step(cost)
    return dict(zip(keys, table.tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is known of the answers: every label, and of some how they came by it.

    Args:
        labels: for each answer the index of its label.
        judged: the answers of which the rest is known.
        sides: of those, the index of the side.
        cores: of those, whether the core reason is given.
        falses: of those, whether something is false.
    """

    labels: Tensor
    judged: Tensor
    sides: Tensor
    cores: Tensor
    falses: Tensor


def _wanted(rows: Sequence[Answer]) -> Wanted:
    judged = [(index, row) for index, row in enumerate(rows) if row.side is not None]
    return Wanted(
        labels=torch.tensor([LABELS.index(row.label) for row in rows]),
        judged=torch.tensor([index for index, _ in judged]),
        sides=torch.tensor([SIDES.index(row.side or "") for _, row in judged]),
        cores=torch.tensor([bool(row.core) for _, row in judged]),
        falses=torch.tensor([bool(row.false) for _, row in judged]),
    )


def _cost(scores: Tensor, wanted: Wanted) -> Tensor:
    """Return how unlikely the labels are, and the parts where they are known."""
    nothing = torch.zeros_like(scores[:, :1])
    sides = torch.log_softmax(torch.cat([scores[:, :2], nothing], 1), 1)
    core, no_core = logsigmoid(scores[:, 2]), logsigmoid(-scores[:, 2])
    false, no_false = logsigmoid(scores[:, 3]), logsigmoid(-scores[:, 3])
    right, hedged, wrong = sides.unbind(1)
    labels = torch.stack(
        [
            right + core + no_false,
            _either(hedged, right + no_core + no_false, right + core + false),
            _either(wrong, right + no_core + false),
        ],
        1,
    )
    here = wanted.judged
    parts = (
        sides[here, wanted.sides]
        + torch.where(wanted.cores, core[here], no_core[here])
        + torch.where(wanted.falses, false[here], no_false[here])
    )
    chosen = labels.gather(1, wanted.labels[:, None])
    return -chosen.sum() - PARTS * parts.sum()


def _either(*ways: Tensor) -> Tensor:
    return torch.logsumexp(torch.stack(ways), 0)


def rounded(
    found: Mapping[Key, Sequence[float]], known: Sequence[Answer], learnt_from: str
) -> Weights:
    """Return weights as the file keeps them, and the statements that answers are known to make."""
    own: dict[str, dict[str, tuple[int, ...]]] = {}
    for (claim_id, name), row in sorted(found.items()):
        values = tuple(round(weight * UNIT) for weight in row)
        if any(values):
            own.setdefault(claim_id, {})[name] = values
    rare, rarest = rarities(known)
    return Weights(
        learnt_from=learnt_from,
        general=own.pop("", {}),
        own=own,
        rare=rare,
        rarest=rarest,
        statements=statements(known, lambda name: rare.get(name, rarest) / PART),
    )


def rarities(known: Sequence[Answer]) -> tuple[Mapping[str, int], int]:
    """Return how rare each word and concept is, and how rare one that stands nowhere."""
    counted: Counter[str] = Counter()
    for row in known:
        asked = claim(row.claim)
        counted.update(name for name in features(asked, read(asked, row.text)) if is_plain(name))
    rare = {
        name: round(PART * log(len(known) / (1 + times)))
        for name, times in sorted(counted.items())
        if times >= FEWEST
    }
    return rare, round(PART * log(len(known)))


def statements(
    known: Sequence[Answer], rarity: Callable[[str], float]
) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the words and concepts of each statement, in its sentence and in answers."""
    made: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in known:
        alone = [*row.points, *([row.error] if row.error else [])]
        if len(alone) == 1:
            made[row.claim, alone[0]].append(row.text)
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    some = next(iter(claims().values()))
    for asked in claims().values():
        for one in asked.statements:
            texts = [one.says, one.says, *made[asked.id, one.id]]
            if one == _affirming(asked):
                texts.append(asked.claim)
            row = _together([profile(read(asked, text), rarity) for text in texts])
            found.setdefault(asked.id, {})[one.id] = row
    for error in falsehoods():
        row = _together([profile(read(some, error.says), rarity)])
        found.setdefault("", {})[error.id] = row
    return found


def _affirming(asked: Claim) -> FalseStatement | None:
    """Return the false statement that who affirms a false claim makes."""
    return None if asked.truth else next(e for e in asked.errors if e.misconception)


def _together(profiles: Sequence[Profile]) -> Profile:
    """Return the direction of several profiles, in parts that the file can keep."""
    added: Counter[str] = Counter()
    for row in profiles:
        for name, value in row.items():
            added[name] += value
    whole = {name: round(PART * value) for name, value in sorted(unit(added).items())}
    return {name: value / PART for name, value in whole.items() if value}


def agreement(rows: Iterable[Answer], by: Weights | None = None) -> str:
    """Return in words how often the label given is the one wanted."""
    pairs = Counter(
        (row.label, judge(claim(row.claim), read(claim(row.claim), row.text), by=by).label)
        for row in rows
    )
    whole = sum(pairs.values())
    agreed = sum(times for (wanted, given), times in pairs.items() if wanted == given)
    confused = pairs["correct", "wrong"] + pairs["wrong", "correct"]
    return (
        f"{whole:5} answers, {agreed / whole:6.1%} agree, "
        f"{confused / whole:5.1%} correct and wrong confused"
    )


def leave_claims_out() -> None:
    """Mark claims by what was learnt from the answers to others."""
    names = sorted(claims())
    samples = [sample(row) for row in answers()]
    for fold in range(FOLDS):
        out = set(names[fold::FOLDS])
        known = [one for one in samples if one.answer.claim not in out]
        rows = [one.answer for one in known]
        by = rounded(learn([*known, *map(sample, taught(rows))]), rows, "")
        say(f"fold {fold + 1}: {agreement([row for row in unseen() if row.claim in out], by)}")


def main() -> int:
    """Learn, write, and say how well unseen answers are marked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--leave-claims-out", action="store_true", help="write nothing; see above")
    if parser.parse_args().leave_claims_out:
        leave_claims_out()
        return 0
    known = list(answers())
    rows = [*known, *taught(known)]
    found = rounded(learn([sample(row) for row in rows]), rows, digest())
    write(found)
    weights.cache_clear()
    features_of = sum(map(len, found.own.values())) + len(found.general)
    say(f"{len(rows)} answers and sentences, {features_of} features")
    say(f"learnt: {agreement(answers())}")
    say(f"unseen: {agreement(unseen())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
