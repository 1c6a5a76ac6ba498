"""A step that fails: the card and the moment at which one of its tensors does not fit."""

from engine.accelerator import Accelerator
from engine.ledger import Category, Ledger, Phase
from engine.units import MIB
from problems.artefacts.message import OutOfMemory
from problems.artefacts.tensors import Tensor
from problems.draw import Draw

# A process of PyTorch beside its tensors: context, libraries, and communicators of several GPUs.
CONTEXT = (400, 700)
COMMUNICATORS = (544, 688)
# Of what is allocated, in thousandths: PyTorch's cache where nothing is fragmented.
CACHED = (5, 60)
LEAST_FREE = 12 * MIB
THOUSAND = 1000


def beside(tensor: Tensor, book: Ledger) -> tuple[int, int]:
    """Return the least and the most that is allocated when the tensor is asked for."""
    forward, logits = book.phases[Phase.FORWARD], book.total(Category.LOGITS, phase=Phase.FORWARD)
    bottom = forward - logits
    ends = sorted((book.phases[Phase.BACKWARD_FIRST], book.phases[Phase.BACKWARD_LAST]))
    states = book.first_step[Phase.STEP] - book.total(Category.OPTIMIZER_STATE)
    low, high = {
        "forward": (bottom - book.total(Category.ACTIVATIONS, phase=Phase.FORWARD), bottom),
        "logits": (bottom, bottom),
        "copy": (bottom + tensor.size // 2, bottom + tensor.size // 2),
        "backward": (ends[0], ends[1]),
        "head": (ends[1], max(ends[1], book.phases[Phase.LOSS])),
        "states": (min(states, ends[0]), max(states, ends[0])),
    }[tensor.moment]
    return low, high


def outside(draw: Draw, gpus: int) -> int:
    """Return what a process has beside PyTorch's own memory, in bytes."""
    more = draw.between(*COMMUNICATORS) if gpus > 1 else 0
    return (draw.between(*CONTEXT) + more) * MIB


def failed(
    draw: Draw, tensor: Tensor, book: Ledger, card: Accelerator, gpus: int
) -> OutOfMemory | None:
    """Return the message on a card, None where the tensor fits there or more than it does not."""
    around = outside(draw, gpus)
    low, high = beside(tensor, book)
    room = card.memory - around
    low = max(low, (room - tensor.size) * (THOUSAND - CACHED[1]) // THOUSAND)
    high = min(high, (room - LEAST_FREE) * THOUSAND // (THOUSAND + CACHED[0]))
    if low > high:
        return None
    allocated = low + draw.below(high - low + 1)
    rest = room - allocated
    cached = (allocated * draw.between(*CACHED)) // THOUSAND
    cached = min(max(cached, rest - tensor.size * 9 // 10), rest - LEAST_FREE)
    message = OutOfMemory(
        tensor=tensor.size,
        total=card.memory,
        allocated=allocated,
        reserved=(allocated + cached) // MIB * MIB,
        outside=around,
    )
    most = allocated * (CACHED[1] + CACHED[0]) // THOUSAND
    return message if 0 <= message.cached <= most and message.free < tensor.size else None
