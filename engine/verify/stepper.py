"""The optimizer of a recipe, with the master copy and the main gradients it may need."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pkgutil import resolve_name

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import Recipe


class Stepper:
    """Steps parameters as the recipe says: masters where there are any, all at once or one by one.

    Args:
        parameters: of the model.
        recipe: names precision and optimizer.
        sharded: whether the parameters are FSDP2's, of which each rank steps its shards. The
            shards are stepped as plain tensors: an optimizer that goes over lists of distributed
            ones asks for each of them how the whole list is placed.
        hidden: those of the layers, for an optimizer that steps others in another way.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        recipe: Recipe,
        *,
        sharded: bool = False,
        hidden: Iterable[torch.nn.Parameter] = (),
    ) -> None:
        precision = PRECISIONS[recipe.precision]
        self.at_once = optimizers()[recipe.optimizer].at_once
        self.weights = list(parameters)
        self.masters: list[torch.nn.Parameter] = []
        if precision.master and not sharded:
            self.masters = [torch.nn.Parameter(w.detach().float()) for w in self.weights]
        self.main_gradients: list[Tensor] = []
        if precision.gradients > precision.weights and not sharded:
            self.main_gradients = [torch.zeros_like(m) for m in self.masters]
            for weight, main in zip(self.weights, self.main_gradients, strict=True):
                weight.register_post_accumulate_grad_hook(_accumulate_into(main))
        self.shards = [_shard(weight) for weight in self.weights] if sharded else []
        in_layers = {id(weight) for weight in hidden}
        others = [
            stepped
            for weight, stepped in zip(self.weights, self._stepped, strict=True)
            if id(weight) not in in_layers
        ]
        self.optimizer = optimizer(recipe.optimizer, self._stepped, others)

    @property
    def _stepped(self) -> list[torch.nn.Parameter]:
        return self.masters or self.shards or self.weights

    @property
    def states(self) -> Iterator[tuple[int | None, Tensor]]:
        """What the optimizer keeps from step to step, with the parameter's number."""
        for number, parameter in enumerate(self._stepped):
            for kept in self.optimizer.state.get(parameter, {}).values():
                if isinstance(kept, Tensor):
                    yield number, kept

    def step(self) -> None:
        """Step once and drop the gradients."""
        if self.shards:
            self._step_shards()
        elif not self.masters:
            self.optimizer.step()
        elif self.at_once:
            self._step_masters(slice(None))
        else:
            for index in range(len(self.masters)):
                self._step_masters(slice(index, index + 1))
        for weight in self.weights:
            weight.grad = None
        for main in self.main_gradients:
            main.zero_()

    def _step_shards(self) -> None:
        for shard, weight in zip(self.shards, self.weights, strict=True):
            shard.grad = _local(weight.grad)
        self.optimizer.step()
        for shard in self.shards:
            shard.grad = None

    def _step_masters(self, part: slice) -> None:
        masters, weights = self.masters[part], self.weights[part]
        sources = self.main_gradients[part] if self.main_gradients else [w.grad for w in weights]
        for master, gradient in zip(masters, sources, strict=True):
            master.grad = gradient.float()  # type: ignore[union-attr] # every weight has one here
        del sources
        self.optimizer.step()
        for master, weight in zip(masters, weights, strict=True):
            master.grad = None
            weight.data.copy_(master)


def _shard(weight: Tensor) -> torch.nn.Parameter:
    return torch.nn.Parameter(_local(weight.detach()))


def _local(tensor: Tensor | None) -> Tensor:
    """Return this rank's part of a distributed tensor."""
    if not isinstance(tensor, DTensor):
        raise TypeError(type(tensor))
    return tensor.to_local()


def _accumulate_into(main: Tensor) -> Callable[[Tensor], None]:
    def hook(weight: Tensor) -> None:
        main.add_(weight.grad)  # type: ignore[arg-type] # torch calls it when there is one
        weight.grad = None

    return hook


def optimizer(
    name: str, stepped: Sequence[Tensor], others: Sequence[Tensor] = ()
) -> torch.optim.Optimizer:
    """Return the optimizer of that name over `stepped`.

    Args:
        name: of its row.
        stepped: all that it steps.
        others: what of that is in no layer, where it asks for it.
    """
    row = optimizers()[name]
    outside = {"others": others} if row.orthogonalizes else {}
    made: torch.optim.Optimizer = resolve_name(row.runs)(stepped, **dict(row.options), **outside)
    return made
