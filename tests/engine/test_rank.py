"""What one rank has: stages of a pipeline, parts of tensors, and what its layers keep."""

import pytest
from sympy import expand

from engine.architecture import Experts
from engine.estimate import ledger, ledgers
from engine.ledger import Category, Phase
from engine.rank import part_of
from engine.stacks.tapes import layer
from engine.stages import Stage, differing, stages
from engine.structure import structure_of
from engine.symbols import a, b, d, expression, f, h, k, m, s, s_t

MEGATRON = {
    "implementation": "megatron",
    "precision": "mixed-fp32-grad",
    "optimizer": "adamw-fused",
    "loss": "fused",
}
SMALL = {"layers": 8, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1408, "vocab": 4096}
STATISTICS = {"norm statistics", "log-sum-exp"}


@pytest.fixture
def split(scenario):
    """Build a scenario on the megatron stack."""

    def build(shape=SMALL, **values):
        return scenario(shape=shape, **(MEGATRON | {"sequence": 1024} | values))

    return build


def kept_a_layer(made):
    """Bytes that a layer keeps, but for statistics, over the symbols of a rank."""
    tape = layer(structure_of(made, differing(made)[0]).block)
    return expand(sum(expression(v.size) for v in tape.saved if v.name not in STATISTICS))


@pytest.mark.parametrize(
    ("pipeline", "passes", "in_flight"),
    [(1, 8, [1]), (2, 8, [2, 1]), (4, 8, [4, 3, 1]), (8, 8, [8, 7, 1]), (4, 2, [2, 2, 1])],
)
def test_a_stage_has_as_many_micro_batches_in_flight_as_stages_from_it_on(
    split, pipeline, passes, in_flight
):
    found = differing(split(pipeline=pipeline, gradient_accumulation=passes))
    assert [stage.in_flight for stage in found] == in_flight
    assert {stage.layers for stage in found} == {8 // pipeline}


def test_stages_have_names():
    ends = {"first": (True, False), "middle": (False, False), "last": (False, True)}
    for name, (first, last) in {"only": (True, True), **ends}.items():
        assert Stage(end=1, dense=1, first=first, last=last).name == name


@pytest.mark.parametrize("tensor", [1, 2, 4])
@pytest.mark.parametrize("pipeline", [1, 2, 8])
@pytest.mark.parametrize("tied", [False, True])
def test_the_matrices_of_all_ranks_are_the_models(split, tensor, pipeline, tied):
    made = split(SMALL | {"tied": tied}, tensor=tensor, pipeline=pipeline, gradient_accumulation=2)
    kinds = [part_of(made, stage) for stage in differing(made)]
    of_first, of_last = kinds[0], kinds[-1]
    between = kinds[1:-1] * (pipeline - 2)
    held = tensor * sum(
        t.size * t.copies
        for part in ([of_first] if pipeline == 1 else [of_first, *between, of_last])
        for t in part.tensors
        if "norm" not in t.name
    )
    a = made.architecture
    whole = sum(t.size * t.copies for t in a.tensors if "norm" not in t.name)
    assert held == whole + (a.vocab * a.hidden if tied and pipeline > 1 else 0)


def test_the_first_stage_has_the_embedding_and_the_last_the_final_norm_and_the_head(split):
    made = split(pipeline=2, gradient_accumulation=2)
    first, last = (part_of(made, stage) for stage in differing(made))
    of_layers = 4 * (2 * 512 * 512 + 2 * 256 * 512 + 3 * 512 * 1408 + 2 * 512)
    assert sum(t.size * t.copies for t in first.tensors) == of_layers + 4096 * 512
    assert sum(t.size * t.copies for t in last.tensors) == of_layers + 4096 * 512 + 512


def test_while_one_micro_batch_runs_backward_those_of_the_others_wait(split):
    first = ledgers(split(pipeline=4, gradient_accumulation=8))[0]
    assert first.values[m] == 4
    kept = first.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST) // 4
    assert first.size("saved for the other micro-batches") == 3 * kept


def test_a_vocabulary_is_padded_for_tensor_ranks(split):
    made = split(SMALL | {"vocab": 50257}, tensor=2)
    # 50,257 to 50,432, a multiple of 256
    assert part_of(made, differing(made)[0]).architecture.vocab == 25216


def test_fewer_key_value_heads_than_tensor_ranks_are_copied(split):
    made = split(SMALL | {"kv_heads": 2}, tensor=4)
    assert part_of(made, differing(made)[0]).architecture.kv_heads == 1


# arXiv 2205.05198 (Korthikanti et al.), table 2: bytes a layer, of a GPT block with dropout and
# materialised scores. Symbols are a rank's, so a/t is `a`, h/t is `a·d`, 4h/t is `f`.
TABLE_2 = {
    "none": 10 * b * s_t * h + b * s * (8 * a * d + 4 * f) + 5 * b * s**2 * a,
    "selective": 10 * b * s_t * h + b * s * (8 * a * d + 4 * f),
    "full": 2 * b * s_t * h,
}


@pytest.mark.parametrize("recompute", TABLE_2)
@pytest.mark.parametrize("sequence_parallel", [False, True])
def test_a_gpt_layer_keeps_what_korthikanti_et_al_count(split, gpt, recompute, sequence_parallel):
    made = split(
        {"heads": 8, "hidden": 512, "ffn": 2048, "positions": 2048} | gpt,
        tensor=4,
        sequence_parallel=sequence_parallel,
        attention="eager",
        recompute=recompute,
        dropout=0.1,
    )
    assert kept_a_layer(made).subs({k: a}) == expand(TABLE_2[recompute])


@pytest.mark.parametrize("t", [1, 2, 8])
def test_korthikanti_et_als_34_bytes_are_those_of_one_rank(t):
    whole = TABLE_2["none"].subs({s_t: s})
    of_rank = whole.subs({d: h / a, f: 4 * h})
    assert expand(of_rank - b * s * (34 * h + 5 * a * s)) == 0
    shared = TABLE_2["none"].subs({s_t: s / t, a: a / t, f: 4 * h / t}).subs({d: h / a})
    assert expand(shared - b * s * (34 * h + 5 * a * s) / t) == 0


def test_a_llama_layer_keeps_8h_4q_4kv_6f(split):
    kept = kept_a_layer(split(tensor=2, sequence_parallel=True))
    assert kept == expand(8 * b * s_t * h + b * s * (4 * a * d + 4 * k * d + 6 * f))


def test_all_to_all_keeps_the_attention_output_twice(split):
    ring = kept_a_layer(split(context=2))
    assert kept_a_layer(split(context=2, exchange="a2a")) - ring == 2 * b * s * a * d


def test_the_fullest_stage_is_the_answer(split):
    made = split(pipeline=4, gradient_accumulation=8, micro_batch=4)
    books = ledgers(made)
    assert ledger(made) == max(books, key=lambda book: book.peak)
    assert [book.stage.name for book in books] == ["first", "middle", "last"]
    assert Phase.LOSS not in books[0].phases
    assert Phase.LOSS in books[-1].phases


def test_a_pipeline_s_first_stage_keeps_what_the_whole_model_keeps(split):
    alone = ledger(split(gradient_accumulation=8))
    first = ledgers(split(pipeline=4, gradient_accumulation=8))[0]

    def saved(book):
        return book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)

    assert saved(first) == saved(alone)


def test_a_rank_has_experts_where_the_model_has(split):
    made = split()
    assert part_of(made, differing(made)[0]).experts_held == 0
    made = split(SMALL | {"experts": Experts(routed=8, per_token=2, ffn=64)}, data=4, expert=4)
    assert part_of(made, differing(made)[0]).experts_held == 2


def test_layers_without_experts_lie_in_the_first_stages(scenario):
    experts = Experts(routed=8, per_token=2, ffn=64, dense_layers=2)
    made = scenario(
        shape=SMALL | {"experts": experts}, pipeline=4, gradient_accumulation=4, **MEGATRON
    )
    assert [stage.dense for stage in stages(made)] == [2, 0, 0, 0]
    assert [stage.moe for stage in stages(made)] == [0, 2, 2, 2]
    assert [(stage.begin, stage.end) for stage in stages(made)] == [(0, 2), (2, 4), (4, 6), (6, 8)]


def test_a_stage_has_no_more_windowed_layers_than_layers(split):
    made = split(SMALL | {"window": 16, "window_layers": 6}, pipeline=4, gradient_accumulation=4)
    assert part_of(made, differing(made)[0]).architecture.window_layers == 2


def test_one_context_rank_exchanges_nothing_in_whatever_way(split):
    assert kept_a_layer(split(exchange="a2a")) == kept_a_layer(split())


def test_symbols_stand_for_whole_numbers(split):
    experts = {"experts": Experts(routed=8, per_token=2, ffn=64)}
    for made in (split(SMALL | experts, context=2), split(tensor=2, sequence_parallel=True)):
        assert {type(number) for number in ledger(made).values.values()} == {int}
