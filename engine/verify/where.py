"""Which module an operator belongs to, in the forward pass and in the backward pass."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.modules import module as hooks


class Where:
    """Follows the modules of a model as they run.

    In the forward pass a module is on the stack while it runs. Autograd numbers its nodes as the
    forward pass makes them, so in the backward pass a node's number tells where it was made.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._stack: list[str] = []
        self._made: dict[int, str] = {}

    def name(self, model: nn.Module) -> None:
        """Take the names of all modules and parameters of `model`."""
        for name, module in model.named_modules(remove_duplicate=False):
            self._names[id(module)] = name
        for name, parameter in model.named_parameters():
            self._names[id(parameter)] = name

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow modules until the block is left."""
        handles = (
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, module: nn.Module, _inputs: object) -> None:
        self._stack.append(self._names.get(id(module), self._stack[-1] if self._stack else ""))

    def _leave(self, _module: nn.Module, _inputs: object, _output: object) -> None:
        self._stack.pop()

    def now(self) -> tuple[str, bool]:
        """Return the path of the module that runs and whether this is its backward."""
        node: torch.autograd.graph.Node | None = torch._C._current_autograd_node()  # noqa: SLF001 - no public name
        if node is None or self._stack:
            path = self._stack[-1] if self._stack else ""
            self._made[torch._C._autograd._get_sequence_nr() - 1] = path  # noqa: SLF001 - no public name
            return path, node is not None
        variable = getattr(node, "variable", None)  # where a gradient comes to its parameter
        if variable is not None:
            return self._names.get(id(variable), ""), True
        return self._made.get(node._sequence_nr(), ""), True  # noqa: SLF001 - no public name
