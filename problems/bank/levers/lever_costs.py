"""Topic E, levers: what one of them costs, in FLOPs, bytes or seconds."""

from problems.costs import host, links, products
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind

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


@kind(
    name="lever-cost",
    topic="E",
    level="mid",
    title="What a lever costs",
    sources=(
        "docs/levers.md",
        "arXiv 1910.02054 section 7",
    ),
    allows={
        "distinct": "a share of the FLOPs depends on a model and a length alone",
    },
)
def lever_cost(draw: Draw) -> Draft | None:
    """Ask for the FLOPs that recomputation adds, a bubble, the bytes of a split or a transfer."""
    return draw.choice(VARIANTS)(draw)
