"""A mixture of experts: tokens are sorted by expert, and one grouped product is done for all.

`mixture` tells the story of `engine.verify.reference`; others put its parts together otherwise.
All is in 16 bits but for what is said to be in fp32: grouped products are 16-bit ones.
"""

from dataclasses import dataclass

from sympy.polys.rings import PolyElement

from engine.stacks.pen import E, K, Pen, f, h, tokens
from engine.tape import ZERO, Value

ROWS = tokens * K
GATES_AND_UPS, OUTPUTS = "expert gates and ups", "expert outputs"


@dataclass(frozen=True, kw_only=True)
class Routed:
    """What a router makes.

    Attributes:
        logits: one number a token and expert.
        chosen: the numbers of each token's experts.
        shares: the weights of each token's experts.
        order: which token and expert each sorted row is.
        weights: the shares in that order.
    """

    logits: Value
    chosen: Value
    shares: Value
    order: Value
    weights: Value


def mixture(pen: Pen, x: Value) -> Value:
    """Write a mixture of experts."""
    routed = route(pen, x)
    places = indices(name="places of the tokens")
    sent = pen.write(x, places, output=tokens_sent(pen), keeps=(places,))
    up = grouped(pen, sent, (2 * f, h), name=GATES_AND_UPS, why="factors of the product")
    hidden = activated(pen, up)
    out = grouped(pen, hidden, (h, f), name=OUTPUTS, why="their weights' gradient needs them")
    back = indices(name="places of the outputs")
    outputs = scaled(pen, out, routed.weights)
    in_order = pen.write(outputs, back, output=outputs_in_order(), keeps=(back,))
    total = summed(pen, in_order, x.size)
    pen.hold(x, routed.order, sent, out)
    return total


def route(pen: Pen, x: Value) -> Routed:
    """Write the router and the sorting of its choices by expert."""
    logits = pen.linear(x, (E, h), name="router logits", bias=False, why="go to the softmax")
    scores = pen.write(logits, output=Value(name="fp32 router logits", size=4 * tokens * E))
    chances = Value(name="router probabilities", size=4 * tokens * E, why="softmax keeps them")
    pen.write(scores, output=chances, keeps=(chances,))
    picked = Value(name="picked", size=4 * ROWS)
    chosen = indices(name="chosen experts")
    pen.write(chances, output=picked, keeps=(chosen,), backward_workspace=chances.size)
    why = "their sum divides them"
    before = Value(name="picked probabilities", size=4 * ROWS + 4 * tokens, why=why)
    shares = Value(name="shares", size=4 * ROWS)
    pen.write(picked, output=shares, keeps=(before,))
    order = indices(name="order of the tokens")
    weights = Value(name="weights of the experts", size=4 * ROWS, why="they scale the outputs")
    pen.write(shares, output=weights, keeps=(order,))
    return Routed(logits=logits, chosen=chosen, shares=shares, order=order, weights=weights)


def indices(*, name: str) -> Value:
    """Return a number for each token and expert, which is there already."""
    why = "8 bytes a token and expert, to bring gradients back"
    return Value(name=name, size=8 * ROWS, why=why, differentiable=False)


def tokens_sent(pen: Pen) -> Value:
    """Return what a copy of each token for each of its experts will be."""
    size = pen.compute * ROWS * h
    return Value(name="tokens sent to experts", size=size, why="input of the experts")


def grouped(
    pen: Pen,
    x: Value,
    shape: tuple[PolyElement, PolyElement],
    *keeps: Value,
    name: str,
    why: str,
) -> Value:
    """Write one product for the matrices of `shape` (out, in) of all experts."""
    wide, narrow = shape
    out = Value(name=name, size=pen.compute * ROWS * wide, why=why)
    gradients = pen.gradient * E * wide * narrow
    return pen.write(x, output=out, keeps=(x, *keeps), gradients=gradients)


def activated(pen: Pen, up: Value) -> Value:
    """Write activation and product of gates and ups, which are views of one tensor."""
    size, why = pen.compute * ROWS * f, "factor of the product"
    gate = Value(name="expert gate", size=size, view_of=up)
    factor = Value(name="expert up", size=size, view_of=up)
    pen.write(up, output=gate, also=(factor,))
    active = Value(name="expert activated gates", size=size, why=why)
    pen.write(gate, output=active, keeps=(active if pen.block.activation == "relu" else gate,))
    hidden = Value(name="expert hidden", size=size, why="input of the experts' down matrix")
    return pen.write(active, factor, output=hidden, keeps=(active, factor))


def scaled(
    pen: Pen, out: Value, weights: Value, *keeps: Value, spared: PolyElement = ZERO
) -> Value:
    """Write the experts' outputs times the weights, in fp32.

    The bytes that its backward needs beside the gradient are less by those `spared`.
    """
    wide = 4 * ROWS * h
    return pen.write(
        out,
        weights,
        output=Value(name="scaled outputs", size=wide),
        keeps=(out, weights, *keeps),
        backward_workspace=wide - spared,
        uncast=(wide, out.size),
    )


def outputs_in_order() -> Value:
    """Return what the scaled outputs, token by token again, will be."""
    return Value(name="in order", size=4 * ROWS * h)


def summed(pen: Pen, in_order: Value, size: PolyElement) -> Value:
    """Write the sum of each token's experts, cast to the residual stream's `size`."""
    total = pen.write(in_order, output=Value(name="sum of experts", size=4 * tokens * h))
    return pen.write(total, output=Value(name="MLP result", size=size, why=pen.of_branch))
