"""Topic C, everything else: what is as wide as the vocabulary, as a formula."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.scenario import Model
from problems import scenarios
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import Formula, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.problem import Level, Step
from problems.wording import bytes_of, gb, listed, number

B, C, H, M, R, S, T, V = map(letter, "bchmrstV")
WIDTHS = {2: "16-bit", 4: "fp32"}
# Tensors of the vocabulary's width that a loss may hold at once, and their bytes an entry.
SETS = {
    "junior": (
        (("16-bit logits", 2),),
        (("fp32 logits", 4),),
        (("16-bit logits", 2), ("their fp32 copy", 4)),
    ),
    "mid": (
        (("16-bit logits", 2), ("their fp32 copy", 4), ("its fp32 gradient", 4)),
        (("fp32 log-probabilities", 4), ("their gradient", 4), ("the gradient of the logits", 4)),
        (("16-bit logits", 2), ("fp32 softmax", 4), ("the 16-bit gradient of the logits", 2)),
        (("fp32 softmax", 4), ("the 16-bit gradient of the logits", 2)),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Which tensors are alive at once, over which rows.

    Args:
        tensors: their names and bytes an entry.
        form: "whole", "split" by vocabulary, "context" (tokens split), "kept" over batches of an
            evaluation, or "chunked".
    """

    tensors: Sequence[tuple[str, int]]
    form: str

    @property
    def each(self) -> int:
        """Bytes an entry, all tensors together."""
        return sum(each for _, each in self.tensors)

    @property
    def letters(self) -> str:
        """Those that the prompt defines; the hidden size seldom matters."""
        more = {"whole": "", "split": "t", "context": "c", "kept": "m", "chunked": "r"}
        return "sbVh" + more[self.form]

    @cached_property
    def formula(self) -> Formula:
        """The bytes."""
        whole = self.each * S * B * V
        return {
            "whole": whole,
            "split": whole / T,
            "context": whole / C,
            "kept": whole * M,
            "chunked": self.each * R * V + 2 * S * B * H + 4 * V * H,
        }[self.form]


FORMS_AT = {
    "junior": ("whole", "kept"),
    "mid": ("whole", "split"),
    "senior": ("split", "context", "chunked", "chunked"),
}
RULES = {
    "whole": "every token of the micro-batch has a row of V entries",
    "split": "each of the t GPUs has V/t of the entries of every row",
    "context": "each of the c GPUs has s/c tokens of every sequence, and whole rows",
    "kept": "the rows of m batches are held until the end",
    "chunked": "r rows at a time, beside one gradient over all tokens and one of the head",
}


@kind_at_levels(
    name="logits-formula",
    topic="C",
    levels=("junior", "mid", "senior"),
    title="Logits and loss as a formula",
    sources=("arXiv 2410.10989 section 3.2", "huggingface/transformers, Trainer.evaluation_loop"),
)
def logits_formula(draw: Draw, level: Level) -> Draft:
    """Ask for the bytes of tensors as wide as the vocabulary, in letters."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    form = draw.choice(FORMS_AT[level])
    known = SETS["junior" if form == "kept" else "mid" if level == "senior" else level]
    tensors = draw.choice(known[:2] if form == "kept" else known)
    case = Case(tensors=tensors, form=form)
    values = _values(draw, model)
    letters, right = some(case.letters, m="batches of the evaluation"), case.formula
    return Draft(
        prompt=_prompt(model, case, values) + f" {letters_said(letters)}.",
        answer=SymbolicAnswer(
            formula=right, letters=letters, mistakes=telling(right, _mistakes(case))
        ),
        hints=_hints(case),
        solution=tuple(_steps(case, values)),
        mistakes=(),
    )


def _values(draw: Draw, model: Model) -> dict[str, int]:
    return {
        "s": 64 * draw.between(4, min(model.max_sequence, 16384) // 64),
        "b": draw.between(1, 16),
        "V": model.architecture.vocab,
        "h": model.architecture.hidden,
        "t": draw.choice((2, 4, 8)),
        "c": draw.choice((2, 4, 8)),
        "m": draw.between(50, 400),
        "r": draw.choice((256, 512, 1024, 2048)),
    }


def _prompt(model: Model, case: Case, values: dict[str, int]) -> str:
    alive = listed([f"{name} ({bytes_of(each)} an entry)" for name, each in case.tensors])
    sequences = "sequence" if values["b"] == 1 else "sequences"
    batch = f"b = {values['b']} {sequences} of s = {number(values['s'])} tokens"
    how = {
        "whole": f"{model.title} is trained on micro-batches of {batch}. The loss is computed for "
        f"all tokens. Alive at its worst moment: {alive}.",
        "split": f"{model.title} is trained on micro-batches of {batch}, with head and loss split "
        f"by vocabulary over t = {values['t']} GPUs and nothing gathered. Alive at the worst "
        f"moment: {alive}.",
        "context": f"{model.title} is trained on micro-batches of {batch}, whose tokens are split "
        f"over c = {values['c']} context-parallel GPUs, each with the whole head. Alive at the "
        f"loss's worst moment: {alive}.",
        "kept": f"{model.title} is evaluated on m = {values['m']} batches of {batch}. The "
        f"evaluation keeps the outputs of all batches on the GPU: {alive}.",
        "chunked": f"{model.title} is trained on micro-batches of {batch}. Head and loss run over "
        f"chunks of r = {number(values['r'])} rows, a row for a token. Alive of a chunk at "
        f"once: {alive}. Beside it lie the 16-bit gradient of the head's input, for all tokens, "
        "and an fp32 gradient of the head's matrix.",
    }[case.form]
    asked = "all of this" if case.form in {"chunked", "kept"} else "these tensors"
    return (
        f"{how}\nHow many bytes do {asked} take on a GPU? Answer with a formula in these letters, "
        "numbers as numbers; one that does not matter stays out:"
    ).replace("do all of this", "does all of this")


def _hints(case: Case) -> tuple[str, str, str]:
    widths = " + ".join(str(each) for _, each in case.tensors)
    return (
        "Count entries first: how many rows are alive on a GPU, and how many entries has a row?",
        f"Rows and entries: {RULES[case.form]}.",
        (
            f"Each entry takes {widths} bytes; the hidden size matters only for tensors that are "
            "h wide."
        ),
    )


def _steps(case: Case, values: dict[str, int]) -> Iterator[Step]:
    widths = " + ".join(str(each) for _, each in case.tensors)
    total = f" = {case.each}" if len(case.tensors) > 1 else ""
    yield Step(text=f"bytes an entry: {widths}{total}", depth="whiteboard")
    yield Step(text=f"{RULES[case.form]}", depth="whiteboard")
    if case.form == "chunked":
        yield Step(text=f"the chunk: {(case.each * R * V).said}", depth="whiteboard")
        yield Step(text=f"the gradients: {(2 * S * B * H).said} and {(4 * V * H).said}")
    said = ", ".join(f"{name} = {number(values[name])}" for name in _used(case))
    yield Step(text=f"with {said}: {gb(case.formula.at(values))}")
    yield Step(text=f"together: {case.formula.said}")


def _used(case: Case) -> list[str]:
    return [name for name in case.letters if name in case.formula.letters]


def _mistakes(case: Case) -> Iterator[WrongFormula]:
    right, whole = case.formula, case.each * S * B * V
    rows = right / case.each if case.form != "chunked" else R * V
    if case.form != "chunked":
        yield wrong("elements taken for bytes", rows, f"counts entries, of {case.each} bytes.")
        says = "has one token of each sequence, as in generation; here all s count."
        yield wrong("last token only", right / S, says)
        for name, each in case.tensors:
            if each != case.each:
                says = f"is {name} alone; {bytes_of(case.each)} an entry are alive."
                yield wrong(f"{WIDTHS[each]} logits alone", each * rows, says)
        says = "is h wide; logits are as wide as the vocabulary."
        yield wrong("hidden size for the vocabulary", right / V * H, says)
    for form, taken, says in (
        ("split", T, "is not divided by t; each GPU has V/t of a row."),
        ("context", C, "is not divided by c; each GPU has s/c of the tokens."),
    ):
        if case.form == form:
            yield wrong("logits left whole", right * taken, says)
    if case.form == "kept":
        yield wrong("one batch for all", right / M, "is one batch; the outputs of m are kept.")
    if case.form == "chunked":
        says = "has all rows at once; a chunk has r of them."
        yield wrong("chunks forgotten", right - case.each * R * V + whole, says)
        yield wrong("chunk alone", case.each * R * V, "is the chunk alone, without gradients.")
        says = "leaves out the gradient of the head's matrix."
        yield wrong("head's gradient forgotten", right - 4 * V * H, says)
        says = "leaves out the gradient of the head's input, for all tokens."
        yield wrong("input's gradient forgotten", right - 2 * S * B * H, says)
