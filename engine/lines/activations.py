"""Saved activations: what the forward pass keeps for the backward pass."""

from collections.abc import Iterator, Mapping, Sequence

from sympy.polys.rings import PolyElement

from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.lines import losses
from engine.lines.origin import evidence_of, source_of
from engine.stacks.tapes import embedding, head, layer, shared
from engine.structure import Structure
from engine.symbols import RING, L, P_layer_matmul, V, b, expression, h, m, s
from engine.tape import ZERO, Tape, Value, total

SAVED_PHASES = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD_FIRST)
PAPERS = {
    "residual stream": "arXiv 2205.05198 (Korthikanti et al.) section 4.1",
    "attention probabilities": "arXiv 2205.05198 (Korthikanti et al.) section 4.1",
    "dropout masks": "arXiv 2205.05198 (Korthikanti et al.) section 4.1",
    "log-sum-exp": "arXiv 2205.14135 (FlashAttention) section 3.1",
}
CASTS = "weight casts"
BIASES = "bias casts"
_layers, _in_flight = RING(L), RING(m)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield a line for each kind of tensor that all layers keep, then those of the ends."""
    if structure.saves_on_host:
        yield _fetched(structure)
    kept = {} if structure.saves_on_host else _by_name(structure)
    for name, (values, size) in kept.items():
        yield Line(
            name=name,
            category=Category.ACTIVATIONS,
            size=expression(_in_flight * size if structure.pipelined else size),
            phases=SAVED_PHASES,
            why=f"{_why(structure, values[0])}, in each of the {_where(structure, name)}",
            source=PAPERS.get(name, source_of(structure.block)),
            evidence=evidence_of(structure.block),
        )
    yield Line(
        name="first layer's saved activations",
        category=Category.ACTIVATIONS,
        size=expression(layer(structure.first_layer).saved_bytes),
        phases=(Phase.BACKWARD_LAST,),
        why="when the backward pass reaches the first layer only its own are left",
        source=source_of(structure.block),
        evidence=evidence_of(structure.block),
    )
    if structure.pipelined:
        yield _other_micro_batches(structure)
    yield from _ends(structure)
    yield from _tables(structure)


def _fetched(structure: Structure) -> Line:
    return Line(
        name="a layer's input, fetched",
        category=Category.ACTIVATIONS,
        size=expression(layer(structure.last_layer).saved_bytes),
        phases=(Phase.BACKWARD_FIRST,),
        why="the inputs of all layers wait in pinned memory of the host; one at a time comes back",
        source="PyTorch documentation, torch.autograd.graph.save_on_cpu",
        evidence=Evidence.TRACED,
    )


def _other_micro_batches(structure: Structure) -> Line:
    others = _in_flight - 1
    kept = sum(count * layer(block).saved_bytes for block, count in structure.kinds)
    return Line(
        name="saved for the other micro-batches",
        category=Category.ACTIVATIONS,
        size=expression(others * kept),
        phases=(Phase.BACKWARD_LAST,),
        why="while one micro-batch runs backward, m - 1 others wait for their turn",
        source="arXiv 2104.04473 (Narayanan et al.) section 2.2, 1F1B",
    )


def _where(structure: Structure, name: str) -> str:
    """Return the layers that have a tensor of that name."""
    having = [
        block.experts
        for block, _ in structure.kinds
        if any(value.name == name for value in layer(block).saved)
    ]
    if len(having) < len(structure.kinds):
        return "L - D layers with experts" if having[0] else "D layers without experts"
    return "layers, for each of m micro-batches" if structure.pipelined else "L layers"


def _why(structure: Structure, value: Value) -> str:
    if structure.block.recompute == "full":
        return "a checkpoint keeps its input alone and runs the layer again"
    return value.why


def _by_name(structure: Structure) -> Mapping[str, tuple[Sequence[Value], PolyElement]]:
    """Return what the layers keep, by name: of one layer, and its bytes in all of them."""
    groups: dict[str, tuple[list[Value], PolyElement]] = {}
    for block, count in structure.kinds:
        for value in layer(block).saved:
            if value.name != CASTS and value.size:
                values, size = groups.get(value.name, ([], ZERO))
                groups[value.name] = [*values, value], size + count * value.size
    return groups


def _ends(structure: Structure) -> Iterator[Line]:
    block = structure.block
    yield Line(
        name="token and target ids",
        category=Category.TEMPORARY,
        size=16 * expression(RING(b) * RING(s)),
        why="8 bytes each; the training loop holds its batch until the next one comes",
        source=source_of(structure.block),
        evidence=evidence_of(structure.block),
    )
    if structure.first and embedding(block).saved:
        yield Line(
            name="kept by the embedding",
            category=Category.ACTIVATIONS,
            size=expression(embedding(block).saved_bytes),
            phases=(*SAVED_PHASES, Phase.BACKWARD_LAST),
            why="a byte an element, where dropout follows the embedding",
            source=source_of(structure.block),
            evidence=evidence_of(structure.block),
        )
    if structure.last:
        yield from _top(structure)


def _top(structure: Structure) -> Iterator[Line]:
    block = structure.block
    top = [v for v in head(block).saved if v.name not in {"log-softmax", losses.TANH, CASTS}]
    yield Line(
        name="kept by final norm and head",
        category=Category.ACTIVATIONS,
        size=expression(total(top)),
        phases=(Phase.FORWARD, Phase.LOSS),
        why="input of the final norm" if block.frozen else "input and output of the final norm",
        source=source_of(structure.block),
        evidence=evidence_of(structure.block),
    )
    for value in head(block).cached:
        if value.name not in {CASTS, BIASES}:
            yield Line(
                name=value.name,
                category=Category.TEMPORARY,
                size=expression(value.size),
                phases=(Phase.FORWARD,),
                why="8 bytes each: labels get a column more, then lose their first one",
                source="huggingface/transformers src/transformers/loss/loss_utils.py, "
                "ForCausalLMLoss",
                evidence=Evidence.TRACED,
            )


def _tables(structure: Structure) -> Iterator[Line]:
    size, lasts = shared(structure.block)
    if size:
        yield Line(
            name="tables shared by the layers",
            category=Category.TEMPORARY,
            size=expression(size),
            phases=ALL_PHASES if lasts else (*SAVED_PHASES, Phase.BACKWARD_LAST),
            why="each layer has its own rotary angles, with their cosines and sines"
            if structure.block.latent and structure.block.stack == "megatron"
            else "rotary angles, and the mask where attention is eager: once for all layers",
            source=source_of(structure.block),
            evidence=evidence_of(structure.block),
        )


def weight_casts(structure: Structure) -> Iterator[Line]:
    """Yield the 16-bit copies that autocast makes of the matrices."""
    if not structure.precision.casts:
        return
    again = structure.block.recompute == "full"
    of_layers, of_head = (_biases(tape(structure.block)) for tape in (layer, head))
    casts = (
        (
            "weight casts of the layers",
            2 * L * P_layer_matmul - expression(_layers * of_layers),
            (Phase.FORWARD,) if again else SAVED_PHASES,
            "autocast keeps a 16-bit copy of each matrix while a graph needs it",
        ),
        (
            "weight cast of the head",
            expression(2 * RING(V) * RING(h)),
            (Phase.FORWARD, Phase.LOSS),
            "the head is a matrix too",
        ),
        (
            "bias casts",
            expression(_layers * of_layers + of_head),
            (Phase.FORWARD,),
            "biases are cast too and cached while the forward pass runs, but no graph needs them",
        ),
    )
    for name, size, phases, why in casts:
        if size != 0:
            yield Line(
                name=name,
                category=Category.TEMPORARY,
                size=size,
                phases=phases,
                why=why,
                source="PyTorch documentation, torch.amp: weights are cast once and cached",
                evidence=Evidence.TRACED,
            )


def _biases(tape: Tape) -> PolyElement:
    return total(value for value in tape.cached if value.name == BIASES)
