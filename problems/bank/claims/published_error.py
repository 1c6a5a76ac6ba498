"""Topic G, claims: published answers that went wrong, posed step by step in other numbers."""

from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.published import activations, adapters, caches, states
from problems.repairs import is_told, posed

CASES = (*states.CASES, *adapters.CASES, *activations.CASES, *caches.CASES)


@kind(
    name="published-error",
    topic="G",
    level="mid",
    title="The first wrong step of a published answer",
    sources=(
        "jax-ml/scaling-book",
        "harvard-edge/cs249r_book StaffML",
        "huggingface/trl#6858, huggingface/transformers#12878, vllm-project/vllm#22291",
    ),
)
def published_error(draw: Draw) -> Draft | None:
    """Ask for the step at which a published answer went wrong, in other numbers."""
    case = draw.choice(CASES)(draw)
    if case is None or not is_told(case.worked, case.wrong):
        return None
    about = f"A published answer went wrong; here are its steps in other numbers. {case.about}"
    others = tuple(other for other in case.others if is_told(case.worked, other))
    told = f"{case.source}: {case.told}"
    return posed(about, case.worked, case.wrong, others, told=told)
