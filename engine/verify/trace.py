"""Count the bytes of all live tensors while a training step runs under fake tensors."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.ledger import Phase
from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.scenario import Recipe, Scenario
from engine.verify.reference import DTYPES, Transformer, build

BLOCK = 512


@dataclass(frozen=True, kw_only=True)
class Peak:
    """The most bytes alive within a phase, and what was alive at that moment."""

    size: int = 0
    operator: str = ""
    alive: tuple[tuple[int, str], ...] = ()


class LiveBytes(TorchDispatchMode):
    """A dispatch mode that adds each new storage, rounded up to 512 bytes, until it dies.

    `peaks` holds the maximum for each phase; `enter` says which phase runs. With `details` each
    peak keeps what was alive.
    """

    def __init__(self, *, details: bool = False) -> None:
        super().__init__()
        self.details = details
        self.phase: Phase | None = None
        self.current = 0
        self.peaks: dict[Phase, Peak] = {}
        self.blocks: dict[int, tuple[int, str]] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 - torch calls it with its own types
        """Run the operator, then count what it made."""
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, Tensor):
                self._add(leaf, str(func))
        if func is torch.ops.aten.add.Tensor and not torch.is_grad_enabled():
            self._in_place(args[0])
        self.note(str(func))
        return out

    def _in_place(self, older: Tensor) -> None:
        """Let the sum of two gradients take the place of the older one.

        The autograd engine adds in place, but not under a dispatch mode (accumulateGrad's
        `can_accumulate_inplace`), where it makes a third tensor that no real run has.
        """
        key = id(older.untyped_storage())
        size, name = self.blocks[key]
        self.blocks[key] = (0, name)
        self.current -= size

    def _add(self, tensor: Tensor, operator: str) -> None:
        storage = tensor.untyped_storage()
        key = id(storage)
        if key in self.blocks:
            return
        size = -(-storage.nbytes() // BLOCK) * BLOCK
        self.blocks[key] = (size, f"{operator} {tuple(tensor.shape)} {tensor.dtype}")
        self.current += size
        weakref.finalize(storage, self._remove, key)

    def _remove(self, key: int) -> None:
        self.current -= self.blocks.pop(key)[0]

    def note(self, operator: str) -> None:
        """Keep this moment if it is the peak of its phase."""
        if self.phase is None:
            return
        peak = self.peaks.setdefault(self.phase, Peak())
        if self.current > peak.size:
            alive = tuple(self.blocks.values()) if self.details else ()
            self.peaks[self.phase] = Peak(size=self.current, operator=operator, alive=alive)

    def enter(self, phase: Phase | None) -> None:
        """Say that `phase` begins now."""
        self.phase = phase
        self.note("begin")


class Stepper:
    """The optimizer of the recipe, with its master copy where the precision has one."""

    def __init__(self, model: Transformer, recipe: Recipe) -> None:
        self.precision = PRECISIONS[recipe.precision]
        self.at_once = OPTIMIZERS[recipe.optimizer].at_once
        self.weights = list(model.parameters())
        self.stepped: list[torch.nn.Parameter] = self.weights
        if self.precision.master:
            self.stepped = [torch.nn.Parameter(w.detach().float()) for w in self.weights]
        self.main_gradients: list[Tensor] = []
        if self.precision.gradients > self.precision.weights:
            self.main_gradients = [torch.zeros_like(m) for m in self.stepped]
            for weight, main in zip(self.weights, self.main_gradients, strict=True):
                weight.register_post_accumulate_grad_hook(_accumulate_into(main))
        self.optimizer = _optimizer(recipe.optimizer, self.stepped)

    def step(self) -> None:
        """Step once and drop the gradients."""
        if not self.precision.master:
            self.optimizer.step()
        elif self.at_once:
            self._step_masters(slice(None))
        else:
            for index in range(len(self.stepped)):
                self._step_masters(slice(index, index + 1))
        for weight in self.weights:
            weight.grad = None
        for main in self.main_gradients:
            main.zero_()

    def _step_masters(self, part: slice) -> None:
        masters, weights = self.stepped[part], self.weights[part]
        sources = self.main_gradients[part] if self.main_gradients else [w.grad for w in weights]
        for master, gradient in zip(masters, sources, strict=True):
            master.grad = gradient.float()  # type: ignore[union-attr] # every weight has one here
        del sources
        self.optimizer.step()
        for master, weight in zip(masters, weights, strict=True):
            master.grad = None
            weight.data.copy_(master)


def _accumulate_into(main: Tensor):  # type: ignore[no-untyped-def] # noqa: ANN202 - torch has no name for the type of a hook
    def hook(weight: Tensor) -> None:
        main.add_(weight.grad)  # type: ignore[arg-type] # torch calls it when there is one
        weight.grad = None

    return hook


def _optimizer(name: str, stepped: Sequence[Tensor]) -> torch.optim.Optimizer:
    if name.startswith("adamw"):
        fused = name == "adamw-fused"
        return torch.optim.AdamW(stepped, foreach=not fused, fused=fused)
    momentum = 0.9 if name == "sgd-momentum" else 0.0
    return torch.optim.SGD(stepped, lr=0.1, momentum=momentum, foreach=True)


def peaks(scenario: Scenario, *, steps: int = 2, details: bool = False) -> dict[Phase, Peak]:
    """Trace `steps` steps of one rank without sharding; return the last step's peak per phase.

    Nothing is allocated: fake tensors on the CPU stand for those of a GPU.
    """
    with FakeTensorMode(allow_non_fake_inputs=True), LiveBytes(details=details) as live:
        model = build(scenario.architecture, scenario.recipe)
        stepper = Stepper(model, scenario.recipe)
        _mark_backward(model, live)
        work = scenario.workload
        shape = (work.micro_batch, work.sequence)
        tables = model.tables(work.sequence)
        tokens = torch.zeros(shape, dtype=torch.long)
        for _ in range(steps):
            live.peaks.clear()
            for _ in range(work.gradient_accumulation):
                live.enter(Phase.FORWARD)
                loss = _forward(model, tokens, tables, scenario.recipe)
                live.enter(Phase.LOSS)
                loss.backward()
                live.enter(None)
                del loss
            live.enter(Phase.STEP)
            stepper.step()
            live.enter(None)
    return dict(live.peaks)


def _forward(
    model: Transformer, tokens: Tensor, tables: tuple[Tensor, ...], recipe: Recipe
) -> Tensor:
    with torch.autocast("cpu", DTYPES[2], enabled=recipe.precision == "autocast"):
        loss: Tensor = model(tokens, tokens, tables)
    return loss


def _mark_backward(model: Transformer, live: LiveBytes) -> None:
    last = len(model.blocks) - 1
    phases = {last: Phase.BACKWARD_FIRST, last - 1: None, 0: Phase.BACKWARD_LAST}
    for index, phase in phases.items():
        if index >= 0:
            model.blocks[index].register_forward_hook(_phase_hook(live, phase))


def _phase_hook(live: LiveBytes, phase: Phase | None):  # type: ignore[no-untyped-def] # noqa: ANN202 - torch has no name for the type of a hook
    def hook(_module: object, _inputs: object, out: Tensor) -> None:
        out.register_hook(lambda _gradient: live.enter(phase))

    return hook
