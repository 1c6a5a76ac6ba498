"""What a card has room for in inference: sequences at once, the longest of them, tokens in all."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.errors import InputError
from engine.estimate import fits, fullest, ledgers, room_of
from engine.ledger import Category, Ledger
from engine.rank import part_of
from engine.scenario import Scenario, Workload
from engine.served import cache_of, tokens_of_a_block
from engine.stacks.registry import stack
from engine.symbols import B_block, L_w, T_w, n_free

MOST = 10**6


@dataclass(frozen=True, kw_only=True)
class Room:
    """What fits at the upper estimate of what nvidia-smi would show.

    Attributes:
        sequences: most sequences of the scenario's length at once.
        longest: most tokens of each of the scenario's sequences, in whole blocks as far as the
            model takes all their tokens.
        limit: the longest sequence that the model takes, which `longest` does not exceed; 0 where
            nothing is known.
        pool: bytes for the cache beside all else; where more tokens need more of all else too,
            what the cache of most sequences takes.
        free: bytes of them that are taken and that no sequence has.
        tokens: tokens in as many whole blocks as these bytes hold, where windows are not full.
        per_token: bytes of one token in all layers of the fullest rank.
        per_sequence: bytes of one sequence of the scenario's length, whose windowed layers keep
            their window alone.
        windowed: layers of the fullest rank that keep a window alone.
        window: tokens of a sequence of the scenario's length that these layers keep.
    """

    sequences: int
    longest: int
    limit: int
    pool: int
    free: int
    tokens: int
    per_token: int
    per_sequence: int
    windowed: int
    window: int


def room(scenario: Scenario, of: Ledger | None = None) -> Room:
    """Return what one GPU has room for; `of` is the ledger, where it is at hand already."""
    book = of or fullest(ledgers(scenario))
    block, work = tokens_of_a_block(scenario), scenario.workload
    limit = longest_taken(scenario)
    sequences = _most(lambda one: _fits(scenario, replace(work, micro_batch=one)), MOST)
    pool = max(0, room_of(scenario) - book.nvidia_smi[1] + book.total(Category.KV_CACHE))
    each = cache_of(scenario, part_of(scenario, book.stage)).of(work.sequence)
    windowed = book.values[L_w]
    if not stack(scenario.implementation).pages_cache:
        # Its prefill keeps whole prompts, with a window or without one.
        each, windowed = work.sequence * book.values[B_block], 0
        pool = sequences * each
    return Room(
        sequences=sequences,
        longest=_longest(scenario, limit or MOST),
        limit=limit,
        pool=pool,
        free=book.values[n_free] * book.values[B_block],
        tokens=pool // book.values[B_block] * block,
        per_token=book.values[B_block] // block,
        per_sequence=each,
        windowed=windowed,
        window=book.values[T_w],
    )


def longest_taken(scenario: Scenario) -> int:
    """Return the tokens of the longest sequence that the model takes; 0 if nothing is known."""
    return scenario.architecture.positions or scenario.model.max_sequence


def _longest(scenario: Scenario, most: int) -> int:
    """Return the longest length that fits; the last block up to `most` need not be full."""
    block, work = tokens_of_a_block(scenario), scenario.workload
    blocks = _most(
        lambda one: _fits(scenario, replace(work, sequence=min(one * block, most))),
        -(-most // block),
    )
    return min(blocks * block, most)


def _fits(scenario: Scenario, work: Workload) -> bool:
    try:
        return fits(replace(scenario, workload=work)) == "yes"
    except InputError:
        return False


def _most(fitting: Callable[[int], bool], limit: int) -> int:
    """Return the largest number up to `limit` that fits, 0 where 1 does not."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fitting(middle) else (low, middle - 1)
    return low
