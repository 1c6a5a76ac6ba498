"""A step as one adds it up on paper: a few first-order terms, each with its words.

Solutions begin with these sums, mistakes are changes of them, and scenarios are picked by them.
The answer itself always comes from the ledger.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Literal, get_args

from engine.architecture import Architecture
from engine.recipe import OPTIMIZERS, PRECISIONS, Precision
from engine.scenario import Scenario
from problems.model_states import Part, parts_of

Moment = Literal["loss", "backward", "end of backward", "step"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)

# Vocabulary-wide bytes a token and entry: log-probabilities and two gradients, all fp32.
LOSS_BYTES = 12
# Elements of the bucket in which ZeRO-1 and 2 reduce gradients.
BUCKET = 5 * 10**8


@dataclass(frozen=True, kw_only=True)
class Term:
    """What one layer saves for each token.

    Args:
        name: the tensors.
        formula: bytes a token in the letters of the prompt.
        each: bytes a token.
        scores: it has an entry for each pair of tokens.
    """

    name: str
    formula: str
    each: int
    scores: bool = False


def layer_terms(scenario: Scenario, *, recompute: str | None = None) -> tuple[Term, ...]:
    """Return what one layer saves for each token, all but statistics of a few bytes a head.

    Args:
        scenario: the step.
        recompute: in place of the scenario's own.
    """
    a, c = scenario.architecture, _precision(scenario).compute
    recompute = recompute or scenario.recipe.recompute
    if recompute == "full":
        return (Term(name="the layer's input", formula=f"{c}h", each=c * a.hidden),)
    terms = [_stream(a, c), *_attention(scenario, c), *_scores(scenario, c, recompute), _mlp(a, c)]
    if scenario.recipe.dropout:
        terms.append(Term(name="two dropout masks", formula="2h", each=2 * a.hidden))
    return tuple(terms)


def _stream(a: Architecture, c: int) -> Term:
    inputs = 1 if a.parallel_residual else 2
    outputs = 1 if a.shared_norm else 2
    times = c * (inputs + outputs)
    return Term(name="inputs and outputs of the norms", formula=f"{times}h", each=times * a.hidden)


def _attention(scenario: Scenario, c: int) -> list[Term]:
    a = scenario.architecture
    q, kv = a.query_width, a.kv_width
    same = "q, k, v and attention's output"
    if scenario.recipe.attention == "eager" and scenario.recipe.recompute != "selective":
        terms = [Term(name=f"{same}, for all heads", formula=f"{4 * c}·a·d", each=4 * c * q)]
    else:
        formula = f"{2 * c}·a·d + {2 * c}·k·d"
        terms = [Term(name=same, formula=formula, each=2 * c * (q + kv))]
    if a.qk_norm == "head":
        formula = f"{c}·a·d + {c}·k·d"
        terms.append(Term(name="q and k before their norms", formula=formula, each=c * (q + kv)))
    return terms


def _scores(scenario: Scenario, c: int, recompute: str) -> list[Term]:
    recipe, pairs = scenario.recipe, scenario.architecture.heads * scenario.workload.sequence
    if recipe.attention != "eager" or recompute == "selective":
        return []
    each = 2 * c + 1 if recipe.dropout else c
    name = (
        "probabilities, before and after dropout, and its mask"
        if recipe.dropout
        else ("attention probabilities")
    )
    return [Term(name=name, formula=f"{each}·a·s", each=each * pairs, scores=True)]


def _mlp(a: Architecture, c: int) -> Term:
    if a.gated:
        name = "gate, activated gate, up and their product"
        return Term(name=name, formula=f"{4 * c}f", each=4 * c * a.ffn)
    if a.activation == "relu":
        return Term(name="the MLP's activation", formula=f"{c}f", each=c * a.ffn)
    name = "the MLP before and after its activation"
    return Term(name=name, formula=f"{2 * c}f", each=2 * c * a.ffn)


def per_token(terms: tuple[Term, ...]) -> int:
    """Return the bytes a token and layer."""
    return sum(term.each for term in terms)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The sizes of a step in bytes on one GPU, to first order.

    Attributes:
        lasting: states that are there in every phase.
        gradients: of all parameters, on this rank.
        gradients_last: whether they are there in every phase too.
        saved: activations that the layers save.
        live: what one layer needs at once when its backward runs.
        logits: vocabulary-wide tensors in the loss's backward.
        exchange: buckets, or gathered layers with their gradients.
        buckets: the part of `exchange` that is there in every phase.
        temporaries: the optimizer's own, in its step.
    """

    lasting: int
    gradients: int
    gradients_last: bool
    saved: int
    live: int
    logits: int
    exchange: int
    buckets: int
    temporaries: int

    def terms(self, moment: Moment) -> dict[str, int]:
        """Return what is allocated at a moment that may be the peak, by name, without zeros."""
        terms = {"states that stay": self.lasting}
        if self.gradients_last or moment in {"end of backward", "step"}:
            terms["gradients"] = self.gradients
        if moment in {"loss", "backward"}:
            terms["saved activations"] = self.saved
        if moment in {"backward", "end of backward"}:
            terms["one layer's working set"] = self.live
        if moment == "loss":
            terms["loss"] = self.logits
        if moment == "step":
            terms["optimizer's temporaries"] = self.temporaries
        else:
            terms["exchange"] = self.exchange
        terms["DDP's buckets"] = self.buckets
        return {name: size for name, size in terms.items() if size}

    @cached_property
    def moments(self) -> dict[Moment, int]:
        """What is allocated at each moment that may be the peak."""
        return {moment: sum(self.terms(moment).values()) for moment in MOMENTS}

    @property
    def moment(self) -> Moment:
        """The moment of the peak."""
        return max(self.moments, key=self.moments.__getitem__)

    @property
    def peak(self) -> int:
        """The most that is allocated."""
        return max(self.moments.values())

    def times(self, micro_batch: int) -> "Paper":
        """Return the sizes of a step whose micro-batch is so many times as large."""
        return replace(
            self,
            saved=self.saved * micro_batch,
            live=self.live * micro_batch,
            logits=self.logits * micro_batch,
        )


def on_paper(scenario: Scenario) -> Paper:
    """Return the sizes of `scenario`."""
    a, row, tokens = scenario.architecture, _precision(scenario), scenario.tokens
    full = scenario.recipe.recompute == "full"
    one = per_token(layer_terms(scenario, recompute="none" if full else None)) * tokens
    parts = {part.name: _held(scenario, part) for part in run_parts(scenario)}
    gradients = parts.pop("gradients")
    zero, many = scenario.parallel.zero, scenario.parallel.data > 1
    main = row.gradients > row.weights and zero < 3
    return Paper(
        lasting=sum(parts.values()),
        gradients=gradients,
        gradients_last=main or scenario.workload.gradient_accumulation > 1,
        saved=per_token(layer_terms(scenario)) * tokens * a.layers,
        live=one if full or not many else 0,
        logits=LOSS_BYTES * a.vocab * tokens,
        exchange=_exchange(scenario) if many and zero else 0,
        buckets=row.weights * parameters_of(a) if many and not zero and not main else 0,
        temporaries=_temporaries(scenario),
    )


@cache
def parameters_of(architecture: Architecture) -> int:
    """Return the parameters, counted once: scenarios are drawn and thrown away by the dozen."""
    return architecture.parameters


def run_parts(scenario: Scenario) -> tuple[Part, ...]:
    """Return the parts of the model states as they lie on a rank."""
    recipe = scenario.recipe
    return parts_of(recipe.precision, recipe.optimizer, fsdp=scenario.parallel.zero == 3)


def each_on_rank(scenario: Scenario, part: Part) -> Fraction:
    """Return the bytes a parameter that one rank holds of `part`."""
    split = part.stage <= scenario.parallel.zero
    return Fraction(part.each, scenario.parallel.data if split else 1)


def _held(scenario: Scenario, part: Part) -> int:
    return int(each_on_rank(scenario, part) * parameters_of(scenario.architecture))


def _exchange(scenario: Scenario) -> int:
    a, row = scenario.architecture, _precision(scenario)
    if scenario.parallel.zero < 3:
        return row.weights * min(BUCKET, parameters_of(a))
    ends = (1 if a.tied else 2) * a.vocab * a.hidden
    layer = (parameters_of(a) - ends) // a.layers
    return row.compute * ends + (2 * row.compute + row.stepped) * layer


def _temporaries(scenario: Scenario) -> int:
    row, optimizer = _precision(scenario), OPTIMIZERS[scenario.recipe.optimizer]
    ranks = scenario.parallel.data if scenario.parallel.zero else 1
    share = -(-parameters_of(scenario.architecture) // ranks)
    casts = bool(row.master) and row.gradients < 4 and scenario.parallel.zero < 3
    copies = optimizer.temporaries + (1 if casts and optimizer.at_once else 0)
    return copies * row.stepped * share


def _precision(scenario: Scenario) -> Precision:
    return PRECISIONS[scenario.recipe.precision]
