"""Topic B, activations: what all layers save, worked out with one wrong step."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.layers import Term
from problems.repairs import repair
from problems.wording import number
from problems.worked import Line, Worked, WrongLine
from problems.worked_layers import EACH, MOST_SEQUENCES, Kept

ALL_SAVED = (
    "Nothing is recomputed, attention is fused and keeps no scores, and there is no dropout. "
    "A norm keeps its input and its output, a matrix its input, an activation function its own. "
    "Somebody adds up what all layers save for the backward pass."
)
LETTERS = "Put in the letters: how wide is each tensor, and how many bytes has an element?"
# With so many, a layer and all layers are one step.
MOST_TERMS = 4
COEFFICIENT = re.compile(r"\d+(?=[·a-z])")


@kind(
    name="repair-activations",
    topic="B",
    level="mid",
    title="The first wrong step of a sum of activations",
    sources=(
        "arXiv 2205.05198 section 4.1",
        "notes.tczhong.com/notes/x0zq5fhec0rw4x81c0q5cg4",
    ),
)
def repair_activations(draw: Draw) -> Draft | None:
    """Ask for the first wrong step of what all layers save where nothing is recomputed."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none",))
    if scenario.recipe.attention != "flash":
        return None
    scenario = scenarios.with_micro_batch(scenario, draw.between(2, MOST_SEQUENCES))
    kept = Kept(scenario=replace(scenario, recipe=replace(scenario.recipe, dropout=0.0)))
    about = f"{kept.about(letters=True)} {ALL_SAVED}"
    return repair(draw, about, all_saved(kept), (*_wrongs(kept),))


def all_saved(kept: Kept) -> Worked:
    """Return what all layers save where nothing is recomputed."""
    terms = [_term(place, term) for place, term in enumerate(kept.terms)]
    ends: tuple[Line, ...] = (kept.everything(),)
    if len(terms) < MOST_TERMS:
        ends = (kept.whole_layer(), kept.all_of("layer"))
    return Worked(lines=(kept.tokens(), *terms, _sum_of(range(len(terms))), *ends))


def _term(place: int, term: Term) -> Line:
    return Line(
        key=f"term {place}",
        says=f"{term.name}: {term.formula}",
        of=lambda _: term.each,
        form="each",
        noun=EACH,
    )


def _sum_of(places: Sequence[int]) -> Line:
    said = " + ".join(f"{{term {place}}}" for place in places)
    return Line(
        key="each",
        says=f"a layer and token: {said}",
        of=lambda values: sum((values[f"term {place}"] for place in places), Fraction(0)),
        form="each",
        noun=EACH,
    )


def _wrongs(kept: Kept) -> Iterator[WrongLine]:
    yield kept.one_sequence()
    for place, term in enumerate(kept.terms):
        yield from _term_wrongs(kept, place, term)
    yield from _sum_wrongs(kept)
    yield from _end_wrongs(kept)


def _end_wrongs(kept: Kept) -> Iterator[WrongLine]:
    layers = kept.shape.layers
    if len(kept.terms) < MOST_TERMS:
        yield kept.whole_layer().wrong(
            "last token only",
            "a layer: {each} bytes",
            lambda values: values["each"],
            why="is one token; the backward pass needs those of all, {off} more.",
            nudge="For how many tokens does a layer save its tensors?",
        )
        return
    yield kept.everything().wrong(
        "one layer for all",
        "all layers: {tokens} tokens × {each} bytes",
        lambda values: values["tokens"] * values["each"],
        why=f"is one layer; there are {layers}, {{off}} more.",
        nudge="How many layers save their tensors?",
    )


def _is_attention(term: Term) -> bool:
    return term.name.startswith("q, k, v")


def _is_mlp(term: Term) -> bool:
    return "MLP" in term.name or term.name.startswith("gate")


def _term_wrongs(kept: Kept, place: int, term: Term) -> Iterator[WrongLine]:
    a, width = kept.shape, kept.width
    elements = COEFFICIENT.sub(lambda found: str(int(found[0]) // width), term.formula)
    other = [
        (
            "elements taken for bytes",
            elements,
            term.each // width,
            f"counts elements, and each has {width} bytes: {{off}} more.",
        )
    ]
    if _is_attention(term):
        why = f"has {a.heads} heads of keys and values; there are {a.kv_heads}: {{off}} less."
        whole = 4 * width * a.query_width
        other.append(("grouped heads forgotten", f"{4 * width}·a·d", whole, why))
    if _is_mlp(term):
        why = f"takes the MLP for a plain one of 4h; here f is {number(a.ffn)}."
        plain = 8 * width * a.hidden
        name = "MLP taken for 4h wide with two matrices"
        other.append((name, f"{2 * width} × 4h", plain, why))
    for name, formula, each, why in other:
        wrong = _term(place, replace(term, formula=formula, each=each))
        yield _term(place, term).wrong(name, wrong.says, wrong.of, why=why, nudge=LETTERS)


def _sum_wrongs(kept: Kept) -> Iterator[WrongLine]:
    h, width, rule = kept.shape.hidden, kept.width, kept.rule
    places = range(len(kept.terms))
    line, nudge = _sum_of(places), "Is everything that a layer saves in its sum, once?"
    yield line.wrong(
        "layer inputs only",
        f"a layer and token: {width}h",
        lambda _: width * h,
        why="is the layer's input alone, which is what recomputation keeps: {off} more.",
        nudge=nudge,
    )
    yield line.wrong(
        "the 34·h rule",
        f"a layer and token: {rule}h",
        lambda _: rule * h,
        why="is the rule of a GPT block with dropout.",
        nudge=nudge,
    )
    for place, term in enumerate(kept.terms):
        if _is_attention(term) or _is_mlp(term):
            what = "attention" if _is_attention(term) else "MLP"
            said = "what attention saves" if _is_attention(term) else "what the MLP saves"
            rest = _sum_of([other for other in places if other != place])
            yield line.wrong(
                f"{what} forgotten",
                rest.says,
                rest.of,
                why=f"leaves out {said}, {{off}} more.",
                nudge=nudge,
            )
