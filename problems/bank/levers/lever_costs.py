"""Topic E, levers: what one of them costs, in FLOPs, bytes or seconds."""

from problems.costs import host, links, products
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level

# What is asked, each as often as the others; the wire of data parallelism has four stages.
VARIANTS = (
    products.full_recompute,
    products.selective_recompute,
    products.bubble,
    links.data_parallel,
    links.data_parallel,
    links.tensor_parallel,
    host.offload,
)
# What one GPU of several sends, or keeps for the host: a term for each pass and place.
OF_A_RANK = (products.selective_recompute, links.tensor_parallel, host.offload)


@kind_at_levels(
    name="lever-cost",
    topic="E",
    levels=("mid", "senior"),
    title="What a lever costs",
    sources=(
        "docs/levers.md",
        "arXiv 1910.02054 section 7",
    ),
    allows={
        "distinct": "a share of the FLOPs depends on a model and a length alone",
    },
)
def lever_cost(draw: Draw, level: Level) -> Draft | None:
    """Ask for the FLOPs that recomputation adds, a bubble, the bytes of a split or a transfer."""
    variant = draw.choice(VARIANTS)
    return variant(draw) if (variant in OF_A_RANK) == (level == "senior") else None
