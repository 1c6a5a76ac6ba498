"""The symbols of a scenario, and the exact value of an expression over them.

Every size in the project is an integer number of bytes, so expressions hold integers, sums,
products, powers, `Max`, `Min` and `ceil_div` only: no rational and no float ever appears.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cmp_to_key
from math import prod

import sympy
from sympy import ZZ, Add, Basic, Expr, Integer, Max, Min, Mul, Pow, Symbol
from sympy.polys.rings import PolyElement, PolyRing


class ceil_div(sympy.Function):  # noqa: N801 - sympy names functions in lower case
    """`ceil_div(x, n)` is x / n rounded up: what each of n ranks holds of x elements."""

    nargs = 2

    @classmethod
    def eval(cls, x: Expr, n: Expr) -> Expr | None:
        """Return the number where both are numbers, x where n is 1, else stay symbolic."""
        if n == 1:
            return x
        if x.is_Integer and n.is_Integer:
            rounded: Expr = Integer(-(-int(x) // int(n)))
            return rounded
        return None


def symbol(name: str) -> Symbol:
    """Return a symbol for a positive whole number."""
    return Symbol(name, integer=True, positive=True)


b, s, h, f, V, L = (symbol(name) for name in "bshfVL")
a, k, d = (symbol(name) for name in "akd")
P, N = symbol("P"), symbol("N")
P_layer = symbol("P_layer")
P_ends = symbol("P_ends")
P_shard = symbol("P_shard")
P_layer_shard = symbol("P_layer_shard")
P_ends_shard = symbol("P_ends_shard")
P_layer_matmul = symbol("P_layer_matmul")
P_largest = symbol("P_largest")
positions = symbol("n_ctx")
r = symbol("r")
E, K = symbol("E"), symbol("K")
s_t, c, m = symbol("s_t"), symbol("c"), symbol("m")
P_touched, P_piece = symbol("P_touched"), symbol("P_piece")
G_first, G_last = symbol("G_first"), symbol("G_last")
J_full, J_own, J_both = (symbol(f"J_{time}") for time in ("full", "own", "both"))
R_full, R_own, R_both = (symbol(f"R_{time}") for time in ("full", "own", "both"))
J_full_late, J_both_late = symbol("J_full_late"), symbol("J_both_late")
R_full_late, R_both_late = symbol("R_full_late"), symbol("R_both_late")
G_heads, G_table = symbol("G_heads"), symbol("G_table")
R_loss, R_norm, R_last, R_table, R_end = (
    symbol(f"R_{at}") for at in ("loss", "norm", "last", "table", "end")
)
M, W = symbol("M"), symbol("W")
C_low, C_high = symbol("C_low"), symbol("C_high")

# Sizes of activations are polynomials in these; a polynomial ring adds and compares them fast.
SIZES = (b, s, h, f, V, L, a, k, d, positions, r, E, K, s_t, c, m)
PARAMETERS = (N, P, P_layer, P_layer_matmul, P_ends, P_layer_shard, P_ends_shard)
FULL, BOTH = (
    (J_full, R_full, J_full_late, R_full_late),
    (J_both, R_both, J_both_late, R_both_late),
)
REDUCING = (
    *(J_full, J_own, J_both, R_full, R_own, R_both),
    *(J_full_late, J_both_late, R_full_late, R_both_late),
    *(G_heads, G_table, R_loss, R_norm, R_last, R_table),
)
RING = PolyRing((*SIZES, *PARAMETERS, *REDUCING), ZZ)

MEANINGS: Mapping[Symbol, str] = {
    b: "micro-batch: sequences in one forward pass",
    s: "sequence: tokens of a sequence",
    h: "hidden size",
    f: "width of the MLP",
    V: "vocabulary entries",
    L: "layers",
    a: "query heads",
    k: "key-value heads",
    d: "head size",
    P: "parameters",
    N: "data-parallel ranks",
    P_layer: "parameters of one layer",
    P_ends: "parameters of embedding, final norm and head",
    P_shard: "parameters on the fullest rank, shards padded to whole rows",
    P_layer_shard: "one layer's parameters on the fullest rank, padded to whole rows",
    P_ends_shard: "the same of embedding, final norm and head",
    P_layer_matmul: "parameters of one layer's matrices",
    P_largest: "parameters of the largest tensor",
    positions: "rows of the position table",
    r: "elements of a head that rotary positions turn",
    E: "routed experts of a layer",
    K: "experts that a token is sent to",
    s_t: "tokens of a sequence that a rank has outside attention and MLP (sequence parallel)",
    c: "context-parallel ranks",
    m: "micro-batches in flight on this stage of the pipeline",
    P_touched: "parameters of the tensors that the fullest rank's part of the weights touches",
    P_piece: "most parameters of one tensor in that part",
    G_first: "gradients that rank has when the backward pass reaches the last layer",
    J_full: "layers done when the bucket is copied to be reduced for the first time",
    R_full: "elements of that copy",
    J_own: "layers done when that rank has its first gradients",
    R_own: "elements of these",
    J_both: "layers done when the bucket is copied beside such gradients for the first time",
    R_both: "elements of copy and gradients, the most of all such times",
    J_full_late: "J_full, where that is behind the layer's attention",
    R_full_late: "R_full then, with the gradient that has just come",
    J_both_late: "J_both, where that is behind the layer's attention",
    R_both_late: "R_both then, with the gradient that has just come",
    G_last: "gradients that rank has when the backward pass reaches the first layer",
    G_heads: "further ones that it has when it reaches that layer's attention",
    G_table: "further ones that it has when it reaches the embedding",
    R_loss: "elements of bucket and gradients while the head's gradients come",
    R_norm: "what of that there is while the final norm runs backward",
    R_last: "elements of copies while gradients of the first layer come",
    R_table: "elements of copies and gradients while the embedding's gradient comes",
    R_end: "elements of gradients and copies while the last ones are reduced",
    M: "peak of allocated bytes",
    W: "bytes of the cuBLAS workspace",
    C_low: "lower estimate of the CUDA context",
    C_high: "upper estimate of the CUDA context",
}


def expression(polynomial: PolyElement) -> Expr:
    """Return `polynomial` as an expression.

    The same as `polynomial.as_expr()`, but put together without having sympy simplify a sum that
    is simple already, for which it would import its tensors and take twice as long to start.
    """
    terms = [_product(coefficient, powers) for powers, coefficient in polynomial.terms()]
    if len(terms) < 2:
        return terms[0] if terms else Integer(0)
    terms.sort(key=cmp_to_key(Basic.compare))
    numbers = [term for term in terms if isinstance(term, Integer)]
    others = [term for term in terms if not isinstance(term, Integer)]
    return Add(*numbers, *others, evaluate=False)


@cache
def _product(coefficient: int, powers: tuple[int, ...]) -> Expr:
    factors = [x if n == 1 else x**n for x, n in zip(RING.symbols, powers, strict=True) if n]
    product: Expr = Mul(coefficient, *factors)
    return product


def largest_of(polynomials: Iterable[PolyElement]) -> Expr:
    """Return the maximum of `polynomials`, without those that another one always covers.

    All symbols stand for positive numbers, so a polynomial is covered where no coefficient of
    the other is smaller.
    """
    kept: list[PolyElement] = []
    for one in dict.fromkeys(polynomials):
        if any(_covers(other, one) for other in kept):
            continue
        kept = [other for other in kept if not _covers(one, other)]
        kept.append(one)
    return largest(*(expression(one) for one in kept))


def _covers(larger: PolyElement, smaller: PolyElement) -> bool:
    return all(larger.get(term, 0) >= c for term, c in smaller.items()) and all(
        c >= 0 or smaller.get(term, 0) <= c for term, c in larger.items()
    )


def largest(*sizes: Expr) -> Expr:
    """Return the maximum of `sizes` as a sympy `Max`, without asking which is larger.

    Put together as `Max(*sizes, evaluate=False)` does it, but in the order given: sorting the
    arguments by their structure would take longer than all else that a ledger needs.
    """
    distinct = tuple(dict.fromkeys(sizes))
    if len(distinct) == 1:
        return distinct[0]
    made: Expr = Expr.__new__(Max, *distinct)
    made._argset = frozenset(distinct)  # type: ignore[attr-defined] # noqa: SLF001 - as Max itself
    return made


Evaluate = Callable[[Mapping[Symbol, int]], int]


@cache
def compiled(expression: Basic) -> Evaluate:
    """Return a function that gives the exact integer value of `expression`.

    Raises:
        TypeError: the expression holds something else than the module's docstring allows.
    """
    if isinstance(expression, Integer):
        number = int(expression)
        return lambda _values: number
    if isinstance(expression, Symbol):
        return lambda values: values[expression]
    parts = tuple(compiled(part) for part in expression.args)
    if isinstance(expression, Add):
        return lambda values: sum([part(values) for part in parts])
    if isinstance(expression, Mul):
        return lambda values: prod([part(values) for part in parts])
    return _compiled_function(expression, parts)


def _compiled_function(expression: Basic, parts: Sequence[Evaluate]) -> Evaluate:
    if isinstance(expression, Pow) and _is_whole_power(expression):
        base, exponent = parts[0], int(expression.exp)
        return lambda values: base(values) ** exponent
    if isinstance(expression, Max):
        return lambda values: max([part(values) for part in parts])
    if isinstance(expression, Min):
        return lambda values: min([part(values) for part in parts])
    if isinstance(expression, ceil_div):
        x, n = parts
        return lambda values: -(-x(values) // n(values))
    message = f"no exact integer value for {type(expression).__name__}"
    raise TypeError(message)


def _is_whole_power(expression: Pow) -> bool:
    return isinstance(expression.exp, Integer) and int(expression.exp) > 0
