"""A verdict in the words of a person: "no way, 42 GB", "it hides", "plenty of room"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.units import GB, GIB
from quiz.interview.asides import Asked

Polarity = Literal["yes", "no", "tight"]

NOT = r"(?:does|will|would|can|could|is|do|wo|ca) ?n[o']?t|not"
# The contrary of what its words say: "no OOM", "it won't OOM", "no problem".
NOTHING_WRONG = (
    rf"no (?:cuda )?(?:oom|out of memory|problems?|issues?|worries)|"
    rf"(?:it |that |this )?(?:{NOT}|never) (?:cuda )?(?:oom|run out(?: of memory)?)"
)
NEVER = (
    rf"(?:it |that |this )?(?:{NOT}) (?:really |quite |even )?"
    r"(?:fit|hide|overlap|enough|hidden)\w*|"
    r"nope|nah|no way|no chance|never|not by a long (?:way|shot)|not at all|"
    r"(?:still |definitely |clearly |just )?(?:will |would |it |goes |'?ll )*(?:cuda )?"
    r"oom(?:s|ed)?|"
    r"definitely not|not even close|i (?:don'?t|do not) think (?:so|it)|not quite|not really|"
    r"out of memory|too (?:big|large|much)|exceeds|no room|no longer(?: fits?)?|"
    r"(?:is )?exposed|no"
)
TIGHTLY = (
    r"(?:fits? |yes,? |but )*(?:barely|tight(?:ly)?|borderline|very close|"
    r"(?:a )?close call|on the edge|just about|only just)(?: fits?)?|not (?:\w+ )?comfortabl[ey]"
)
FITS = (
    r"(?:yes|yep|yeah|yup|sure|of course|(?:should be |will be |is )?fine)|"
    r"it (?:does|will|would|should)(?! ?n[o']t\b)|"
    r"(?:it |that |this |will |would |does |should )*(?:fits?|hides?|hidden|overlaps?)"
    r"(?: (?:easily|fine|comfortably|well))?|comfortabl[ey]|easily|"
    r"(?:there is |there's |with )?(?:plenty of|enough|lots of|a lot of) (?:room|headroom|space|"
    r"slack|memory)(?: (?:left|to spare))?|(?:with |w/ ?)?room to spare"
)
WORDS: Sequence[tuple[Polarity, str]] = (
    ("yes", NOTHING_WRONG),
    ("no", NEVER),
    ("tight", TIGHTLY),
    ("yes", FITS),
)
# A denial is taken out before what it denies is looked for.
SAYS = tuple(
    (polarity, re.compile(rf"(?<![\w'])(?:{words})(?![\w'])", re.IGNORECASE))
    for polarity, words in WORDS
)
# In front of these it is no verdict: "no offload".
NO_THING = re.compile(
    r"\bno (?:doubt|question|scores?|logits?|change|sharding|offload|recompute|idea|dropout|"
    r"master|buckets?|activations?|grads?|gradients?|wait)\b",
    re.IGNORECASE,
)
# Either of two: what stands beside it says which.
NOT_TIGHTLY = r"\bnot (?:\w+ )?tight(?: at all)?"
NOT_TIGHT = re.compile(rf"{NOT_TIGHTLY}\b", re.IGNORECASE)
# A line with one of these asks, or speaks of another case: "it fits in 48 GB".
NO_VERDICT = re.compile(
    rf"\bnot sure\b|{NOT_TIGHTLY}[\s.!]*$|\bmight\b|"
    r"\bif\b|\bunless\b|\bwhether\b|\?\s*$|\bfits? (?:in|on|into)\b",
    re.IGNORECASE,
)
ANOTHER_CARD = re.compile(r"\bfits? (?:in|on|into)\s+(?:an?\s+)?\d", re.IGNORECASE)
# What is over or left is not the peak.
DIFFERENCE = re.compile(
    r"\d\s*[kmgt]i?b\s+(?:too (?:much|little)|over\b|short|missing|left|to spare|spare|free|"
    r"(?:of )?(?:headroom|room|space|slack)|(?:more|less) than)|\bover by\b|\bwith(?:in)? \d",
    re.IGNORECASE,
)
AGAINST = (
    r"(?:>=?|<=?|≥|≤|\bvs\.?|\bversus|\bagainst|\bexceeds|\bout of|\bof|\bover|\babove|\bunder|"
    r"\bbelow|\bbeyond|\bis (?:more|less) than)"
)
COMPARED = re.compile(
    rf"\s*{AGAINST}\s*(?:the\s+)?(?:card'?s?\s+)?(?P<card>\d+(?:\.\d+)?)\s*(?:[gt]i?b)?(?:\s+card)?",
    re.IGNORECASE,
)
# The time beside the one that is asked for.
COMPUTE = re.compile(
    r"(?:\b(?:vs\.?|versus|against)\s+|[<>]\s*)\d+(?:\.\d+)?\s*m?s(?:ec)?\b(?:\s*\w*)?|"
    r"(?:,\s*)?\b(?:fwd|forward|compute|computing)\b[^,;]*\d+(?:\.\d+)?\s*m?s(?:ec)?\b",
    re.IGNORECASE,
)
# By how much of it a figure may be off that is the card's size; its name is in GiB as if in GB.
NAME = 0.07
JOINED = (
    r"(?:\s|[,;:.!\u2013\u2014-](?!\d)|"
    r"\b(?:so|and|but|because|since|still|it|then|hence|therefore)\b)+"
)
AHEAD, BEHIND = (re.compile(one, re.IGNORECASE) for one in (rf"^{JOINED}", rf"{JOINED}$"))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was said, and the rest of the line without those words."""

    says: Polarity
    rest: str


def verdict_told(line: str) -> Verdict | None:
    """Return the one verdict of a line; None where there is none, or more than one."""
    typed = line.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if NO_VERDICT.search(typed):
        return None
    typed = NOT_TIGHT.sub(" ", NO_THING.sub(" ", typed))
    found: list[Polarity] = []
    for polarity, words in SAYS:
        if words.search(typed):
            found += [] if polarity in found else [polarity]
            typed = words.sub(" , ", typed)
    if found == ["tight", "yes"]:
        found = ["tight"]
    if len(found) != 1:
        return None
    return Verdict(says=found[0], rest=tidied(typed))


def without_card(rest: str, of: Asked) -> str:
    """Return a line without the card's size, where a number is held against it."""

    def kept(found: re.Match[str]) -> str:
        if not re.search(r"\d", rest[: found.start()]):
            return found[0]
        size = float(found["card"])
        near = (of.memory / GB, of.memory / GIB)
        return "" if any(abs(size - one) <= NAME * one for one in near) else found[0]

    return COMPUTE.sub("", COMPARED.sub(kept, rest))


def tidied(text: str) -> str:
    """Return what is left once words were taken out, without what joined them to it."""
    return BEHIND.sub("", AHEAD.sub("", text))
