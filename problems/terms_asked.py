"""Terms of an answer of several numbers, and the mistakes that each of them is traced to."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from problems.answers.answer import Band
from problems.answers.quantity import QuantityAnswer
from problems.answers.terms import Follows, Term, TermsAnswer
from problems.model_states import Part, changes, size_of
from problems.problem import Mistake, Step
from problems.wording import FP32_SHARD
from problems.wrong_sizes import wrong_size

TOTAL = "total"
ALIASES: Mapping[str, tuple[str, ...]] = {
    "weights": ("weight", "params", "parameters"),
    FP32_SHARD: ("fp32 shard", "shard", "weights", "fp32 weights", "params", "parameters"),
    "gradients": ("gradient", "grads", "grad"),
    "master copy": ("master", "master weights", "fp32 copy", "fp32 weights"),
    "moments": ("adam", "adam states", "optimizer states", "optimizer"),
    "momentum": ("momenta", "optimizer states", "optimizer"),
    "optimizer": ("optimizer states", "optim", "opt", "adam", "master and moments"),
    TOTAL: ("sum", "all", "together", "altogether", "in all"),
}
UNIT_SAID = "GB is 10^9 bytes and the unit of a bare number; full credit within {}% for each."


def size_term(
    name: str,
    size: Fraction | int,
    *aliases: str,
    band: Band = "count",
    symbols: Mapping[str, int] | None = None,
    follows: Follows | None = None,
    own_aliases: tuple[str, ...] | None = None,
) -> Term:
    """Return the term of so many bytes; `own_aliases` stand in place of the usual ones."""
    usual = ALIASES.get(name, ()) if own_aliases is None else own_aliases
    return Term(
        name=name,
        aliases=(*usual, *aliases),
        answer=QuantityAnswer(value=Fraction(size), band=band, symbols=symbols or {}),
        follows=follows,
    )


def total_term(terms: Iterable[Term], *aliases: str, name: str = TOTAL) -> Term:
    """Return the sum of terms of bytes."""
    rows = tuple(terms)
    first = rows[0].answer.number
    return size_term(
        name,
        sum((Fraction(row.answer.value) for row in rows), Fraction(0)),
        *aliases,
        band=first.band if first else "count",
        symbols=first.symbols if first else None,
        follows=Follows(how="sum", of=tuple(row.name for row in rows)),
    )


def of_term(name: str, mistakes: Iterable[Mistake]) -> Iterator[Mistake]:
    """Yield mistakes as those of one term."""
    for mistake in mistakes:
        yield replace(mistake, term=name)


def last_step(answer: TermsAnswer, rest: str = "Nothing but rounding is left") -> Step:
    """Return the last step of a solution, which says every term."""
    return Step(text=f"{rest}: {answer.said}")


def part_mistakes(
    parts: tuple[Part, ...], precision: str, parameters: int, stage: int, ranks: int
) -> Iterator[Mistake]:
    """Yield what wrong ideas of the states make of each part and of their sum."""
    right = size_of(parts, parameters, stage, ranks)
    for change in changes(parts, precision):
        changed = {part.name: part for part in change.parts}
        for part in parts:
            other = changed.get(part.name)
            if other is not None and other.each != part.each:
                yield from of_term(
                    part.name, [_part_mistake(part, other, change.name, parameters, stage, ranks)]
                )
        size = size_of(change.parts, parameters, stage, ranks)
        yield from of_term(TOTAL, [wrong_size(size, right, change.name, _off(change.why))])
    for part in parts:
        yield from of_term(part.name, _other_share(part, parameters, stage, ranks))


def _off(why: str) -> str:
    return why.replace("{missing}", "{off}")


def _part_mistake(
    right: Part, other: Part, name: str, parameters: int, stage: int, ranks: int
) -> Mistake:
    wrong, size = (size_of((part,), parameters, stage, ranks) for part in (other, right))
    why = f"takes {other.each} bytes a parameter for them; they have {right.each}, {{off}} "
    return wrong_size(wrong, size, name, why + ("more." if wrong < size else "less."))


def _other_share(part: Part, parameters: int, stage: int, ranks: int) -> Iterator[Mistake]:
    if ranks == 1:
        return
    right = size_of((part,), parameters, stage, ranks)
    if part.stage <= stage:
        why = f"is whole; ZeRO-{stage} shards the {part.name} over {ranks} GPUs, {{off}} less."
        yield wrong_size(part.each * parameters, right, "a sharded part left whole", why)
    else:
        why = f"is a share of {ranks}; ZeRO-{stage} leaves the {part.name} whole, {{off}} more."
        shard = part.each * -(-parameters // ranks)
        yield wrong_size(shard, right, "a whole part sharded", why)
