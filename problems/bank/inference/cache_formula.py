"""Topic F, inference: the key-value cache, as a formula."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.catalog import CatalogModel, models
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import Formula, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.problem import Level, Step
from problems.wording import gb, number

A, B, D, H, K, L, P, S, T, U, W = map(letter, "abdhkLpstuw")
WIDTHS = {
    1: ("an 8-bit cache", "1 byte"),
    2: ("a 16-bit cache", "2 bytes"),
    4: ("an fp32 cache", "4 bytes"),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is asked of a cache.

    Args:
        each: bytes of an element.
        form: what changes the plain product, as `FORMS` says it.
        letters: those that the prompt defines.
    """

    each: int
    form: str
    letters: str

    @cached_property
    def formula(self) -> Formula:
        """The bytes."""
        each = 2 * self.each
        tokens = S * B
        plain = each * L * K * D * tokens
        return {
            "token": each * L * K * D,
            "sequence": each * L * K * D * S,
            "batch": plain,
            "split": plain / T,
            "width": each * L * K * H / A * tokens,
            "stage": plain / P,
            "windows": each * K * D * B * (L * S + L * W) * Fraction(1, 2),
            "prefix": each * L * K * D * (U + B * (S - U)),
            "more ranks": each * L * D * tokens,
            "both": plain / (T * P),
        }[self.form]


FORMS = {
    "token": (
        "How many bytes does one token of one request take?",
        "Each layer keeps a key and a value for the token.",
    ),
    "sequence": (
        "How many bytes does one request of s tokens take?",
        "Each layer keeps a key and a value for every token.",
    ),
    "batch": (
        "How many bytes do b requests of s tokens each take?",
        "Each layer keeps a key and a value for every token of every request.",
    ),
    "split": (
        (
            "Attention is split over t GPUs, where t divides k. How many bytes do b requests of s "
            "tokens each take on one GPU?"
        ),
        "The key-value heads are shared out over the t GPUs, k/t each.",
    ),
    "width": (
        (
            "The head size is not given: the query heads together are as wide as the model. How "
            "many bytes do b requests of s tokens each take?"
        ),
        "A head has h/a entries, and only the k key-value heads are kept.",
    ),
    "stage": (
        (
            "The layers lie in equal parts on p pipeline stages. How many bytes do b requests of "
            "s tokens each take on one GPU?"
        ),
        "A stage keeps the keys and values of its L/p layers.",
    ),
    "windows": (
        (
            "In a variant of it half of the layers have a sliding window and keep the last w "
            "tokens only; requests are longer than that. How many bytes do b requests of s tokens "
            "each take?"
        ),
        "L/2 layers keep s tokens and L/2 layers keep w.",
    ),
    "prefix": (
        (
            "All requests begin with the same u tokens, which are stored once; s counts them too. "
            "How many bytes do b requests of s tokens each take?"
        ),
        "The prefix is there once, and each request adds the s - u tokens of its own.",
    ),
    "more ranks": (
        (
            "Attention is split over t GPUs, and t is a multiple of k, so that each GPU has one "
            "key-value head. How many bytes do b requests of s tokens each take on one GPU?"
        ),
        "With more GPUs than key-value heads each GPU keeps a whole head: several hold the same.",
    ),
    "both": (
        (
            "Attention is split over t GPUs, where t divides k, and the layers lie in equal parts "
            "on p pipeline stages. How many bytes do b requests of s tokens each take on one GPU?"
        ),
        "A GPU keeps k/t of the key-value heads in L/p of the layers.",
    ),
}
# Query heads and, at times, the hidden size stand among the letters and do not matter.
LETTERS = {
    "token": "Lakd",
    "sequence": "Lakds",
    "batch": "Lakdsb",
    "split": "Lakdsbt",
    "width": "Lhaksb",
    "stage": "Lakdsbp",
    "windows": "Lakdsbw",
    "prefix": "Lakdsbu",
    "more ranks": "Lakdsbt",
    "both": "Lakdsbtp",
}
FORMS_AT = {
    "junior": ("token", "sequence", "batch"),
    "mid": ("split", "width", "stage"),
    "senior": ("windows", "prefix", "more ranks", "both"),
}


@kind_at_levels(
    name="cache-formula",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="The key-value cache as a formula",
    sources=("arXiv 2309.06180 section 2.2", "arXiv 2305.13245"),
)
def cache_formula(draw: Draw, level: Level) -> Draft | None:
    """Ask for the bytes of the cache in letters."""
    model = draw.choice(tuple(models().values()))
    form, a = draw.choice(FORMS_AT[level]), model.architecture
    # Where every query head has its own key and value, two letters would be right.
    grouped = a.kv_heads < a.heads and a.latent is None
    if not grouped or (form == "width" and a.query_width != a.hidden):
        return None
    case = Case(
        each=draw.weighted(((2, 6), (1, 3), (4, 1))),
        form=form,
        letters=LETTERS[form],
    )
    values = _values(draw, model, form)
    letters, right = some(case.letters, s="tokens of a request", b="requests"), case.formula
    return Draft(
        prompt=_prompt(model, case, values) + f" {letters_said(letters)}.",
        answer=SymbolicAnswer(
            formula=right, letters=letters, mistakes=telling(right, _mistakes(case))
        ),
        hints=_hints(case),
        solution=tuple(_steps(case, values)),
        mistakes=(),
    )


def _values(draw: Draw, model: CatalogModel, form: str) -> dict[str, int]:
    a = model.architecture
    tokens = 128 * draw.between(4, max(5, min(model.max_sequence, 32768) // 128))
    divisors = [t for t in (2, 4, 8) if a.kv_heads % t == 0] or [1]
    return {
        "L": a.layers,
        "h": a.query_width,
        "a": a.heads,
        "k": a.kv_heads,
        "d": a.head_dim,
        "s": tokens,
        "b": draw.between(2, 64),
        "t": 2 * a.kv_heads if form == "more ranks" else draw.choice(divisors),
        "p": draw.choice((2, 4)),
        "w": tokens // 4,
        "u": tokens // 2,
    }


def _prompt(model: CatalogModel, case: Case, values: dict[str, int]) -> str:
    said, each = WIDTHS[case.each]
    asked, _ = FORMS[case.form]
    some_run = f"here {values['b']} of {number(values['s'])} tokens"
    return (
        f"{model.title} serves requests, {some_run}, with {said}, {each} an entry. Scales and "
        f"unused slots are left out.\n{asked} Answer with a formula in these letters, numbers as "
        "numbers; one that does not matter stays out:"
    )


def _hints(case: Case) -> tuple[str, str, str]:
    _, rule = FORMS[case.form]
    return (
        (
            "For one token and one layer: which vectors does attention need again for later "
            "tokens, and how wide are they?"
        ),
        rule,
        (
            f"A key and a value, each of {case.each} × the width of what is kept; then every "
            "layer and every token that is asked for."
        ),
    )


def _steps(case: Case, values: dict[str, int]) -> Iterator[Step]:
    width = K * H / A if case.form == "width" else K * D
    both = 2 * case.each * width
    yield Step(
        text=f"key and value of a token in a layer, all heads: 2 × {case.each} × {width.said}"
        f" = {both.said}",
        depth="whiteboard",
    )
    _, rule = FORMS[case.form]
    yield Step(text=rule.removesuffix("."), depth="whiteboard")
    size = case.formula.at(values)
    said = ", ".join(f"{name} = {number(values[name])}" for name in case.letters)
    yield Step(text=f"with {said}: {gb(size)}")
    yield Step(text=f"together: {case.formula.said}")


def _mistakes(case: Case) -> Iterator[WrongFormula]:
    right = case.formula
    if case.form != "more ranks":
        says = "keeps a key and a value for every query head; only k heads have them."
        yield wrong("grouped heads forgotten", right * A / K, says)
    yield wrong("keys or values alone", right / 2, "has keys or values, not both.")
    says = f"counts entries; each has {case.each} bytes."
    yield wrong("elements taken for bytes", right / case.each, says)
    yield wrong("bits for bytes", 8 * right, "counts bits; a byte has eight.")
    yield wrong("one layer for all", right / L, "is one layer; each of the L keeps its own.")
    yield from _of_form(case)


def _of_form(case: Case) -> Iterator[WrongFormula]:
    plain = 2 * case.each * L * K * D * S * B
    if "b" in case.letters and case.form != "prefix":
        yield wrong("one request for all", case.formula / B, "is one request; there are b.")
    if case.form in {"split", "both"}:
        says = "is not divided by t; the key-value heads are shared out."
        yield wrong("cache left whole", case.formula * T, says)
    if case.form in {"stage", "both"}:
        says = "has all layers on one GPU; a stage has L/p of them."
        yield wrong("all layers on a stage", case.formula * P, says)
    if case.form == "width":
        says = "takes keys and values to be h wide; they are k·h/a."
        yield wrong("hidden size for the heads", plain / (K * D) * H, says)
    if case.form == "windows":
        says = "keeps all s tokens in every layer; half of them keep w."
        yield wrong("windows forgotten", plain, says)
        yield wrong("windows everywhere", plain / S * W, "keeps w tokens in every layer.")
    if case.form == "prefix":
        yield wrong("prefix stored b times", plain, "stores the prefix for every request.")
        says = "adds the prefix to requests that have it already; s counts it too."
        yield wrong("prefix counted twice", plain + plain / (S * B) * U, says)
    if case.form == "more ranks":
        says = "divides the k heads by t; a GPU keeps a whole head."
        yield wrong("less than a head on a GPU", plain / T, says)
        yield wrong("cache left whole", plain, "is all k heads; a GPU has one of them.")
