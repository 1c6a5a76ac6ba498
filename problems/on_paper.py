"""A step as one adds it up on paper: for each moment that may be the peak, a few terms.

The terms are the ledger's own, phase by phase, to first order. Solutions begin with them,
mistakes are changes of them, and scenarios are picked by them. The answer itself always comes
from the ledger.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from engine.architecture import Architecture
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS, Precision
from engine.scenario import Scenario
from problems.amounts import (
    EMBEDDING,
    END,
    FIRST_LAYER,
    LAST_LAYER,
    LOSS,
    NEXT_LAYER,
    SAVED,
    SECOND_LAYER,
    STEP,
    Amount,
    Moment,
    Paper,
    all_in_billions,
    in_billions,
    product,
)
from problems.bucketed import Bucketed, Moments
from problems.layers import layer_terms, per_token, working_set
from problems.model_states import Part, each_of, parts_of, sum_said, total_said
from problems.wording import number

# Vocabulary-wide bytes a token and entry: log-probabilities and two gradients, all fp32.
LOSS_BYTES = 12


def on_paper(scenario: Scenario) -> Paper:
    """Return the sums of `scenario`."""
    return Paper(
        moments=tuple(
            Moment(said=said, amounts=tuple(amount for amount in amounts if amount.size))
            for said, amounts in _moments(scenario)
        )
    )


def _moments(scenario: Scenario) -> Moments:
    step = _Step(scenario=scenario)
    if scenario.parallel.data > 1 and scenario.parallel.zero in {1, 2}:
        return Bucketed(terms=step).moments()
    return step.sharded_moments() if scenario.parallel.zero == 3 else step.moments()


@cache
def parameters_of(architecture: Architecture) -> int:
    """Return the parameters, counted once: scenarios are drawn and thrown away by the dozen."""
    return architecture.parameters


@cache
def ends_of(architecture: Architecture) -> int:
    """Return the parameters of embedding, final norm and head."""
    ends = {"embedding", "final", "head"}
    return sum(t.size * t.copies for t in architecture.tensors if t.place in ends)


@cache
def largest_of(architecture: Architecture) -> int:
    """Return the parameters of the largest tensor."""
    return max(tensor.size for tensor in architecture.tensors)


def states_that_stay(scenario: Scenario) -> int:
    """Return the bytes of the states that are there in every phase: no peak is lower."""
    return _Step(scenario=scenario).states.size


def run_parts(scenario: Scenario) -> tuple[Part, ...]:
    """Return the parts of the model states as they lie on a rank."""
    recipe = scenario.recipe
    return _parts(recipe.precision, recipe.optimizer, fsdp=scenario.parallel.zero == 3)


@cache
def _parts(precision: str, optimizer: str, *, fsdp: bool) -> tuple[Part, ...]:
    return parts_of(precision, optimizer, fsdp=fsdp)


@cache
def _each(parts: tuple[Part, ...], zero: int, ranks: int) -> Fraction:
    return each_of(parts, zero, ranks)


@cache
def _total(parts: tuple[Part, ...], zero: int, ranks: int) -> str:
    return total_said(parts, zero, ranks)


def has_ddp_buckets(scenario: Scenario) -> bool:
    """Return whether DDP holds a copy of the gradients in buckets of its own."""
    row, parallel = PRECISIONS[scenario.recipe.precision], scenario.parallel
    return parallel.data > 1 and parallel.zero == 0 and row.gradients <= row.weights


@dataclass(frozen=True, kw_only=True)
class _Step:
    """The terms of a step; each moment is a choice of them."""

    scenario: Scenario

    @property
    def shape(self) -> Architecture:
        return self.scenario.architecture

    @property
    def row(self) -> Precision:
        return PRECISIONS[self.scenario.recipe.precision]

    @property
    def parameters(self) -> int:
        return parameters_of(self.shape)

    @property
    def ends(self) -> int:
        return ends_of(self.shape)

    @property
    def layer(self) -> int:
        return (self.parameters - self.ends) // self.shape.layers

    @property
    def table(self) -> int:
        return self.shape.vocab * self.shape.hidden

    @property
    def lasting(self) -> bool:
        """Whether gradients are there in every phase."""
        main = self.row.gradients > self.row.weights and self.scenario.parallel.zero < 3
        return main or self.scenario.workload.gradient_accumulation > 1

    @property
    def waits(self) -> bool:
        """Whether the gradient of a tied head waits, apart, for that of the embedding."""
        return self.shape.tied and self.lasting

    def moments(self) -> Iterator[tuple[str, list[Amount]]]:
        """Yield the moments where the weights are whole."""
        always = [self.states, *self.buckets()]
        lasting = [self.gradients] if self.lasting else []
        backward = [*always, *lasting, *self.reducing()]
        layers = self.shape.layers
        yield LOSS, [*always, *lasting, self.saved(layers), self.loss()]
        head = []
        if not self.lasting and not self.waits:
            head = [self.partial("gradients of the head", self.table)]
        yield LAST_LAYER, [*backward, *head, self.saved(layers), *self.working]
        yield FIRST_LAYER, [*backward, *self.above(), self.saved(1), *self.working]
        yield END, [*backward, *self.last_gradients()]
        yield STEP, [*always, self.gradients, *self.temporaries()]

    def sharded_moments(self) -> Iterator[tuple[str, list[Amount]]]:
        """Yield the moments under FSDP2."""
        always = [self.states, *([self.gradients] if self.lasting else [])]
        layers, each = self.shape.layers, self.row.compute
        waiting = product("the head's gradient, waiting", each, self.table)
        reduced = product(
            "gradients of the layer above, to be reduced", self.row.stepped, self.layer
        )
        yield LOSS, [*always, self.saved(layers), self.loss(), self.gathered(1)]
        backward = [*always, self.gathered(2), waiting]
        yield LAST_LAYER, [*backward, self.saved(layers), *self.working]
        yield NEXT_LAYER, [*backward, self.saved(layers - 1), reduced, *self.working]
        own = product("gradients of the layer", each, self.layer)
        yield NEXT_LAYER, [*backward, self.saved(layers - 2), reduced, own]
        second = [*backward, *self.above(), reduced]
        yield SECOND_LAYER, [*second, self.saved(2), *self.working]
        yield SECOND_LAYER, [*second, self.saved(1), own]
        gradients = []
        if not self.lasting:
            gradients = [self.partial("gradients of the layers", layers * self.layer)]
        last = [*always, *gradients, self.gathered(0)]
        yield EMBEDDING, [*last, waiting, self.embedding(), reduced]
        root = product("their gradients to be reduced", self.row.stepped, self.ends)
        yield END, [*last, root]
        yield STEP, [self.states, self.gradients, *self.temporaries()]

    @cached_property
    def states(self) -> Amount:
        stay = tuple(part for part in run_parts(self.scenario) if part.name != "gradients")
        return self.held("states that stay", stay)

    @cached_property
    def gradients(self) -> Amount:
        made = tuple(part for part in run_parts(self.scenario) if part.name == "gradients")
        return self.held("gradients", made)

    def held(self, name: str, parts: tuple[Part, ...]) -> Amount:
        zero, ranks = self.scenario.parallel.zero, self.scenario.parallel.data
        each = _each(parts, zero, ranks)
        return Amount(
            name=name,
            how=f"{_total(parts, zero, ranks)} × {in_billions(self.parameters, each)} parameters",
            size=int(each * self.parameters),
        )

    @cached_property
    def saved_each(self) -> int:
        return per_token(layer_terms(self.scenario))

    def saved(self, layers: int) -> Amount:
        each = self.saved_each
        times = f"{layers} layers × " if layers > 1 else "one layer, "
        how = f"{times}{{tokens}} tokens × {number(each)} bytes"
        return self.growing(SAVED, how, layers * each)

    @cached_property
    def working(self) -> tuple[Amount, ...]:
        """A layer's working set, and gradients of its MLP where these stay meanwhile."""
        term = working_set(self.scenario)
        widths = f"({term.formula} = {number(term.each)} bytes)"
        needed = self.growing(term.name, f"{{tokens}} tokens × {widths}", term.each)
        stage = self.scenario.parallel.zero
        if term.scores and (stage == 3 or not (self.lasting or stage == 2)):
            matrices = 3 if self.shape.gated else 2
            mlp = matrices * self.shape.ffn * self.shape.hidden
            return needed, product("gradients of the layer's MLP", self.row.compute, mlp)
        return (needed,)

    def loss(self) -> Amount:
        how = f"{LOSS_BYTES} × {{tokens}} tokens × {number(self.shape.vocab)} vocabulary entries"
        return self.growing("loss", how, LOSS_BYTES * self.shape.vocab)

    def growing(self, name: str, how: str, each: int) -> Amount:
        tokens = self.scenario.tokens
        return Amount(name=name, how=how, size=each * tokens, tokens=tokens)

    def gathered(self, layers: int) -> Amount:
        each = self.row.compute
        ends = "embedding (the head too)" if self.shape.tied else "embedding, head"
        names = {0: "", 1: " and one layer", 2: " and two layers"}[layers]
        name = f"gathered {ends if layers else ends.replace(', head', ' and head')}{names}"
        ends_said, layer = all_in_billions((each, self.ends), (layers * each, self.layer))
        more = {0: "", 1: f" + {each} × {layer}"}.get(layers, f" + {layers} × {each} × {layer}")
        return Amount(
            name=name,
            how=f"{each} × {ends_said}{more}",
            size=each * (self.ends + layers * self.layer),
        )

    def buckets(self) -> Iterator[Amount]:
        if has_ddp_buckets(self.scenario):
            yield product("DDP's buckets", self.row.weights, self.parameters)

    def reducing(self) -> Iterator[Amount]:
        """Yield what only the backward pass of a tied head holds."""
        if self.waits:
            yield product("the head's gradient, waiting", self.row.weights, self.table)

    def partial(self, name: str, parameters: int) -> Amount:
        """Return gradients of some of the parameters."""
        part = next(part for part in run_parts(self.scenario) if part.name == "gradients")
        zero, ranks = self.scenario.parallel.zero, self.scenario.parallel.data
        said, each = sum_said((part,), zero, ranks), _each((part,), zero, ranks)
        how = f"{said} × {in_billions(parameters, each)}"
        return Amount(name=name, how=how, size=int(each * parameters))

    def above(self) -> Iterator[Amount]:
        if not self.lasting:
            sharded = self.scenario.parallel.zero == 3
            layers = self.shape.layers - (2 if sharded else 1)
            head = 0 if sharded or self.waits else self.table
            yield self.partial("gradients of the layers above", layers * self.layer + head)

    @property
    def tables(self) -> int:
        """How often the embedding's size is alive while its gradient is made."""
        # The gradients of a tied table meet in a third tensor, their sum.
        return 2 if self.shape.tied else 1

    def embedding(self) -> Amount:
        tied = ", and its sum with the head's" if self.shape.tied else ""
        return product(
            f"the embedding's gradient{tied}", self.tables * self.row.weights, self.table
        )

    def last_gradients(self) -> Iterator[Amount]:
        """Yield the gradients of the end of the backward pass that are not there always."""
        table = self.embedding()
        if self.lasting:
            yield table
        else:
            yield self.gradients
            if self.shape.tied:
                yield table

    def temporaries(self) -> Iterator[Amount]:
        optimizer, row = optimizers()[self.scenario.recipe.optimizer], self.row
        zero = self.scenario.parallel.zero
        casts = bool(row.master) and row.gradients < row.master and zero < 3
        copies = optimizer.temporaries + (1 if casts and optimizer.at_once else 0)
        if copies:
            part = Part(name="temporaries", each=copies * row.stepped, stage=1)
            yield self.held("optimizer's temporaries", (part,))
        if casts and not optimizer.at_once:
            largest = largest_of(self.shape)
            yield product("fp32 copy of the largest gradient", row.master, largest)
