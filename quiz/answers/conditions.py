"""Reads the conditions of a run and a number: "bf16 mixed, AdamW, b=1, s=4096, flash: 118 GB"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from problems.stated import ZERO_OVER, Stated
from quiz.answers.condition_words import IDLE, PHRASES, Value
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable

LARGEST = 10**7
ENDING = "end with a colon and the memory, such as : 118 GB"
BEHIND_A_SIGN = re.compile(r"(?::|=>|→|⇒)(?=[^:→⇒]*$)")
AMOUNT = re.compile(r"(?:^|(?<=[,;=\s]))[~≈]?\d[\d.,]* ?[KMGT]i?B\b[^,;]*$", re.IGNORECASE)
BARE_16_BITS = re.compile(r"(?:bf16|bfloat16|fp16|float16|16[ -]?bits?)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What was stated, and the number where one was typed.

    Args:
        stated: the conditions.
        quantity: the memory; None where conditions stand alone.
        remarks: what was assumed in reading them.
    """

    stated: Stated
    quantity: Quantity | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Found:
    """A phrase in the text, and what it fills in; nothing where it is not understood."""

    start: int
    said: str
    values: Mapping[str, Value]


def read_conditions(text: str) -> Conditions | Unreadable:
    """Read conditions in any order, and the memory behind them where it is there.

    Args:
        text: the answer as typed; any text at all is safe.
    """
    if not text.strip():
        return Unreadable(offset=0, reason=f"nothing was typed; type conditions and {ENDING}")
    head, start = _split(text)
    if start is None:
        return _alone(head) or Unreadable(offset=len(text.rstrip()), reason=ENDING)
    quantity = parse_quantity(text[start:], default_unit="GB")
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + start)
    stated = _stated(head)
    if isinstance(stated, Unreadable):
        return stated
    remarks = (*_remarks(head, stated), *quantity.remarks)
    return Conditions(stated=stated, quantity=quantity, remarks=remarks)


def _alone(head: str) -> Conditions | None:
    """Return conditions without a number; None where something else may stand there too."""
    stated = _stated(head)
    if isinstance(stated, Unreadable) or stated == Stated():
        return None
    return Conditions(stated=stated, quantity=None, remarks=tuple(_remarks(head, stated)))


def _split(text: str) -> tuple[str, int | None]:
    """Return the conditions, and where the number behind them begins."""
    text = text.rstrip(" :")
    if sign := BEHIND_A_SIGN.search(text):
        return text[: sign.start()], sign.end()
    if amount := AMOUNT.search(text):
        return text[: amount.start()].rstrip(" =,;"), amount.start()
    return text, None


def _stated(head: str) -> Stated | Unreadable:
    values: dict[str, Any] = {}
    for one in _found(head):
        if not one.values:
            reason = "this is not understood as a condition; say it otherwise or leave it out"
            return Unreadable(offset=one.start, reason=reason)
        for field, value in one.values.items():
            if values.setdefault(field, value) != value:
                return Unreadable(offset=one.start, reason="this was stated otherwise before")
            if isinstance(value, int) and value > LARGEST:
                reason = f"this is more than {LARGEST:,}; type a smaller number"
                return Unreadable(offset=one.start, reason=reason)
            if field not in {"each", "zero"} and not (isinstance(value, str) or _is_whole(value)):
                return Unreadable(offset=one.start, reason="type a whole number of at least 1")
    return Stated(**values)


def _is_whole(value: Value) -> bool:
    return isinstance(value, int) and value >= 1


def _found(head: str) -> Iterator[_Found]:
    """Yield the phrases from left to right, the longest that fits at each place."""
    at = 0
    while at < len(head):
        matches = [(phrase, phrase.pattern.match(head, at)) for phrase in PHRASES]
        longest = max(
            ((match.end(), -place, phrase, match) for place, (phrase, match) in
             enumerate(matches) if match and match.end() > at),
            key=lambda row: row[:2],
            default=None,
        )  # fmt: skip
        idle = IDLE.match(head, at)
        if longest is None and idle is None:
            yield _Found(at, "", {})
            return
        if longest is None:
            at = idle.end() if idle else at + 1
            continue
        _, _, phrase, match = longest
        yield _Found(at, match[0], phrase.fill(match))
        at = match.end()


def _remarks(head: str, stated: Stated) -> Iterator[str]:
    bare = any(BARE_16_BITS.fullmatch(one.said) for one in _found(head))
    if bare and stated.precision == "mixed":
        yield "read 16 bits as mixed precision; pure bf16 has no fp32 copy"
    if stated.zero and stated.gpus is None:
        yield f"read ZeRO as over {ZERO_OVER} GPUs, since no number was stated"
