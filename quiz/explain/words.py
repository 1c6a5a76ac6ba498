"""Words of scenario files and of estimates: settings, the sizes of a run."""

from collections.abc import Callable, Iterator
from functools import partial

from quiz.explain.explanation import Explanation
from quiz.options.scenario import ENTRIES, Entry

# What else a setting is called, by its key.
ALSO = {
    "recipe.ema": ("moving average", "exponential moving average"),
    "parallel.shard": ("HSDP", "hybrid sharding"),
    "serving.utilization": ("gpu_memory_utilization",),
    "serving.block": ("block", "block size", "page size"),
    "serving.cache": ("cache dtype",),
    "workload.micro_batch": ("batch size", "batch"),
}
SIZES = {
    "allocated": (
        "What the live tensors of a rank take together; an estimate has its peak over a step.",
        "torch.cuda.max_memory_allocated() returns it.",
    ),
    "reserved": (
        "What PyTorch's allocator has taken from the driver: allocated + allocator slack.",
        "torch.cuda.max_memory_reserved() returns it.",
    ),
    "nvidia-smi": (
        "What the driver has given to the process: reserved + CUDA context + NCCL.",
        "A run fits where the upper estimate of it is within the card.",
    ),
}


def told() -> Iterator[tuple[tuple[str, ...], Callable[[], Explanation]]]:
    """Yield the names of each word, and what explains it."""
    for name in SIZES:
        yield (name,), partial(_size, name)
    for entry in ENTRIES:
        key = f"{entry.table}.{entry.key}"
        names = (entry.spelled.removeprefix("--"), key, *ALSO.get(key, ()))
        yield names, partial(_setting, entry, key)


def _size(name: str) -> Explanation:
    return Explanation(sort="size", name=name, says=SIZES[name], sources=("docs/ledger.md",))


def _setting(entry: Entry, key: str) -> Explanation:
    where = f"In a scenario file: {entry.key} in [{entry.table}]; as an option: {entry.spelled}."
    sources = ("docs/scenario-file.md",)
    return Explanation(sort="setting", name=key, says=(entry.says, where), sources=sources)
