"""Words and signs that state a condition of a run: "b=1", "4k context", "full recompute"."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from engine.units import KIB

Value = str | int | Fraction
Fill = Callable[[re.Match[str]], Mapping[str, Value]]

RECOMPUTED = r"(?:(?:activation|gradient|act|grad) )?(?:re-?comput\w*|checkpoint(?:ing|s)?|ckpt)"
GPU = r"(?:gpus?|cards?|devices?|ranks?|(?:a|h|b|l)\d{2,3}s?(?:[ -]?\d+ ?gb)?)\b"
NOT_GPUS = r" ?(?:[x×]|tokens?|sequences?|samples?|examples?|bytes?)"
STAGE = r"(?:deepspeed )?(?:zero[ -]?(?:stage )?|stage )([0-3])"
WHOLE = r"(\d{1,3}(?:,\d{3})+(?!\d)|\d{1,15}(?:\.\d{1,3})?)(k\b)?"
MIXED = r"mixed(?:[ -]precision)?"
BITS = r"(?:bf16|bfloat16|fp16|float16|16[ -]?bits?)"


@dataclass(frozen=True)
class Phrase:
    """A way to say a condition, and the fields of `problems.stated.Stated` that it fills."""

    pattern: re.Pattern[str]
    fill: Fill


def _said(pattern: str, **values: Value) -> Phrase:
    return Phrase(re.compile(rf"(?:{pattern})(?!\w)", re.IGNORECASE), lambda _: values)


def _counted(field: str, pattern: str) -> Phrase:
    """Return a phrase with a number in it, of which "4k" is 4,096."""

    def fill(match: re.Match[str]) -> Mapping[str, Value]:
        at = next(group for group in range(1, len(match.groups()), 2) if match[group])
        value = Fraction(match[at].replace(",", "")) * (KIB if match[at + 1] else 1)
        return {field: int(value) if value.denominator == 1 else value}

    return Phrase(re.compile(rf"(?:{pattern})(?!\w)", re.IGNORECASE), fill)


def _staged(pattern: str) -> Phrase:
    return Phrase(re.compile(pattern, re.IGNORECASE), lambda match: {"zero": int(match[1])})


def _each(pattern: str) -> Phrase:
    return Phrase(re.compile(pattern, re.IGNORECASE), lambda match: {"each": Fraction(match[1])})


# The longest that fits is read; of two as long the first.
PHRASES = (
    _said(
        rf"(?:pure|all(?: in)?|full|everything in)[ -]*{BITS}(?: states)?", precision="pure-bf16"
    ),
    _said(
        rf"(?:{BITS} )?{MIXED}(?: {BITS})?,?(?: with)? fp32 grad(?:ient)?s?",
        precision="mixed-fp32-grad",
    ),
    _said(rf"{BITS}(?:[ -]*{MIXED}|[ -]precision)?|{MIXED}(?: {BITS})?", precision="mixed"),
    _said(r"(?:an )?fp32 master(?: copy| weights)?", precision="mixed"),
    _said(rf"(?:torch\.)?(?:amp|autocast)(?: {BITS})?", precision="autocast"),
    _said(r"(?:all )?(?:fp32|float32|32[ -]?bits?|(?:full|single) precision)", precision="fp32"),
    _each(r"(\d{1,2}(?:\.\d{1,3})?) ?(?:bytes?|b) ?(?:per|/|an?|each|for each) ?(?:param\w*|p\b)"),
    _said(r"(?:fused |foreach )?adam-?w?|adam-?w? fused", optimizer="adamw-fused"),
    _said(r"8[ -]?bit adam-?w?|adam-?w?[ -]?8[ -]?bits?|bnb adam-?w?", optimizer="adamw-8bit"),
    _said(r"(?:plain |vanilla )?sgd(?: without momentum)?", optimizer="sgd"),
    _said(r"sgd (?:with |and |\+ ?)?momentum|momentum sgd", optimizer="sgd-momentum"),
    _said("adafactor", optimizer="adafactor"),
    _said("lion", optimizer="lion"),
    _counted(
        "micro_batch",
        rf"(?:micro[ -]?|mini[ -]?)?batch(?:es)?(?:[ -]?size)?(?: of| is)? ?=? ?{WHOLE}|"
        rf"(?:mbs|mb|bs|b) ?=? ?{WHOLE}(?! ?bytes)|{WHOLE} (?:sequences?|samples?|examples?)",
    ),
    _counted(
        "sequence",
        r"(?:seq(?:uence)?s?(?:[ _-]?len(?:gth)?s?)?|len(?:gth)?|context(?: length)?|ctx|"
        r"tokens|s|t)"
        rf"(?: of| is)? ?=? ?{WHOLE}(?: tokens?)?|"
        rf"(?:x ?|× ?|by )?{WHOLE}[ -]?(?:tokens?|context|ctx|long|seq(?:uence)?(?: length)?)",
    ),
    _counted(
        "accumulation",
        rf"(?:grad(?:ient)? )?accum(?:ulation|ulated)?(?: over| of| steps?)* ?=? ?{WHOLE}",
    ),
    _said(
        r"(?:flash|fused|memory[ -]efficient)(?:[ -]?(?:attention|attn))?(?:[ -]?[23])?|"
        r"fa[ -]?[23]?|sdpa",
        attention="flash",
    ),
    _said(
        r"(?:eager|unfused|standard|naive|plain)(?: (?:attention|attn))?|"
        r"no flash(?:[ -]?(?:attention|attn))?",
        attention="eager",
    ),
    _said(rf"(?:full )?{RECOMPUTED}(?: on| of everything| everywhere)?", recompute="full"),
    _said(rf"selective(?: {RECOMPUTED})?", recompute="selective"),
    _said(
        rf"(?:no|without|w/o)(?: any| full)? {RECOMPUTED}|{RECOMPUTED} ?=? ?(?:off|none|no)|"
        "nothing recomputed",
        recompute="none",
    ),
    _staged(rf"{STAGE}(?!\w)"),
    Phrase(
        re.compile(
            rf"{STAGE} (?:over|across|on) (\d{{1,6}})(?: ?[x×]? ?{GPU})?(?!\w|[.,]\d|{NOT_GPUS})",
            re.IGNORECASE,
        ),
        lambda match: {"zero": int(match[1]), "gpus": int(match[2])},
    ),
    _said(r"fsdp2?(?: full[ -]shard)?|fully sharded(?: data[ -]parallel)?", zero=3),
    _said(r"ddp|(?:plain )?data[ -]parallel(?:ism)?", zero=0),
    _counted("gpus", rf"{WHOLE} ?(?:x|×)? ?{GPU}|(?:n|dp|gpus) ?= ?{WHOLE}"),
    _said(rf"(?:one|single|a single) {GPU}", gpus=1),
)
# What says nothing by itself.
IDLE = re.compile(
    r"[\s,;.+&/()|]+|(?:and|with|on|over|the|a|an|of|at|in|using|for|per|training|model|each|gpu|"
    r"(?:full )?fine-?tuning|full training|(?:no|without) dropout|is|i|we|assume|assuming|say|"
    r"optimizer|attention)(?!\w)",
    re.IGNORECASE,
)
