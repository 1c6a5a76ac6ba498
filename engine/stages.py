"""The stages of a pipeline: which layers each has, and how many micro-batches it holds at once."""

from dataclasses import dataclass

from engine.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Layers `begin` to `end` of the model under 1F1B; without a pipeline there is one stage.

    Attributes:
        begin: its first layer, counted from 0.
        end: the layer behind its last one.
        dense: how many of its layers have one MLP for all tokens, in place of experts.
        first: whether it has the embedding.
        last: whether it has final norm, head and loss.
        in_flight: micro-batches whose activations it holds at once: a stage runs as many forward
            passes ahead as there are stages behind it (arXiv 2104.04473 section 2.2).
    """

    begin: int = 0
    end: int
    dense: int
    first: bool = True
    last: bool = True
    in_flight: int = 1

    @property
    def layers(self) -> int:
        """Layers of the stage."""
        return self.end - self.begin

    @property
    def moe(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense

    @property
    def work(self) -> tuple[int, int, bool, bool]:
        """What tells stages of different work apart."""
        return (self.dense, self.moe, self.first, self.last)

    @property
    def name(self) -> str:
        """What it is called: "only" where there is no pipeline."""
        if self.first:
            return "only" if self.last else "first"
        return "last" if self.last else "middle"


def stages(settings: Settings) -> tuple[Stage, ...]:
    """Return the stages in order; where p does not divide L the first have a layer more."""
    a, many = settings.architecture, settings.parallel.pipeline
    dense = a.layers if a.experts is None else a.experts.dense_layers
    each, more = divmod(a.layers, many)
    found, at = [], 0
    for index in range(many):
        end = at + each + (index < more)
        found.append(
            Stage(
                begin=at,
                end=end,
                dense=max(0, min(end, dense) - at),
                first=index == 0,
                last=index == many - 1,
                in_flight=min(many - index, settings.workload.gradient_accumulation),
            )
        )
        at = end
    return tuple(found)


def differing(settings: Settings) -> tuple[Stage, ...]:
    """Return the stages that differ in memory: the first, the second for all others, the last.

    Of those in the middle the second holds the most micro-batches at once.
    """
    found = stages(settings)
    return tuple(dict.fromkeys((*found[:2], found[-1])))
