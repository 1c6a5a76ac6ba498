"""Excerpts of programs that keep something in memory for longer than they need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kept = Literal[
    "all logits",
    "all graphs",
    "one graph",
    "last logits",
    "last graph",
    "gradients",
    "checkpoint",
    "whole weights",
    "full save",
]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An excerpt with one fault.

    Args:
        name: what is kept, as a choice has it.
        short: another name that may be typed.
        lines: the excerpt.
        why: which line keeps it, and what would not.
        nudge: what to ask of the excerpt, as a hint.
        also: what it keeps for as long besides, which is therefore no wrong pick.
    """

    name: str
    short: str
    lines: tuple[str, ...]
    why: str
    nudge: str
    also: tuple[Kept, ...] = ()


TRAINING = (
    "model.train()",
    "for batch in loader:",
)
STEPPED = (
    "    optimizer.step()",
    "    optimizer.zero_grad()",
)
SHARDED = (
    "for layer in model.layers:",
    "    fully_shard(layer)",
    "fully_shard(model)",
)
BUILT = "optimizer = AdamW(model.parameters())"
GRAPHS = (
    "A loss without no_grad() holds its graph, and that holds what the layers saved. "
    "backward() frees it, item() does not hold it."
)
FAULTS: Mapping[Kept, Fault] = {
    "all logits": Fault(
        name="logits of every batch",
        short="all logits",
        lines=(
            "model.eval()",
            "kept, total = [], 0.0",
            "with torch.no_grad():",
            "    for batch in loader:",
            "        out = model(**batch)",
            "        kept.append(out.logits)",
            "        total += out.loss.item()",
        ),
        why="kept holds on to them; keep the argmax, or send them to the host",
        nudge="no_grad() makes no graph, and item() holds no tensor. What holds tensors from one "
        "batch to the next?",
        also=("last logits",),
    ),
    "all graphs": Fault(
        name="saved activations of every batch",
        short="all graphs",
        lines=(
            "model.eval()",
            "total = 0.0",
            "for batch in loader:",
            "    out = model(**batch)",
            "    total += out.loss",
            "print(total / len(loader))",
        ),
        why="total is a sum of losses with their graphs; no_grad() makes none, item() lets go",
        nudge=GRAPHS,
        also=("one graph", "last logits", "last graph"),
    ),
    "one graph": Fault(
        name="saved activations of one evaluated batch",
        short="one graph",
        lines=(
            "model.eval()",
            "total = 0.0",
            "for batch in loader:",
            "    loss = model(**batch).loss",
            "    total += loss.item()",
            "    del loss",
            "print(total / len(loader))",
        ),
        why="eval() changes dropout and norms alone; no_grad() stops the graph",
        nudge=GRAPHS,
    ),
    "last logits": Fault(
        name="logits of the batch before",
        short="last logits",
        lines=(
            *TRAINING,
            "    out = model(**batch)",
            "    out.loss.backward()",
            *STEPPED,
            "    log(out.loss.item())",
        ),
        why="out keeps them until the next forward pass is over; del out, or take the loss alone",
        nudge="A name keeps its tensor until it is given another, and that is after the next "
        "forward pass has run.",
    ),
    "last graph": Fault(
        name="saved activations of the batch before",
        short="last graph",
        lines=(
            *TRAINING,
            "    loss = model(**batch).loss",
            "    loss.backward(retain_graph=True)",
            *STEPPED,
            "    log(loss.item())",
        ),
        why="retain_graph keeps them until loss is another; backward() alone frees them",
        nudge="A loss holds its graph until the name is given another. What of a graph does "
        "backward() free, and does it here?",
        also=("one graph",),
    ),
    "gradients": Fault(
        name="gradients through the next forward pass",
        short="gradients",
        lines=(
            *TRAINING,
            "    loss = model(**batch).loss",
            "    loss.backward()",
            "    log(loss.item())",
            "    optimizer.step()",
            "    optimizer.zero_grad(set_to_none=False)",
        ),
        why="set_to_none=False fills them with zeros; the default frees them",
        nudge="backward() makes a tensor beside each weight. Which line is to free those, and "
        "does it?",
    ),
    "checkpoint": Fault(
        name="weights of the loaded checkpoint",
        short="checkpoint",
        lines=(
            'state = torch.load("last.pt", map_location="cuda")',
            'model.load_state_dict(state["model"])',
            'optimizer.load_state_dict(state["optimizer"])',
            *TRAINING,
            "    loss = model(**batch).loss",
            "    loss.backward()",
            *STEPPED,
            "    log(loss.item())",
        ),
        why="state keeps them; load to the host. The optimizer takes the moments as they are",
        nudge="What is made before the loop lives through it. Which of that is held under a name, "
        "though its content has been copied?",
    ),
    "whole weights": Fault(
        name="whole weights from before the sharding",
        short="whole weights",
        lines=(
            BUILT,
            *SHARDED,
            *TRAINING,
            "    loss = model(**batch).loss",
            "    loss.backward()",
            *STEPPED,
            "    log(loss.item())",
        ),
        why="the optimizer refers to those, and steps no shard; build it behind fully_shard",
        nudge="fully_shard puts new tensors in the place of the model's. Which line took hold of "
        "some, and of which?",
        also=("gradients",),  # those of the shards are never set to None
    ),
    "full save": Fault(
        name="weights and moments gathered for a save",
        short="full save",
        lines=(
            *SHARDED,
            BUILT,
            "full = StateDictOptions(full_state_dict=True)",
            "model.train()",
            "for step, batch in enumerate(loader):",
            "    loss = model(**batch).loss",
            "    loss.backward()",
            *STEPPED,
            "    if step % 500 == 0:",
            "        state = get_state_dict(model, optimizer, options=full)",
            "        if rank == 0:",
            '            torch.save(state, "last.pt")',
        ),
        why="each GPU gathers them and state holds them; cpu_offload=True goes to one host",
        nudge="Each rank runs every line that is not behind a condition on its rank. Which of "
        "them makes whole tensors of shards, and how long does a name hold those?",
    ),
}
# Of one GPU, and of ranks that share a model.
ALONE: tuple[Kept, ...] = (
    "all logits",
    "all graphs",
    "one graph",
    "last logits",
    "last graph",
    "gradients",
    "checkpoint",
)
SHARING: tuple[Kept, ...] = (
    "last logits",
    "last graph",
    "gradients",
    "whole weights",
    "full save",
)


def excerpt(kept: Kept, *, sharded: bool) -> str:
    """Return the excerpt with this fault, behind the lines that shard the model where it is."""
    lines = FAULTS[kept].lines
    if sharded and "fully_shard(model)" not in lines:
        lines = (*SHARDED, BUILT, *lines)
    return "\n".join(lines)
