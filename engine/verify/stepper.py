"""The optimizer of a recipe, with the master copy and the main gradients it may need."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.scenario import Recipe
from engine.verify.reference import Transformer


class Stepper:
    """Steps a model as the recipe says: masters where there are any, all at once or one by one."""

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
        self.optimizer = optimizer(recipe.optimizer, self.stepped)

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


def _accumulate_into(main: Tensor) -> Callable[[Tensor], None]:
    def hook(weight: Tensor) -> None:
        main.add_(weight.grad)  # type: ignore[arg-type] # torch calls it when there is one
        weight.grad = None

    return hook


def optimizer(name: str, stepped: Sequence[Tensor]) -> torch.optim.Optimizer:
    """Return PyTorch's optimizer of that name over `stepped`."""
    if name.startswith("adamw"):
        fused = name == "adamw-fused"
        return torch.optim.AdamW(stepped, foreach=not fused, fused=fused)
    momentum = 0.9 if name == "sgd-momentum" else 0.0
    return torch.optim.SGD(stepped, lr=0.1, momentum=momentum, foreach=True)
