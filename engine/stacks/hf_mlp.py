"""MLP and experts of the `hf` stack: the classes of Hugging Face Transformers.

Read from Transformers 5.24, models/{llama,gpt2}/modeling_*.py and integrations/moe.py, and traced
operator by operator.
"""

from dataclasses import replace

from engine.stacks import experts, parts
from engine.stacks.pen import E, Pen, f, h, tokens
from engine.tape import ZERO, Value


def mlp(pen: Pen, x: Value) -> Value:
    """Write the MLP of a class, or its experts."""
    gpt2 = pen.block.activation == "gelu-tanh" and not pen.block.rotary
    write = _experts if pen.block.experts else _gpt2_mlp if gpt2 else parts.mlp
    out = write(pen, x)
    pen.hold(x)  # the call's arguments
    return out


def _experts(pen: Pen, x: Value) -> Value:
    """Write a mixture of experts, and beside it what its frames refer to until it is done."""
    routed = experts.route(pen, x)
    back = experts.indices(name="places of the outputs")
    ends = Value(
        name="ends of the experts' tokens",
        size=4 * E,
        why="a grouped product needs to know where each expert's tokens end",
    )
    inside = Pen(pen.block)
    sent, out = _computed(inside, x, ends)
    # The engine sums up the gradient of the weights last, when the places are gone.
    spared = 4 * experts.ROWS + back.size
    outputs = experts.scaled(inside, out, routed.weights, back, spared=spared)
    in_order = inside.write(outputs, output=experts.outputs_in_order())
    total = experts.summed(inside, in_order, x.size)
    # Expert numbers once sorted and once cast to be counted, and the counts.
    frame = 8 * experts.ROWS + 4 * experts.ROWS + 4 * E
    pen.operators.extend(replace(operator, workspace=frame) for operator in inside.operators)
    pen.hold(x, routed.order, sent, out)
    pen.hold(routed.logits, routed.shares, routed.chosen, routed.weights, in_order, ends, back)
    return total


def _computed(pen: Pen, x: Value, ends: Value) -> tuple[Value, Value]:
    """Write the experts; return the tokens sent to them and their outputs."""
    places = experts.indices(name="places of the tokens")
    sent = pen.write(x, output=experts.tokens_sent(pen), keeps=(places,))
    factors, again = "factors of the product", "their weights' gradient needs them"
    up = experts.grouped(pen, sent, (2 * f, h), ends, name=experts.GATES_AND_UPS, why=factors)
    hidden = experts.activated(pen, up)
    return sent, experts.grouped(pen, hidden, (h, f), ends, name=experts.OUTPUTS, why=again)


def _gpt2_mlp(pen: Pen, x: Value) -> Value:
    """Write GPT-2's MLP, whose tanh approximation of GELU is eight operators."""
    bias = pen.block.mlp_bias
    why = "GPT-2's GELU is eight operators; each keeps its own"
    up = pen.linear(x, (f, h), name="MLP up", bias=bias, why=why)
    wide = pen.residual * tokens * f  # a power is fp32 under autocast
    half = pen.write(up, output=Value(name="half of MLP up", size=up.size, why=why))
    base = up
    if up.size != wide:
        base = pen.write(up, output=Value(name="fp32 MLP up", size=wide, why=why))
    cube = Value(name="cube", size=wide)
    pen.write(base, output=cube, keeps=(base,))
    cube = pen.write(cube, output=Value(name="scaled cube", size=wide))
    inner = pen.write(up, cube, output=Value(name="sum", size=wide), hands_on=True)
    inner = pen.write(inner, output=Value(name="scaled sum", size=wide))
    tanh = Value(name="tanh", size=wide, why=why)
    pen.write(inner, output=tanh, keeps=(tanh,))
    plus = pen.write(tanh, output=Value(name="1 + tanh", size=wide, why=why), hands_on=True)
    hidden = Value(name="MLP hidden", size=wide, why="input of the down matrix")
    uncast = (wide, half.size) if half.size != wide else (ZERO, ZERO)
    pen.write(half, plus, output=hidden, keeps=(half, plus), uncast=uncast)
    return pen.linear(hidden, (h, f), name="MLP result", bias=bias, why=pen.of_branch)
