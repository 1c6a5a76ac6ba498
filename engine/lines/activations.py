"""Saved activations: what the forward pass keeps for the backward pass."""

from collections.abc import Iterable, Iterator

from sympy.polys.rings import PolyElement

from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.stacks.tapes import embedding, head, layer, shared
from engine.structure import Structure
from engine.symbols import RING, L, P_layer_matmul, V, b, expression, h, m, s
from engine.tape import Tape, Value, total

SAVED_PHASES = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD_FIRST)
TRACE = "the reference modules (engine/verify/reference.py), traced operator by operator"
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
    block = structure.block
    kept = [value for value in layer(block).saved if value.name != CASTS]
    layers = _layers * _in_flight if structure.pipelined else _layers
    where = "layers, for each of m micro-batches" if structure.pipelined else "L layers"
    for name, values in _by_name(kept):
        yield Line(
            name=name,
            category=Category.ACTIVATIONS,
            size=expression(layers * total(values)),
            phases=SAVED_PHASES,
            why=f"{_why(structure, values[0])}, in each of the {where}",
            source=PAPERS.get(name, TRACE),
            evidence=Evidence.TRACED,
        )
    yield Line(
        name="first layer's saved activations",
        category=Category.ACTIVATIONS,
        size=expression(layer(block).saved_bytes),
        phases=(Phase.BACKWARD_LAST,),
        why="when the backward pass reaches the first layer only its own are left",
        source=TRACE,
        evidence=Evidence.TRACED,
    )
    if structure.pipelined:
        yield _other_micro_batches(structure)
    yield from _ends(structure)
    yield from _tables(structure)


def _other_micro_batches(structure: Structure) -> Line:
    others = _in_flight - 1
    kept = _layers * layer(structure.block).saved_bytes
    return Line(
        name="saved for the other micro-batches",
        category=Category.ACTIVATIONS,
        size=expression(others * kept),
        phases=(Phase.BACKWARD_LAST,),
        why="while one micro-batch runs backward, m - 1 others wait for their turn",
        source="arXiv 2104.04473 (Narayanan et al.) section 2.2, 1F1B",
    )


def _why(structure: Structure, value: Value) -> str:
    if structure.block.recompute == "full":
        return "a checkpoint keeps its input alone and runs the layer again"
    return value.why


def _by_name(values: Iterable[Value]) -> list[tuple[str, list[Value]]]:
    groups: dict[str, list[Value]] = {}
    for value in values:
        groups.setdefault(value.name, []).append(value)
    return list(groups.items())


def _ends(structure: Structure) -> Iterator[Line]:
    block = structure.block
    yield Line(
        name="token and target ids",
        category=Category.TEMPORARY,
        size=16 * expression(RING(b) * RING(s)),
        why="8 bytes each; the training loop holds its batch until the next one comes",
        source=TRACE,
        evidence=Evidence.TRACED,
    )
    if structure.first and embedding(block).saved:
        yield Line(
            name="kept by the embedding",
            category=Category.ACTIVATIONS,
            size=expression(embedding(block).saved_bytes),
            phases=(*SAVED_PHASES, Phase.BACKWARD_LAST),
            why="a byte an element, where dropout follows the embedding",
            source=TRACE,
            evidence=Evidence.TRACED,
        )
    if structure.last:
        yield from _top(structure)


def _top(structure: Structure) -> Iterator[Line]:
    block = structure.block
    top = [v for v in head(block).saved if v.name not in {"log-softmax", CASTS}]
    yield Line(
        name="kept by final norm and head",
        category=Category.ACTIVATIONS,
        size=expression(total(top)),
        phases=(Phase.FORWARD, Phase.LOSS),
        why="input and output of the final norm",
        source=TRACE,
        evidence=Evidence.TRACED,
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
            why="rotary angles, and the mask where attention is eager: once for all layers",
            source=TRACE,
            evidence=Evidence.TRACED,
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
