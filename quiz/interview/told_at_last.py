"""The answer at the end of a thought: "linear in the sequence, so 2 x 24 = 48 GB"."""

import re
from collections.abc import Iterator

# What people lead an answer in with, and what may stand between that and the answer.
LEADS = re.compile(
    r"\b(?:so|therefore|thus|hence|makes|gives|yields|comes to|adds up to|altogether|in all|"
    r"in total|total|(?:my|the) answer|i say|i'd say|i would say|i go with|i get|i expect|"
    r"i predict|actually|correction|sorry|wait|rather|i mean|make that)\b|"
    r"^(?:no|by)\b|=(?!.*=)|→",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"^(?:\s|[:,=>]|(?:is|it|of|that|about|this|would|be|takes|for|the|a total|it's|its|by|no)\b)+"
)
# Behind an equals sign stands the answer where it has a unit: not in "s = 4096".
UNIT = re.compile(r"\d\s*[a-z]", re.IGNORECASE)
# A person ends a sentence with a stop.
STOPS = " .!"


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


def told_at_last(line: str) -> Iterator[str]:
    """Yield what may be the answer in a line that is more than one, the longest first."""
    for lead in LEADS.finditer(line):
        rest = line[lead.end() :]
        if lead[0] != "=" or UNIT.search(rest):
            yield from _bare(rest)


def saving_told(line: str) -> Iterator[str]:
    """Yield what may be the saving in a line that says more than its size, the longest first."""
    for short in dict.fromkeys((BEHIND.sub("", line.rstrip(STOPS)), line)):
        if short != line:
            yield from _bare(short)
        for lead in SAVES.finditer(short):
            rest = short[lead.end() :]
            if UNIT.search(rest) and not TO.search(rest):
                yield from _bare(rest)
        yield from told_at_last(short)


def _bare(rest: str) -> Iterator[str]:
    """Yield what stands behind a lead, as it is and without the words between."""
    bare = BETWEEN.sub("", rest).rstrip(STOPS)
    for text in dict.fromkeys((rest.strip(" :,=>").rstrip(STOPS), bare)):
        if text:
            yield text
