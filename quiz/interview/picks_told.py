"""One of a few things, or their order, in the words of a person: "c because 35 > 34"."""

import re
from collections.abc import Callable, Iterator, Sequence

from problems.answers.ranking import RankedItem
from quiz.interview.verdicts_told import verdict_told

# What a reason begins with, and what is no pick by itself.
REASON = re.compile(
    r"\s*[,;:(\u2014-]?\s*\b(?:because|since|cause|cuz|due to|as (?:it|that|the|there)|so that|"
    r"given|bc)\b.*$",
    re.IGNORECASE,
)
CLAUSES = re.compile(r",\s*|;\s*|\.\s+|\s\(|\)|\s[\u2013\u2014-]\s|:\s|\bso\b")
LEADING = re.compile(
    r"^(?:\s|(?:i'd|i would|i'll|we|i|pull|use|using|go|going|with|take|do|try|start|first|then|"
    r"probably|definitely|clearly|maybe|think|guess|my|pick|answer|it's|it is|is|it|so|would|be|"
    r"at|during|in|on|option|the|to)\b)+",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"\s*\b(?:i think|i guess|i'd say|probably|first|of course|then|alone|for sure|phase|here)"
    r"[\s.!?]*$",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:not|never|no|neither|nor|rather than|instead of)\b|n't\b", re.IGNORECASE
)
FIGURES = re.compile(
    r"[\d.,\s<>=~+*/-]+(?:[kmgt]i?b)?(?:\s*(?:vs\.?|of|>|<)\s*[\d.,]+\s*\w*)?", re.IGNORECASE
)
LETTER = re.compile(
    r"^\s*\(?(?P<key>[a-e])\)?\s*(?:[,;:.\u2014-]\s|\s-\s|(?=\s*(?:because|since|cause|bc|cuz)\b))",
    re.IGNORECASE,
)
BARE_CE = re.compile(r"(?<!chunked )(?<!fused )\bce\b(?! \w*loss)", re.IGNORECASE)
# Short for words of names.
FEWER = "smaller micro-batch"
SHORT: Sequence[tuple[str, str]] = (
    (r"halv(?:e|ing) (?:the )?(?:micro[- ]?batch|mb|batch)(?: size)?", FEWER),
    (r"(?:smaller|lower|reduced?|shrink|cut)(?: the)? (?:micro[- ]?)?batch(?: size)?", FEWER),
    (r"micro[- ]?batch (?:of )?\d+", FEWER),
    (r"(?:recompute|recomputing) (?:everything|all(?: layers)?)", "full recompute"),
    (r"recomp\b", "recompute"), (r"checkpoint\b", "checkpointing"), (r"act\b", "activation"),
    (r"grad\b", "gradient"), (r"attn\b", "attention"), (r"opt\b", "optimizer"),
    (r"bwd\b|backprop\b", "backward"), (r"fwd\b", "forward"),
)  # fmt: skip


def picks(line: str, items: Sequence[RankedItem]) -> Iterator[str]:
    """Yield keys of what a line may pick, one for each clause that says one."""
    if letter := LETTER.match(line):
        rest = line[letter.end() :]
        if not re.search(r"\b(?:or|and)\s+\(?[a-e]\b", rest, re.IGNORECASE):
            yield letter["key"].lower()
            return
    if _are_verdicts(items):
        told = verdict_told(line)
        if told is not None:
            yield next(x.key for x in items if x.name.partition(",")[0] == told.says)


def _are_verdicts(items: Sequence[RankedItem]) -> bool:
    return {item.name.partition(",")[0] for item in items} == {"yes", "tight", "no"}


def pick_texts(line: str) -> Iterator[str]:
    """Yield the clauses of a line that may pick something, each as it would be typed alone."""
    bare = REASON.sub("", line)
    for clause in CLAUSES.split(bare):
        if DENIED.search(clause) or FIGURES.fullmatch(clause) or not clause.strip():
            continue
        yield TRAILING.sub("", LEADING.sub("", spelled(clause))).strip()


def spelled(text: str) -> str:
    """Return a text with what is short in it spelled as names have it."""
    for pattern, name in SHORT:
        text = re.sub(rf"\b(?:{pattern})", name, text, flags=re.IGNORECASE)
    return text


def picked(
    line: str,
    items: Sequence[RankedItem],
    reads: Callable[[str], str | None],
    *,
    alone: bool = False,
) -> str | None:
    """Return the key of the one item that a line picks; None where it picks none, or several.

    Args:
        line: as typed.
        items: what may be picked.
        reads: gives the key that a text is read as, None where it cannot be read.
        alone: whether nothing but a reason may stand beside the pick.
    """
    found = {*picks(line, items)}
    if not found and not _are_verdicts(items):
        texts = [text for text in pick_texts(line) if text]
        found = {key for text in texts if (key := reads(text)) is not None}
        if alone and len(texts) > 1:
            return None
    return found.pop() if len(found) == 1 else None


def order_texts(line: str, *, grows: bool) -> Iterator[str]:
    """Yield a line as an order may be typed.

    Args:
        line: as typed.
        grows: whether the first one is that of the least, so that "<" puts it first.
    """
    line = REASON.sub("", line)
    text = BARE_CE.sub("chunked ce", spelled(line))
    for one in dict.fromkeys((spelled(line), text)):
        yield one
        if grows and "<" in one and not re.search(r">|<=|=<", one):
            yield one.replace("<", ">")
