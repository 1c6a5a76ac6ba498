"""Topic E, levers: adapters beside a base in 4 bits that several GPUs share."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.adapters import FourBit, four_bit
from engine.scenario import Adapters, Model
from engine.units import GB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import BARE_IN_GB
from problems.problem import Level, Mistake, Step
from problems.slips import no_unit_slip, unit_slips
from problems.wording import bare_gb, billions, card, gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

GPUS = (2, 2, 3, 4, 6, 8)
ROOMS = (75, 80, 85, 90, 95)
TOKENS = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)
# GB that adapters, the live layer, logits and the like are said to take, in tenths.
ELSE = (5, 30)
HALF = 2  # bytes of a 16-bit element
# Bytes of an element in 4 bits: with a byte for 64 of them and an fp32 number for 256 such bytes.
QUARTER = Fraction(1, 2) + Fraction(1, 64) + Fraction(4, 64 * 256)
# How near the room a sum may come, and how far from it, in parts of the room.
NEAR, LOW, HIGH = Fraction(6, 100), Fraction(1, 4), Fraction(4)
ATTEMPTS = 200
# Percent of the draws that look for a run that fits: fewer of these have mistakes that tell.
WANTED: dict[Level, int] = {"mid": 68, "senior": 55}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A frozen base that GPUs share, and what each has whole beside its part.

    Args:
        model: the base.
        gpu: a card.
        gpus: how many share it.
        percent: of a card that may be used.
        tokens: of a micro-batch whose layers' inputs are kept, 0 where these are not counted.
        beside: bytes of all else.
    """

    model: Model
    gpu: Accelerator
    gpus: int
    percent: int
    tokens: int
    beside: int

    @property
    def held(self) -> FourBit:
        """What the layers' matrices take in 4 bits."""
        return four_bit(self.model.architecture.tensors, Adapters(rank=16, base="4-bit"))

    @property
    def rest(self) -> int:
        """Parameters that stay in 16 bits: embedding, head and norms."""
        return self.model.architecture.parameters - self.held.elements

    @property
    def base(self) -> int:
        """Bytes of the base."""
        held = self.held
        return held.elements // 2 + held.scales + 4 * held.factors + HALF * self.rest

    @property
    def share(self) -> int:
        """Bytes of the base on each GPU."""
        return self.base // self.gpus

    @property
    def gathered(self) -> int:
        """Bytes of one layer's matrices, whole and in 16 bits."""
        return HALF * self.held.elements // self.model.architecture.layers

    @property
    def checkpoints(self) -> int:
        """Bytes of all layers' inputs."""
        a = self.model.architecture
        return HALF * a.layers * self.tokens * a.hidden

    @property
    def size(self) -> int:
        """Bytes on each GPU."""
        return self.share + self.gathered + self.checkpoints + self.beside

    @property
    def room(self) -> int:
        """Bytes of a card that may be used."""
        return self.gpu.memory * self.percent // 100

    @property
    def fits(self) -> bool:
        """Whether the sum is within the room."""
        return self.size <= self.room


@kind_at_levels(
    name="sharded-base",
    topic="E",
    levels=("mid", "senior"),
    title="Does a 4-bit base that GPUs share leave room for its adapters?",
    sources=("kaitchup.substack.com/p/multi-gpus-fine-tuning-for-llama", "arXiv 2305.14314"),
)
def sharded_base(draw: Draw, level: Level) -> Draft | None:
    """Ask whether a shared base fits with a gathered layer, and with checkpoints."""
    wanted = draw.chance(WANTED[level])
    tried = (_case(draw, level) for _ in range(ATTEMPTS))
    case = next((x for x in tried if x.fits == wanted and _is_clear(x)), None)
    if case is None:
        return None
    return Draft(
        prompt=f"{_prompt(case)} {BARE_IN_GB}",
        answer=YesNoAnswer(value=case.fits, proof=QuantityAnswer(value=Fraction(case.size))),
        hints=_hints(case),
        solution=tuple(_steps(case)),
        mistakes=(*no_unit_slip(case.size, _mistakes(case)), *unit_slips(case.size)),
    )


def _case(draw: Draw, level: Level) -> Case:
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    gpus = draw.choice(GPUS)
    lengths = [n for n in TOKENS if n <= model.max_sequence]
    return Case(
        model=model,
        gpu=scenarios.gpu_for(draw, gpus),
        gpus=gpus,
        percent=draw.choice(ROOMS),
        tokens=draw.choice((1, 1, 2, 4)) * draw.choice(lengths) if level == "senior" else 0,
        beside=draw.between(*ELSE) * GB // 10,
    )


def _is_clear(case: Case) -> bool:
    """Return whether the sum is not next to the room, and the base counts for something."""
    share = Fraction(case.size, case.room)
    return abs(share - 1) > NEAR and LOW <= share <= HIGH and 5 * case.share > case.size


def _prompt(case: Case) -> str:
    a = case.model.architecture
    inputs = (
        f" Every layer is checkpointed: its 16-bit input of {number(case.tokens)} tokens is kept."
        if case.tokens
        else ""
    )
    return (
        f"{case.model.title} (P = {number(a.parameters)} parameters, L = {a.layers} layers, "
        f"h = {number(a.hidden)}) stays frozen: {number(case.held.elements)} parameters of the "
        "layers' matrices are in 4 bits (a one-byte scale for 64 of them, and an fp32 factor for "
        f"256 scales), the rest in bf16. FSDP shares all of it evenly over {case.gpus} × "
        f"{card(case.gpu)} with {number(case.gpu.memory_mib)} MiB, of which {case.percent}% may "
        "be used. One layer at a time is gathered, and its matrices are then whole in bf16."
        f"{inputs} Adapters with their states, the live layer and logits take "
        f"{gb(case.beside)} on each GPU.\nDoes it fit, and how much do base, gathered layer"
        f"{', checkpoints' if case.tokens else ''} and those {gb(case.beside)} take on each GPU?"
    )


def _hints(case: Case) -> tuple[str, str, str]:
    third = f"The gathered layer is {paper(case.gathered)}"
    if case.tokens:
        third += f", and the inputs of {case.model.architecture.layers} layers stay whole too"
    return (
        "Which of these do the GPUs share, and which has each for itself?",
        (
            f"The base is {float(QUARTER):.3f} bytes for each element in 4 bits and 2 for the "
            f"others; a GPU has one part in {case.gpus}."
        ),
        f"{third}. A card may take {gb(case.room)}.",
    )


def _steps(case: Case) -> Iterator[Step]:
    a, quarter, rest = case.model.architecture, rounded(case.held.elements), rounded(case.rest)
    on_paper = QUARTER * quarter + HALF * rest
    sum_said = f"{float(QUARTER):.3f} × {billions(quarter)} billion + 2 × {billions(rest)} billion"
    part = f"over {case.gpus}: {paper(on_paper / case.gpus)}"
    lines = [
        f"base: {sum_said} = {paper(on_paper)}, {part}",
        f"a gathered layer: 2 × {billions(quarter)} billion / {a.layers} = {paper(case.gathered)}",
    ]
    if case.tokens:
        lines.append(
            f"checkpoints: 2 × {a.layers} × {number(case.tokens)} × {number(a.hidden)} = "
            f"{paper(case.checkpoints)}"
        )
    parts = [case.share, case.gathered, *([case.checkpoints] if case.tokens else []), case.beside]
    lines.append(f"{' + '.join(bare_gb(part) for part in parts)} = {paper(case.size)}")
    for text in lines:
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"the base: {gb(case.base)}, a GPU's part of it {gb(case.share)}")
    than = "within" if case.fits else "more than"
    yield Step(
        text=f"{'yes' if case.fits else 'no'}: {than} the {gb(case.room)} that a card may take, "
        f"exactly {gb(case.size)}"
    )


def _mistakes(case: Case) -> Iterator[Mistake]:
    size, a = case.size, case.model.architecture
    why = f"has the base whole on each GPU; {case.gpus} share it, {{off}} less."
    yield wrong_size(size - case.share + case.base, size, "base not shared", why)
    why = "is the base's part alone; what each GPU has whole adds {off}."
    yield wrong_size(case.share, size, "the states alone", why)
    why = "leaves the gathered layer out, {off}."
    yield wrong_size(size - case.gathered, size, "gathered layers left out", why)
    sixteen = HALF * a.parameters // case.gpus
    why = "has the base in bf16; most of it is in 4 bits, {off} less."
    yield wrong_size(size - case.share + sixteen, size, "base in 16 bits", why)
    if case.tokens:
        shared = case.checkpoints - case.checkpoints // case.gpus
        why = "shares the checkpoints too; each GPU keeps those of its own tokens, {off} more."
        yield wrong_size(size - shared, size, "activations taken as sharded", why)
        why = "leaves out what the layers keep, {off}."
        yield wrong_size(size - case.checkpoints, size, "checkpoints forgotten", why)
