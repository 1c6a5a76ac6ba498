"""Topic E, levers: sharding inside a node, replicating across nodes."""

from collections.abc import Iterator
from fractions import Fraction

from engine.accelerator import Accelerator
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import Part, changes, each_of, parts_of, size_of, sum_said
from problems.one_size import BARE_IN_GB
from problems.problem import Mistake, Step
from problems.wording import billions, card, gb, paper, recipe_said, rounded, short
from problems.wrong_sizes import wrong_size

GROUP = 8
NODES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# The share of a card that states may take, in percent, and how far from it they must be.
ROOM, CLEAR = (60, 65, 70, 75, 80, 85, 90), Fraction(1, 20)


@kind(
    name="hybrid-sharding",
    topic="E",
    level="senior",
    title="Sharding inside a node only",
    sources=("NVIDIA/cosmos-framework#161", "arXiv 2304.11277 section 3.2.2"),
)
def hybrid_sharding(draw: Draw) -> Draft | None:
    """Ask whether states fit that are sharded in each node and replicated across nodes."""
    fits = draw.chance(50)
    title, parameters = scenarios.any_parameters(draw)
    nodes, recipe = draw.choice(NODES), scenarios.states_recipe(draw, zero=3)
    gpu = scenarios.gpu_for(draw, GROUP * 2, precision=recipe[0])
    room, parts = draw.choice(ROOM), parts_of(*recipe, fsdp=True)
    size, most = size_of(parts, parameters, 3, GROUP), gpu.memory * room // 100
    # Full sharding over all nodes is what makes the question one: it would fit.
    if fits != (size <= most) or abs(size - most) < CLEAR * most:
        return None
    if not fits and size_of(parts, parameters, 3, GROUP * nodes) > most:
        return None
    if 3 * size < most:
        return None
    return Draft(
        prompt=_prompt(title, parameters, recipe, gpu, (nodes, room)),
        answer=YesNoAnswer(value=fits, proof=QuantityAnswer(value=Fraction(size))),
        hints=(
            "Over how many GPUs is one copy of the states spread?",
            f"The group that shares is one node: {GROUP} GPUs, however many nodes there are.",
            (
                f"A GPU holds ({sum_said(parts)}) / {GROUP} bytes for each of "
                f"{billions(rounded(parameters))} billion parameters."
            ),
        ),
        solution=tuple(_steps(parameters, parts, size, most)),
        mistakes=tuple(_mistakes(parameters, recipe, size, nodes)),
    )


def _prompt(
    title: str,
    parameters: int,
    recipe: tuple[str, str],
    gpu: Accelerator,
    given: tuple[int, int],
) -> str:
    nodes, room = given
    return (
        f"Hybrid sharding (HSDP) of {title} (P = {parameters:,} parameters): FSDP2 shards inside "
        f"each node of {GROUP} GPUs and replicates across {nodes} nodes. "
        f"{recipe_said(*recipe, fsdp=True)}. Each {card(gpu)} has {gpu.memory_mib:,} MiB, of "
        f"which {room}% may hold model states.\nDo the model states fit? Answer yes or no with "
        f"the number that proves it: the model states on one GPU. {BARE_IN_GB}"
    )


def _steps(parameters: int, parts: tuple[Part, ...], size: int, most: int) -> Iterator[Step]:
    each, count = each_of(parts), rounded(parameters)
    word = "within" if size <= most else "more than"
    yield Step(
        text=f"{billions(count)} billion × {short(each)} / {GROUP} = "
        f"{paper(Fraction(count * each, GROUP), digits=4)}",
        depth="whiteboard",
    )
    yield Step(text=f"that is {word} the {paper(most)} that states may take")
    yield Step(text="more nodes are more copies: no GPU holds less for them")
    yield Step(text=f"room for states: {gb(most)}")
    yield Step(text=f"exactly {gb(size)}")


def _mistakes(
    parameters: int, recipe: tuple[str, str], size: int, nodes: int
) -> Iterator[Mistake]:
    parts = parts_of(*recipe, fsdp=True)
    why = f"is shared by all {GROUP * nodes} GPUs; the group is one node, {{off}} more."
    whole = size_of(parts, parameters, 3, GROUP * nodes)
    yield wrong_size(whole, size, "all GPUs taken as one group", why)
    why = f"is shared by the {nodes} nodes; a copy is spread over {GROUP} GPUs: {{off}} off."
    yield wrong_size(size_of(parts, parameters, 3, nodes), size, "nodes taken for the group", why)
    why = "is not shared at all; the GPUs of a node share, {off} less."
    yield wrong_size(size_of(parts, parameters), size, "not shared", why)
    for change in changes(parts, recipe[0]):
        wrong = size_of(change.parts, parameters, 3, GROUP)
        yield Mistake(
            name=change.name,
            value=Fraction(wrong),
            feedback=f"{gb(wrong)} {change.why.format(missing=gb(abs(wrong - size)))}",
            moves=change.moves(parts),
        )
