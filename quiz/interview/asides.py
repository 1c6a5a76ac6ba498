"""Whether a figure in a line is of a part of what is asked for: "1.66 GB a layer"."""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from problems.interview.script import Question

# Things that a run has many of, and of which no question asks for one.
ONE_OF = re.compile(
    r"(?:\b(?:per|an?|each|one|single|every|first|last)\s+|\bper-|/\s*)"
    r"(?:layer|block|token|tok|head|sequence|seq|sample|example|row|element|word|position|"
    r"expert|matrix)\b|\balone\b|\bof (?:it|that|this|which|those|them)\b",
    re.IGNORECASE,
)
EACH = re.compile(r"\beach\b(?! other)", re.IGNORECASE)
# The card's own size; not what lies on it.
CARD = re.compile(
    r"(?<!\bon )(?<!\bon the )(?<!\bon a )(?<!\bon each )(?<!\bper )(?<!\beach )(?<!\bone )"
    r"\b(?:cards?|vram|hbm)\b",
    re.IGNORECASE,
)
# Names of what a run is made of: in front of "=" or ":" they say of what the figure is.
PARTS = re.compile(
    r"\b(?:weights?|params?|parameters|grads?|gradients?|moments?|momentum|master|copy|copies|"
    r"adam\w*|optim\w*|mlp|ffn|attn|attention|qkv|scores?|probs?|softmax|logits?|logprobs?|loss|"
    r"embed\w*|heads?|norms?|dropout|gelu|silu|swiglu|buckets?|buffers?|context|slack|act\w*|"
    r"states?|layers?|residuals?|inputs?|masks?|headroom)\b",
    re.IGNORECASE,
)
WHOLE = re.compile(
    r"\b(?:sum|totals?|all|overall|together|altogether|everything|peak|in all|answer|whole)\b",
    re.IGNORECASE,
)
# Of what a question asks for, by a word of its key, beside what is named as the key is.
OWN = {
    "second": r"moments?|momentum|adam\w*|optim\w*|states?|copy|copies",
    "gathered": r"weights?|params?|parameters|embed\w*|heads?|layers?|norms?",
}
# More names than these add up to the whole: "weights, gradients and moments".
FEW = 2
# A label has few words.
LABEL = 4
TIMES = r"(?:[*×·]|\bx\b|\btimes\b)"
FIGURE = re.compile(r"(?<![\w.])\d[\d.,]*")
SIZED = re.compile(r"\d\s*(?:[kmgt]i?b|bytes?|gigs?)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What of a question decides what a figure in a line may be.

    Args:
        key: the question's, such as "activations-at-512".
        layers: of the model.
        gpus: in the run.
        memory: of a card, in bytes.
        unit: what a bare number is in, as the question says.
        symbols: those of the question.
        before: the candidate's own number that this one equals where nothing changes.
    """

    key: str
    layers: int
    gpus: int
    memory: int
    unit: str
    symbols: frozenset[str] = field(default_factory=frozenset)
    before: Fraction | None = None


def asked(question: Question, before: Fraction | None = None) -> Asked:
    """Return what of a question decides what a figure may be."""
    x = question.scenario
    number = None if question.problem is None else question.problem.answer.number
    return Asked(
        key=question.key,
        layers=x.architecture.layers,
        gpus=x.hardware.gpus,
        memory=x.hardware.gpu.memory,
        unit=(number.default_unit or "") if number else "",
        symbols=frozenset(number.symbols) if number else frozenset(),
        before=before,
    )


def is_of_part(text: str, of: Asked) -> bool:
    """Return whether a text says of its figure that it is of one of many, or the card's."""
    found = ONE_OF.search(text)
    if found is not None:
        return not _is_multiplied(text, found.end(), of)
    if of.gpus == 1 and "-on-" not in of.key and EACH.search(text):
        return not _is_multiplied(text, len(text), of)
    return CARD.search(text) is not None


def leads_to_part(before: str, sign: str, of: Asked) -> bool:
    """Return whether what stands before a lead says that the figure behind it is of a part.

    Args:
        before: from the beginning of the clause on.
        sign: the lead.
        of: what is asked for.
    """
    found = ONE_OF.search(before)
    if found is not None and not _is_multiplied(before, found.end(), of):
        is_word = sign.strip().isalpha() or "'" in sign or ">" in sign
        counted = FIGURE.search(before[: found.start()]) or SIZED.search(before)
        return not (is_word and counted)
    if CARD.search(before):
        return not FIGURE.search(before)
    return _is_label(before, of)


def _is_multiplied(text: str, end: int, of: Asked) -> bool:
    """Say whether what is of one is taken as often as there are."""
    many = rf"(?:L|{of.layers})\b"
    return bool(
        re.match(rf"\W{{0,2}}{TIMES}", text[end:])
        or re.search(rf"{TIMES}\s*{many}|\b{many}(?:\s*layers?)?\s*(?:{TIMES}|at\b|of\b)", text)
    )


def names_part(text: str, of: Asked) -> bool:
    """Return whether a text names one or two parts of what is asked for, and nothing whole."""
    if WHOLE.search(text):
        return False
    names = {one.group().lower() for one in PARTS.finditer(text)}
    own = of.key.split("-")
    if own[0] == "prediction" or not 0 < len(names) <= FEW:
        return False
    allowed = OWN.get(own[0], "(?!)")
    return not any(
        re.fullmatch(allowed, name) or any(word.startswith(name[:3]) for word in own)
        for name in names
    )


def _is_label(before: str, of: Asked) -> bool:
    """Say whether the label of a part stands there: "logits", where the peak is asked for."""
    if re.search(r"\d", before) or len(before.split()) > LABEL:
        return False
    if re.search(r"\b(?:not?|without|w/o|excl\w*|beside|plus|and)\b", before, re.IGNORECASE):
        return False
    return names_part(before, of)
