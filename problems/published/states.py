"""Published answers about model states that went wrong."""

from fractions import Fraction

from engine.units import GB, GIB
from problems.draw import Draw
from problems.published.case import Make, Published, billions, said
from problems.worked import Line, Worked, WrongLine, times

CARDS = (24, 40, 48, 80, 96, 141)
MIXED = "2 + 2 + 4 (master copy) + 8 (moments)"
WIDTHS = "How wide is each of the states, and how many of each are there?"
EACH = "bytes"


def _each(says: str, each: int) -> Line:
    return Line(key="each", says=says, of=lambda _: each, form="each", noun=EACH)


def _total(parameters: int) -> Line:
    return Line(
        key="total",
        says=f"model states: {{each}} × {said(parameters)} parameters",
        of=times("each", parameters),
    )


def _ranks(key: str, ranks: int, of: str = "total") -> Line:
    return Line(
        key=key,
        says=f"on each of {ranks} GPUs: {{{of}}} / {ranks}",
        of=times(of, Fraction(1, ranks)),
    )


def _narrow(line: Line, says: str) -> WrongLine:
    return line.wrong(
        "everything in 16 bits",
        says,
        lambda _: 8,
        why="has every state in 16 bits; master copy and moments are fp32, {off} more.",
        nudge=WIDTHS,
    )


def _master_forgotten(line: Line) -> WrongLine:
    return line.wrong(
        "master copy forgotten",
        "a parameter: 2 + 2 + 8 (moments)",
        lambda _: 12,
        why="leaves the fp32 master copy out, {off} more.",
        nudge=WIDTHS,
    )


def eight_bytes(draw: Draw) -> Published:
    """560 GB for the states of a 70B model."""
    parameters, ranks = billions(draw), draw.choice((8, 16, 24, 32, 64))
    each = _each(f"a parameter: {MIXED}", 16)
    return Published(
        source="distillprep.com/generative-ai/peft",
        about=f"Full fine-tuning of a {said(parameters)} model with AdamW in mixed "
        "precision: 16-bit weights and gradients, fp32 master copy and moments, all sharded over "
        f"{ranks} GPUs.",
        worked=Worked(lines=(each, _total(parameters), _ranks("rank", ranks))),
        wrong=_narrow(each, "a parameter: 2 + 2 + 4 (moments)"),
        others=(_master_forgotten(each),),
        told="560 GB was said for 70B parameters, 8 bytes each; mixed precision has 16, 1,120 GB",
    )


def served_to_trained(draw: Draw) -> Published:
    """Three to four times of what serving takes."""
    parameters = billions(draw)
    trained = _each(f"trained, a parameter: {MIXED}", 16)
    lines = (
        Line(
            key="served",
            says=f"served: 2 bytes × {said(parameters)} parameters",
            of=lambda _: 2 * parameters,
        ),
        trained,
        Line(
            key="ratio",
            says="trained to served: {each} / 2",
            of=times("each", Fraction(1, 2)),
            form="count",
            noun="times",
        ),
        Line(
            key="states",
            says="model states: {ratio} × {served}",
            of=lambda values: values["ratio"] * values["served"],
        ),
    )
    return Published(
        source="wdndev/llm_interview_note",
        about=f"A {said(parameters)} model is served in 16 bits and then trained with AdamW in "
        "mixed precision: 16-bit weights and gradients, fp32 master copy and moments. "
        "Activations and the cache are left out.",
        worked=Worked(lines=lines),
        wrong=_narrow(trained, "trained, a parameter: 2 + 2 + 4 (moments)"),
        others=(_master_forgotten(trained),),
        told="3 to 4 times of serving was said; 2 bytes are served and 16 trained, 8 times",
    )


def _state(name: str, each: int, parameters: int) -> Line:
    return Line(
        key=name,
        says=f"{name}: {each} × {said(parameters)} parameters",
        of=lambda _: each * parameters,
    )


def one_moment(draw: Draw) -> Published:
    """280 GB of optimizer states for a 70B model."""
    parameters = billions(draw)
    lines = [
        _state(name, each, parameters)
        for name, each in (("weights", 4), ("gradients", 4), ("moments", 8))
    ]
    total = Line(
        key="total",
        says="model states: {weights} + {gradients} + {moments}",
        of=lambda values: values["weights"] + values["gradients"] + values["moments"],
    )
    return Published(
        source="threadreaderapp.com, November 2025",
        about=f"Full fine-tuning of a {said(parameters)} model with AdamW, all in 32 bits: "
        "weights, gradients and moments, on one GPU.",
        worked=Worked(lines=(*lines, total)),
        wrong=lines[2].wrong(
            "one moment forgotten",
            f"moments: 4 × {said(parameters)} parameters",
            lambda _: 4 * parameters,
            why="has one moment; AdamW keeps two, {off} more.",
            nudge="How many values does AdamW keep for each parameter?",
        ),
        told="280 GB of optimizer states was said for 70B; two fp32 moments are 560 GB",
    )


def weights_for_all(draw: Draw) -> Published:
    """140 GB on 640 GB of cards, so that fine-tuning fits with room."""
    parameters, cards, gb = billions(draw), draw.choice((4, 8, 16, 32)), draw.choice(CARDS)
    each = _each(f"a parameter: {MIXED}", 16)
    states = _total(parameters)
    lines = (
        Line(key="cards", says=f"cards: {cards} × {gb} GB", of=lambda _: cards * gb * GB),
        each,
        states,
        _ranks("rank", cards),
    )
    return Published(
        source="engineersofai.com, large-scale memory optimization",
        about=f"Full fine-tuning of a {said(parameters)} model with AdamW in mixed precision "
        f"(16-bit weights and gradients, fp32 master copy and moments) on {cards} cards of {gb} "
        "GB, everything sharded.",
        worked=Worked(lines=lines),
        wrong=states.wrong(
            "weights only",
            f"model states: 2 × {said(parameters)} parameters",
            lambda _: 2 * parameters,
            why="is the weights in 16 bits; a run holds gradients, master copy and moments too, "
            "{off} more.",
            nudge="What does a GPU hold of a parameter that is trained?",
        ),
        told="140 GB was set against 640 GB; the states of 70B are 1,120 GB, 140 GB a card",
    )


def half_of_a_shard(draw: Draw) -> Published:
    """21.9 GB on each of 64 GPUs for a 175B model."""
    parameters, ranks = billions(draw), draw.choice((16, 32, 64, 128, 256))
    each = _each(f"a parameter: {MIXED}", 16)
    return Published(
        source="harvard-edge/cs249r_book StaffML, cloud/02_distributed_systems.md",
        about=f"A {said(parameters)} model under ZeRO-3 on {ranks} GPUs with AdamW in mixed "
        "precision: 16-bit weights and gradients, fp32 master copy and moments, 16 bytes in all.",
        worked=Worked(lines=(each, _total(parameters), _ranks("rank", ranks))),
        wrong=_total(parameters).wrong(
            "everything in 16 bits",
            f"model states: 8 × {said(parameters)} parameters",
            lambda _: 8 * parameters,
            why="has 8 bytes a parameter, as if all were in 16 bits, {off} too few.",
            nudge="Which bytes a parameter go into each product?",
        ),
        told="21.9 GB was said for 175B on 64 GPUs; 16 × 175 / 64 is 43.75 GB",
    )


def gib_said_as_gb(draw: Draw) -> Published:
    """7e9 × 8 bytes = 52 GB."""
    parameters, more = billions(draw), draw.between(2, 30)
    total = _total(parameters)
    lines = (
        _each("a parameter: 2 + 2 + 4 (moments)", 8),
        total,
        Line(
            key="all",
            says=f"with activations: {{total}} + {more} GB",
            of=lambda values: values["total"] + more * GB,
        ),
    )
    return Published(
        source="lone17.github.io, Memory usage for LLM training",
        about=f"A {said(parameters)} model is trained with AdamW, all in bf16: weights, "
        f"gradients and moments. Activations take {more} GB. Everything is in GB of 10^9 bytes.",
        worked=Worked(lines=lines),
        wrong=total.wrong(
            "GiB typed as GB",
            total.says,
            times("each", Fraction(parameters * GB, GIB)),
            why="is the number of GiB; in GB it is 7.4% more, {off}.",
            nudge="In which unit is each number?",
        ),
        told="7e9 × 8 bytes was said to be 52 GB; it is 56 GB, or 52.2 GiB",
    )


def another_recipe(draw: Draw) -> Published:
    """20 bytes a parameter where the program has 12."""
    parameters = billions(draw)
    each = _each("a parameter: 4 (weights) + 8 (moments)", 12)
    return Published(
        source="AI-Hypercomputer/maxtext#606",
        about=f"A program keeps fp32 weights and Adam's two fp32 moments of a "
        f"{said(parameters)} model between its steps, and nothing else; 16 GPUs share all of it.",
        worked=Worked(lines=(each, _total(parameters), _ranks("rank", 16))),
        wrong=each.wrong(
            "another recipe's bytes",
            "a parameter: 2 + 2 + 4 (gradients) + 4 (weights) + 8 (moments)",
            lambda _: 20,
            why="is the count of another recipe; here there are no gradients between steps and no "
            "16-bit copies, {off} less.",
            nudge="Which tensors does this program keep, and which does it not?",
        ),
        others=(
            each.wrong(
                "moments forgotten",
                "a parameter: 4 (weights)",
                lambda _: 4,
                why="leaves the moments out, {off} more.",
                nudge=WIDTHS,
            ),
        ),
        told="20 bytes a parameter, 134 GB, was assumed for 6.7B; fp32 weights and Adam are "
        "80.4 GB",
    )


CASES: tuple[Make, ...] = (
    eight_bytes,
    served_to_trained,
    one_moment,
    weights_for_all,
    half_of_a_shard,
    gib_said_as_gb,
    another_recipe,
)
