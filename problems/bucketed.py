"""The moments of a step under ZeRO-1 and 2 as one adds them up on paper.

Whole weights, an equal part of the optimizer's states on every rank, and gradients that go
through a bucket, as in DeepSpeed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from engine.architecture import Architecture
from engine.optimizers import optimizers
from engine.partition import Flat, flat_of, fullest
from engine.precisions import Precision
from engine.reducing import BUCKET, Reducing, at_the_end, scattered
from engine.scenario import Scenario
from problems.amounts import (
    BEFORE_STEP,
    EMBEDDING,
    END,
    FIRST_LAYER,
    FULL,
    HEAD,
    LAST_LAYER,
    LOSS,
    STEP,
    Amount,
    product,
)
from problems.model_states import Part

Moments = Iterator[tuple[str, list[Amount]]]


class Terms(Protocol):
    """The terms of a step that do not depend on how gradients are reduced."""

    @property
    def scenario(self) -> Scenario:
        """What runs."""

    @property
    def shape(self) -> Architecture:
        """The model's sizes."""

    @property
    def row(self) -> Precision:
        """The recipe's bytes."""

    @property
    def table(self) -> int:
        """Parameters of the embedding."""

    @property
    def lasting(self) -> bool:
        """Whether gradients are there in every phase."""

    @property
    def states(self) -> Amount:
        """Model states but the gradients."""

    @property
    def gradients(self) -> Amount:
        """All gradients, shared as the stage says."""

    @property
    def working(self) -> tuple[Amount, ...]:
        """A layer's working set."""

    def saved(self, layers: int) -> Amount:
        """Return the saved activations of so many layers."""

    def loss(self) -> Amount:
        """Return log-probabilities and their gradients."""

    def held(self, name: str, parts: tuple[Part, ...]) -> Amount:
        """Return parts of so many bytes a parameter, shared as the stage says."""

    def above(self) -> Iterator[Amount]:
        """Yield the gradients of the layers above the first."""

    def embedding(self) -> Amount:
        """Return the embedding's gradient, with its sum with the head's where they are tied."""


@dataclass(frozen=True, kw_only=True)
class Bucketed:
    """The moments of a step under ZeRO-1 or 2."""

    terms: Terms

    def moments(self) -> Moments:
        """Yield the moments with their terms."""
        yield from self._whole() if self._stage == 1 else self._scattered()
        yield from self._step()

    @property
    def _stage(self) -> int:
        return self.terms.scenario.parallel.zero

    @property
    def _each(self) -> int:
        return self.terms.row.weights

    @property
    def _main(self) -> bool:
        """Whether gradients are added to fp32 buffers that stay."""
        return self.terms.row.gradients > self._each

    @cached_property
    def _bucket(self) -> list[Amount]:
        gone = self._stage == 1 and self._main
        return [] if gone else [product("reduce bucket", self._each, BUCKET)]

    @cached_property
    def _waiting(self) -> list[Amount]:
        terms = self.terms
        waits = terms.shape.tied and (terms.lasting or self._stage == 2)
        return [product("the head's gradient, waiting", self._each, terms.table)] if waits else []

    def _whole(self) -> Moments:
        """Yield the moments up to the end of the backward pass where gradients stay whole."""
        x, layers = self.terms, self.terms.shape.layers
        older = [x.gradients, *self._bucket] if x.lasting else []
        head = [product("the head's gradient", self._each, x.table)]
        yield LOSS, [x.states, *older, x.saved(layers), x.loss()]
        if not x.lasting:
            yield HEAD, [x.states, *self._bucket, *head, x.saved(layers)]
        always = [x.states, *(older or self._bucket), *self._waiting]
        tied = [] if self._waiting or x.lasting else head
        yield LAST_LAYER, [*always, *tied, x.saved(layers), *x.working]
        yield FIRST_LAYER, [*always, *x.above(), x.saved(1), *x.working]
        whole = [] if x.lasting else [x.gradients]
        table = [x.embedding()] if x.lasting or x.shape.tied else []
        yield EMBEDDING, [*always, *whole, *table]
        if self._bucket:
            more = at_the_end(self._flat) - x.shape.parameters
            copies = [product("copies while they are reduced", self._each, more)] if more else []
            yield END, [x.states, *(older or self._bucket), *whole, *copies]

    @property
    def _flat(self) -> Flat:
        return flat_of(self.terms.scenario)

    @cached_property
    def _found(self) -> Reducing:
        return scattered(self._flat, keeps=not self._main)

    def _kept(self, elements: int) -> list[Amount]:
        """Return the share of this micro-batch's gradients, where the rank has it by then."""
        name = "gradients of this micro-batch" if self.terms.lasting else "gradients"
        part = Part(name="gradients", each=self._each, stage=1)
        return [self.terms.held(name, (part,))] if elements else []

    def _scattered(self) -> Moments:
        """Yield the moments up to the end of the backward pass where gradients are reduced."""
        x, layers, found = self.terms, self.terms.shape.layers, self._found
        older = [x.gradients] if x.lasting else []
        yield LOSS, [x.states, *older, x.saved(layers), x.loss()]
        always = [x.states, *older, *self._bucket]
        yield HEAD, [*always, *self._of_head(), x.saved(layers)]
        kept = [*always, *self._waiting, *self._kept(found.layers.kept)]
        yield LAST_LAYER, [*kept, x.saved(layers), *x.working]
        for emptied, name in (
            (found.layers.full, "copy of the bucket"),
            (found.layers.both, "copy of the bucket, and this rank's gradients"),
        ):
            if emptied.more:
                copies = self._copies(name, emptied.more)
                yield FULL, [*kept, *copies, x.saved(layers - emptied.below)]
        kept = [*always, *self._kept(found.bottom.kept)]
        yield FIRST_LAYER, [*kept, *self._waiting, x.saved(1), *x.working]
        table = product("the embedding's gradient, and copies", self._each, found.bottom.table)
        yield EMBEDDING, [*kept, table]
        if x.shape.tied:
            yield EMBEDDING, [*kept, *self._waiting, x.embedding()]
        end = product("gradients and their copies", self._each, found.end)
        yield END, [*always, end]

    def _copies(self, name: str, elements: int) -> Iterator[Amount]:
        """Yield the bucket's copy, and apart what the rank keeps beside it by then."""
        places = {"embedding", "final", "head"}
        largest = max(x.size for x in self.terms.shape.tensors if x.place not in places)
        if elements <= BUCKET or largest > BUCKET:
            yield product(name, self._each, elements)
            return
        yield product("copy of the bucket", self._each, BUCKET)
        yield product("this rank's gradients", self._each, elements - BUCKET)

    def _of_head(self) -> Iterator[Amount]:
        """Yield the head's gradient, and a copy or the share if it is too large for the bucket."""
        table = self.terms.table
        yield product("the head's gradient", self._each, table)
        if table > BUCKET and not self.terms.shape.tied:
            kept = self._kept(self._found.layers.kept)
            copy = product("its copy", self._each, table)
            yield max([copy, *kept], key=lambda amount: amount.size)

    def _step(self) -> Moments:
        """Yield the optimizer's step and what it makes before."""
        x, row = self.terms, self.terms.row
        temporaries = optimizers()[x.scenario.recipe.optimizer].temporaries * row.stepped
        own = [Part(name="temporaries", each=temporaries, stage=1)] if temporaries else []
        of_optimizer = [x.held("optimizer's temporaries", tuple(own))] if own else []
        if self._main:
            yield STEP, [x.states, x.gradients, *of_optimizer]
            return
        flat = (Part(name="flat", each=row.stepped, stage=1),)
        yield STEP, [x.states, x.held("gradients, flat", flat), *of_optimizer]
        kept = x.held("gradients", (Part(name="gradients", each=self._each, stage=1),))
        copies = self._each + row.master
        parts = (Part(name="copies", each=copies, stage=1),)
        norm = product("their norm, in 8 bytes each", 8, fullest(self._flat).piece)
        made = max(x.held("their flat copies", parts), norm, key=lambda amount: amount.size)
        yield BEFORE_STEP, [x.states, kept, made]
