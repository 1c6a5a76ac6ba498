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
P_dense_shard = symbol("P_dense_shard")
P_ends_shard = symbol("P_ends_shard")
P_layer_matmul = symbol("P_layer_matmul")
P_largest = symbol("P_largest")
P_small, P_blocks, P_factors = symbol("P_small"), symbol("P_blocks"), symbol("P_factors")
P_paged = symbol("P_paged")
P_hidden, P_matrix, d_matrix = symbol("P_hidden"), symbol("P_matrix"), symbol("d_matrix")
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
R_chunk = symbol("R_chunk")
D, f_d, f_s, T_e = (symbol(name) for name in ("D", "f_d", "f_s", "T_e"))
r_q, r_kv, d_n, d_r, d_v = (symbol(name) for name in ("r_q", "r_kv", "d_n", "d_r", "d_v"))
P_experts, N_experts, P_shapes = (symbol(name) for name in ("P_experts", "N_experts", "P_shapes"))
r_a, P_a, P_a_layer = symbol("r_a"), symbol("P_a"), symbol("P_a_layer")
P_4, Q_64, Q_256 = symbol("P_4"), symbol("Q_64"), symbol("Q_256")
n, T, T_w, T_blocks, T_w_blocks = (symbol(name) for name in ("n", "T", "T_w", "T_up", "T_w_up"))
T_most, V_all = symbol("T_most"), symbol("V_all")
L_w, B_kv, B_block, n_free = (symbol(name) for name in ("L_w", "B_kv", "B_block", "n_free"))
P_q, Q_scales, P_q_largest = (symbol(name) for name in ("P_q", "Q_scales", "P_q_largest"))
R_rotary, M_passing = symbol("R_rotary"), symbol("M_passing")
M, W = symbol("M"), symbol("W")
C_low, C_high = symbol("C_low"), symbol("C_high")

# Sizes of activations are polynomials in these; a polynomial ring adds and compares them fast.
SIZES = (
    *(b, s, h, f, V, L, a, k, d, positions, r, E, K, s_t, c, m),
    *(D, f_d, f_s, T_e, r_q, r_kv, d_n, d_r, d_v),
)
PARAMETERS = (
    *(N, P, P_layer, P_layer_matmul, P_ends),
    *(P_layer_shard, P_dense_shard, P_ends_shard),
)
FULL, BOTH = (
    (J_full, R_full, J_full_late, R_full_late),
    (J_both, R_both, J_both_late, R_both_late),
)
REDUCING = (
    *(J_full, J_own, J_both, R_full, R_own, R_both),
    *(J_full_late, J_both_late, R_full_late, R_both_late),
    *(G_heads, G_table, R_loss, R_norm, R_last, R_table),
)
ADAPTERS = (r_a, P_a, P_a_layer)
RING = PolyRing((*SIZES, *PARAMETERS, *REDUCING, R_chunk, *ADAPTERS), ZZ)

MEANINGS: Mapping[Symbol, str] = {
    b: "micro-batch: sequences in one forward pass",
    s: "sequence: tokens of a sequence; in inference those in one forward pass of the prefill",
    h: "hidden size",
    f: "width of the MLP",
    V: "vocabulary entries",
    L: "layers",
    a: "query heads",
    k: "key-value heads",
    d: "head size",
    P: "parameters",
    N: "data-parallel ranks",
    P_layer: "parameters of one layer, the first where they differ",
    P_ends: "parameters of embedding, final norm and head",
    P_shard: "parameters on the fullest rank, shards padded to whole rows",
    P_layer_shard: "one layer's parameters on the fullest rank, padded to whole rows; of one with "
    "experts where there are some",
    P_dense_shard: "the same of a layer that has one MLP where others have experts",
    P_ends_shard: "the same of embedding, final norm and head",
    P_layer_matmul: "parameters of one layer's matrices",
    P_largest: "parameters of the largest tensor that is trained",
    P_small: "parameters of tensors too small for 8-bit states, of those that a rank steps",
    P_blocks: "blocks with a scale of their own in the 8-bit states of the others",
    P_factors: "rows and columns of the matrices that a rank steps, and elements of its vectors",
    P_paged: "parameters of tensors of 100,000 elements or more, of those that a rank steps",
    P_hidden: "parameters of the layers' matrices, which Muon steps",
    P_matrix: "parameters of the largest of them",
    d_matrix: "its shorter side",
    positions: "rows of the position table",
    r: "elements of a head that rotary positions turn",
    E: "routed experts of a layer",
    K: "experts that a token is sent to",
    s_t: "tokens of a sequence that a rank has outside attention and MLP (sequence parallel)",
    c: "context-parallel ranks",
    m: "micro-batches in flight on this stage of the pipeline",
    D: "layers with one MLP in place of experts, on this stage of the pipeline",
    f_d: "width of that MLP",
    f_s: "width of the shared experts, together",
    T_e: "rows of the experts of a layer: tokens times K, each expert's filled up to its capacity",
    r_q: "rank of the queries' low-rank projection",
    r_kv: "rank of the keys' and values' low-rank projection",
    d_n: "elements of a latent query or key head without position",
    d_r: "elements of it with rotary position",
    d_v: "elements of a latent value head",
    P_experts: "parameters of routed experts on this rank",
    N_experts: "ranks that hold the same experts",
    P_shapes: "elements of one weight of each shape that layers and head have",
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
    R_chunk: "rows of a chunk of the chunked loss",
    r_a: "rank of the adapters",
    P_a: "parameters of all adapters, which alone are trained",
    P_a_layer: "parameters of one layer's adapters",
    P_4: "parameters of the matrices in 4 bits",
    Q_64: "scales of these, one for each block of 64",
    Q_256: "fp32 numbers that scale the scales: one for each 256 of them, and each matrix's mean",
    n: "sequences that are alive at once",
    T: "tokens of each of them, prompt and answer",
    T_w: "tokens that a windowed layer keeps of them",
    T_blocks: "T, rounded up to whole blocks",
    T_w_blocks: "T_w, rounded up to whole blocks",
    T_most: "tokens of a sequence in the layer that keeps most of them",
    V_all: "vocabulary entries of all tensor ranks together",
    L_w: "layers that keep a window alone",
    B_kv: "bytes that a layer keeps of one token's keys and values, scales with them",
    B_block: "bytes of a block of tokens in all layers",
    n_free: "blocks of the pool that no sequence has",
    P_q: "parameters of the layers' matrices",
    Q_scales: "bytes of their scales",
    P_q_largest: "parameters of the largest of them",
    R_rotary: "rows of the rotary table: the longest sequence that the model takes",
    M_passing: "peak of allocated bytes, without weights and cache",
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
    terms.sort(key=cmp_to_key(_compared))
    numbers = [term for term in terms if isinstance(term, Integer)]
    others = [term for term in terms if not isinstance(term, Integer)]
    return Add(*numbers, *others, evaluate=False)


@cache
def _compared(one: Expr, other: Expr) -> int:
    """Return sympy's own order of two terms: few there are, and they meet over and over."""
    order: int = one.compare(other)
    return order


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
    return largest(*(expression(one) for one in maximal(polynomials)))


def maximal(polynomials: Iterable[PolyElement]) -> tuple[PolyElement, ...]:
    """Return those of `polynomials` that no other one covers, each once, in the order given."""
    distinct = tuple(dict.fromkeys(polynomials))
    # A term is a long tuple of powers; by its number it is found sooner.
    numbers: dict[tuple[int, ...], int] = {}
    rows = [{numbers.setdefault(t, len(numbers)): c for t, c in one.items()} for one in distinct]
    sums = [sum(row.values()) for row in rows]
    kept: list[int] = []
    # What covers another one has the larger sum of coefficients, so it is met before it.
    for index in sorted(range(len(distinct)), key=sums.__getitem__, reverse=True):
        row = rows[index]
        if not any(_covers(rows[other], row) for other in kept):
            kept.append(index)
    return tuple(distinct[index] for index in sorted(kept))


def _covers(larger: Mapping[int, int], smaller: Mapping[int, int]) -> bool:
    found = larger.get
    for term, coefficient in smaller.items():
        if found(term, 0) < coefficient:
            return False
    return all(c >= 0 or smaller.get(term, 0) <= c for term, c in larger.items())


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
        return _compiled_product(expression, parts)
    return _compiled_function(expression, parts)


def _compiled_product(expression: Mul, parts: Sequence[Evaluate]) -> Evaluate:
    symbols = tuple(part for part in expression.args if isinstance(part, Symbol))
    number = int(prod([part for part in expression.args if isinstance(part, Integer)]))
    if len(symbols) + any(isinstance(part, Integer) for part in expression.args) < len(parts):
        return lambda values: prod([part(values) for part in parts])
    if len(symbols) == 1:
        (x,) = symbols
        return lambda values: number * values[x]
    if len(symbols) == 2:
        x, y = symbols
        return lambda values: number * values[x] * values[y]
    if len(symbols) == 3:
        x, y, z = symbols
        return lambda values: number * values[x] * values[y] * values[z]
    return lambda values: number * prod([values[x] for x in symbols])


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
