"""The answer at the end of a thought: "linear in the sequence, so 2 x 24 = 48 GB"."""

import re
from collections.abc import Iterator

# What people lead an answer in with, and what may stand between that and the answer.
LEADS = re.compile(
    r"\b(?:so|therefore|thus|hence|makes|gives|yields|comes to|adds up to|altogether|in all|"
    r"in total|total|(?:my|the) answer|i say|i'd say|i would say|i go with|i get|actually|"
    r"correction|sorry|wait|rather|i mean|make that|saves|lowers it|reduces it)\b|"
    r"^no\b|=(?!.*=)|→",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"^(?:\s|[:,=>]|(?:is|it|of|that|about|this|would|be|takes|for|the|a total|it's|its|by|no)\b)+"
)
# Behind an equals sign stands the answer where it has a unit: not in "s = 4096".
UNIT = re.compile(r"\d\s*[a-z]", re.IGNORECASE)
# A person ends a sentence with a stop.
STOPS = " .!"


def told_at_last(line: str) -> Iterator[str]:
    """Yield what may be the answer in a line that is more than one, the longest first."""
    for lead in LEADS.finditer(line):
        rest = line[lead.end() :]
        if lead[0] == "=" and not UNIT.search(rest):
            continue
        bare = BETWEEN.sub("", rest).rstrip(STOPS)
        for text in dict.fromkeys((rest.strip(" :,=>").rstrip(STOPS), bare)):
            if text:
                yield text
