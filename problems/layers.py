"""One layer on paper: what it saves for each token, and what its backward pass needs besides."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.architecture import Architecture
from engine.precisions import PRECISIONS
from engine.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Term:
    """Some tensors of one layer.

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


def per_token(terms: Sequence[Term]) -> int:
    """Return the bytes a token and layer."""
    return sum(term.each for term in terms)


def layer_terms(scenario: Scenario, *, recompute: str | None = None) -> tuple[Term, ...]:
    """Return what one layer saves for each token, all but statistics of a few bytes a head.

    Args:
        scenario: the step.
        recompute: in place of the scenario's own.
    """
    a, c = scenario.architecture, _width(scenario)
    recompute = recompute or scenario.recipe.recompute
    if recompute == "full":
        return (Term(name="the layer's input", formula=f"{c}h", each=c * a.hidden),)
    terms = [_stream(a, c), *_attention(scenario, c), *_scores(scenario, c, recompute), _mlp(a, c)]
    if scenario.recipe.dropout:
        terms.append(Term(name="two dropout masks", formula="2h", each=2 * a.hidden))
    return tuple(terms)


def working_set(scenario: Scenario) -> Term:
    """Return what a layer's backward needs for each token beyond what the layers save.

    With full recomputation that is the layer itself, run again, and gradients in its widest
    part; otherwise these gradients alone, less what the layer has dropped by then.
    """
    candidates = [_in_the_mlp(scenario)]
    if scenario.recipe.attention == "eager":
        candidates.append(_in_the_scores(scenario))
    return max(candidates, key=lambda term: term.each)


def _in_the_mlp(scenario: Scenario) -> Term:
    a, c = scenario.architecture, _width(scenario)
    # A gated product has two gradients more than it drops, an activation function one.
    times = c if a.activation != "relu" and not a.gated else 2 * c
    gradients = Term(
        name="gradients in the MLP",
        formula=f"{times}f + {c}h",
        each=times * a.ffn + c * a.hidden,
    )
    if scenario.recipe.recompute != "full":
        return gradients
    again = layer_terms(scenario, recompute="none")
    return Term(
        name="one layer run again, and the gradients in its MLP",
        # The layer's input is counted as saved, which leaves room for the gradient of its output.
        formula=" + ".join([*(term.formula for term in again), f"{times}f"]),
        each=per_token(again) + times * a.ffn,
    )


def _in_the_scores(scenario: Scenario) -> Term:
    a, c, recipe = scenario.architecture, _width(scenario), scenario.recipe
    pairs, dropout = a.heads * scenario.workload.sequence, recipe.dropout > 0
    if recipe.recompute == "full":
        times = 3 * c + dropout
        return Term(
            name="attention run again, and the gradients of its scores",
            formula=f"{times}·a·s + {3 * c}·a·d + {2 * c}h",
            each=times * pairs + 3 * c * a.query_width + 2 * c * a.hidden,
            scores=True,
        )
    kept = 3 * c + dropout if recipe.recompute == "selective" else c if dropout else 2 * c
    mlp = _mlp(a, c)
    again = "scores run again, and" if recipe.recompute == "selective" else "the scores'"
    return Term(
        name=f"{again} gradients, less the MLP's activations that are gone",
        formula=f"{kept}·a·s - {mlp.formula}",
        each=kept * pairs - mlp.each,
        scores=True,
    )


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


def _width(scenario: Scenario) -> int:
    return PRECISIONS[scenario.recipe.precision].compute
