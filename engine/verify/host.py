"""Memory of the host: tensors that are not on the device, and so are not counted.

Where the device is a CPU too, traced or executed, they are told apart by when they are made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks

HOST = "cpu"
_on_host = ContextVar("_on_host", default=False)


@contextmanager
def on_host() -> Iterator[None]:
    """Make tensors and step them on the host until the block is left."""
    before = _on_host.set(True)
    try:
        with torch.device(HOST):
            yield
    finally:
        _on_host.reset(before)


def is_on_host() -> bool:
    """Say whether what is made now is made on the host."""
    return _on_host.get()


def waiting_on_host() -> saved_tensors_hooks:
    """Have what autograd keeps wait on the host: by PyTorch's hooks on a GPU, else by the like.

    A checkpoint keeps the tensors that its layer is called with.
    """
    if torch.get_default_device().type == "cuda":
        return save_on_cpu(pin_memory=True)
    return saved_tensors_hooks(_sent, _fetched)


def _sent(kept: Tensor) -> Tensor:
    with on_host():
        return kept.detach().clone()


def _fetched(waiting: Tensor) -> Tensor:
    return waiting.clone()
