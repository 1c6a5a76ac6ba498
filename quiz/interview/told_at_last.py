"""The answer at the end of a thought: "linear in the sequence, so 2 x 24 = 48 GB"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

# What people lead an answer in with, and what may stand between that and the answer.
LEADS = re.compile(
    r"\b(?:so|therefore|thus|hence|makes|gives|yields|comes to|adds up to|altogether|in all|"
    r"in total|together|all (?:\d+ )?layers|total|(?:my|the) answer|i say|i'd say|i would say|"
    r"i go with|i get|i expect|i predict|ac(?:tu|ut)ally|correction|sorry|wait|rather|i mean|"
    r"make that|here|still|stays(?: at)?|remains|again|"
    r"(?:doubl|halv|quadrupl|tripl)(?:es?|ed|ing) to|"
    r"(?:goes|grows|rises|up|becomes|drops|falls|down|shrinks) to)\b|(?<=,)\s*no,?(?=\s+\d)|"
    r"\bdown from [\d.]+\s*(?:GB)?\s*to\b|"
    r"\bis(?=\s+[~≈]?[\d.]+\s*(?:m?s|secs?|seconds?)\b)|"
    r"^(?:no|by|same|sum|doubles?|half|halves|twice)\b|=(?!.*=)|[-=]>|→|:(?=\s)|"
    r"(?<=[\w)])\s+[~≈]\s*(?=\d)",
    re.IGNORECASE,
)
SIGNS = {"=", ":", "~", "≈"}
# An answer behind one of these stands for the line, whatever the line would be read as.
CONCLUDES = re.compile(r"(?<!\bor )\b(?:so|therefore|thus|hence)\b|[-=]>|→", re.IGNORECASE)
BETWEEN = re.compile(
    r"^(?:\s|[:,=>~≈]|(?:is|it|of|that|about|this|would|be|takes|for|the|a total|it's|its|by|no|"
    r"at|to|same|still)\b)+",
    re.IGNORECASE,
)
# Behind an equals sign stands the answer where it has a unit: not in "s = 4096". What was worked
# out needs none: "2 + 20 + 20 = 42".
UNIT = re.compile(r"\d\s*[a-z]", re.IGNORECASE)
WORKED = re.compile(
    r"\d.*(?:[+*×/]|\bx\b|\s[-\u2013]\s|\d-\d)|\d\s*x\b|\b(?:sum|totals?|in all|together)\b|"
    r"\b(?:twice|doubles?|half|halves)\b|\d.*\d",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"=\s*[\d.,]+\s*(?:[,;]|and|$)")
# A person ends a sentence with a stop.
STOPS = " .!?"
# What an answer ends at.
ENDS = re.compile(
    r",\s+|;|(?<=[\w)])\.\s+|\s\(|\s(?=(?:because|since|as (?!is)|but|without|w/o|not|at (?:the )?"
    r"(?:loss|peak|end|moment|step|backward)|for (?:all|everything)|on each|in all|linear|exactly|"
    r"to be (?:precise|exact))\b)",
    re.IGNORECASE,
)

# The same of a saving: "it lowers the peak by 250 GB", "that frees up 250 GB".
SAVES = re.compile(
    r"\b(?:saves?|savings?|frees?|(?:gets? |got )?rid of|lower(?:s|ed)?|reduces?|cuts?|down|"
    r"drops?|falls?|shrinks?|decreases?|minus)\b(?: (?:up|off|it|the|peak|that|down|memory)\b)*",
    re.IGNORECASE,
)
# What may stand behind a saving: "about 250 GB saved", "250 GB less".
BEHIND = re.compile(
    r"\s+(?:is\s+|are\s+)?(?:saved|less|lower|freed|fewer|smaller|off(?: the peak)?|gone|"
    r"in savings|of savings)$",
    re.IGNORECASE,
)
# What is left behind a lever is not what it saves: "it drops to 50 GB".
TO = re.compile(r"\bto\b", re.IGNORECASE)
BARE = re.compile(r"[\s~\u2248]*\d[\d.,\s+*/×=()-]*$")
FROM_TO = re.compile(
    r"(?:\bfrom\s+(?:about\s+|~\s*)?(?P<a>\d+(?:\.\d+)?)\s*(?P<u>[kmgt]i?b)?\s*(?:down\s+)?"
    r"(?:to|->|→)|(?<![\w.])(?P<c>\d+(?:\.\d+)?)\s*(?P<w>[kmgt]i?b)?\s*(?:->|=>|→|to\b))"
    r"\s*(?:about\s+|~\s*)?(?P<b>\d+(?:\.\d+)?)(?!\.?\d)\s*(?P<v>[kmgt]i?b)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What may be the answer in a line.

    Args:
        text: as it would be typed alone.
        before: what leads up to it, from the beginning of the clause on.
        sign: the lead.
        within: the clause that it stands in, from the lead on.
    """

    text: str
    before: str
    sign: str
    within: str


def told_at_last(line: str) -> Iterator[Told]:
    """Yield what may be the answer in a line that is more than one, the longest first."""
    for lead in LEADS.finditer(line):
        before, rest = line[: lead.start()], line[lead.end() :]
        sign = lead[0].strip()
        if sign in SIGNS and not _concludes(before, rest, sign):
            continue
        clause = _last_clause(before, sign)
        yield from _told(rest, clause, sign)


def concluded(line: str, *, arrows: bool = True) -> Iterator[Told]:
    """Yield what may be the answer behind "so" and the like, from the last of them on.

    Args:
        line: as typed.
        arrows: whether one is behind an arrow too.
    """
    for lead in reversed(tuple(CONCLUDES.finditer(line))):
        if line[: lead.start()].strip() and (arrows or lead[0].isalpha()):
            before = _last_clause(line[: lead.start()], lead[0])
            yield from _told(line[lead.end() :], before, lead[0])


def saving_told(line: str) -> Iterator[Told]:
    """Yield what may be the saving in a line that says more than its size, the longest first."""
    for short in dict.fromkeys((BEHIND.sub("", line.rstrip(STOPS)), line)):
        if short != line:
            yield from _told(short, "", "")
        for lead in SAVES.finditer(short):
            rest = short[lead.end() :]
            bare = lead[0].lower().startswith(("save", "saving")) and BARE.match(
                BETWEEN.sub("", rest)
            )
            if (UNIT.search(rest) or bare) and not TO.search(rest):
                yield from _told(rest, "", lead[0])
        if fallen(line) is not None:
            continue
        if not TO.search(line) or re.search(r"\d\s*(?:[kmgt]i?b)?\s*to\s", line, re.IGNORECASE):
            yield from told_at_last(short)


def fallen(line: str) -> str | None:
    """Return the difference where a line says from what to what, None where it does not.

    A line that goes up is a range: "from 18 to 20 GB" has none.
    """
    for found in FROM_TO.finditer(line):
        first, unit = found["a"] or found["c"], found["u"] or found["w"]
        high, low = Decimal(first), Decimal(found["b"])
        if high > low and unit in {None, found["v"]}:
            return f"{high - low} {found['v'] or ''}".strip()
    return None


def _concludes(before: str, rest: str, sign: str) -> bool:
    """Say whether a sign leads to an answer: its figure has a unit, or was worked out."""
    if sign == ":" and not re.search(r"\w+\W+\w+|\d", before):
        return bool(UNIT.search(rest)) and len(before.strip()) > 1
    if UNIT.search(rest):
        return True
    if sign == ":":
        return True
    return bool(WORKED.search(ASSIGNED.sub(" ", before)))


def _last_clause(before: str, sign: str) -> str:
    """Return the clause that a lead belongs to; a sum behind commas is one with them."""
    if sign in {":", "~", "≈"} or ">" in sign or sign == "→":
        return before
    return re.split(r",\s|;|(?<=[\w)])\.\s", before)[-1]


def _told(rest: str, before: str, sign: str) -> Iterator[Told]:
    """Yield what stands behind a lead, as it is, without the words between, up to its end."""
    for whole in dict.fromkeys((rest, ENDS.split(rest.strip(" :,=>"), maxsplit=1)[0])):
        bare = BETWEEN.sub("", whole).rstrip(STOPS)
        for text in dict.fromkeys((whole.strip(" :,=>").rstrip(STOPS), bare)):
            if text:
                yield Told(text=text, before=before, sign=sign, within=whole)
