"""Answers of several numbers: how their terms hang together, and the kinds that ask for them."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from engine.catalog import accelerators, models
from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Category, Phase
from engine.scenario import Parallel, Workload
from engine.settings import Settings
from engine.stages import stages
from engine.units import GB, GIB, MIB
from problems.answers.answer import FULL_CREDIT
from problems.answers.count import CountAnswer
from problems.answers.ledger import LedgerAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.table import TableAnswer
from problems.answers.terms import Follows, Term, TermsAnswer
from problems.bank.activations.checkpoint_table import Blocks
from problems.bank.activations.sequence_parallel_table import Block
from problems.bank.activations.stages_in_flight import Pipeline
from problems.bank.everything_else.loss_ledger import COPY, EACH, LOGITS, Loss
from problems.bank.levers.plan_states import Plan
from problems.bank.levers.preference_states import Models
from problems.bank.peak.per_sequence import line_answer
from problems.bank.states.states_ledger import SENIOR, states_answer
from problems.bank.states.zero_table import zero_answer
from problems.model_states import parts_of
from problems.registry import as_json, build, kinds
from quiz.grading import grade

SEEDS = 20


def size(name, gb, *aliases, follows=None, **how):
    answer = QuantityAnswer(value=Fraction(gb) * GB, **how)
    return Term(name=name, aliases=aliases, answer=answer, follows=follows)


@pytest.mark.parametrize(
    ("follows", "numbers", "value"),
    [
        (Follows(how="sum", of=("a", "b")), {"a": 2, "b": 3}, 5),
        (Follows(how="sum", of=("a",), times=Fraction(3, 2)), {"a": 2, "b": 3}, 3),
        (Follows(how="largest", of=("a", "b")), {"a": 2, "b": 3}, 3),
        (Follows(how="fits", of=("a", "b"), room=Fraction(10)), {"a": 2, "b": 3}, 3),
        (Follows(how="fits", of=("a", "b"), room=Fraction(10)), {"a": 0, "b": 3}, 0),
    ],
)
def test_a_term_follows_from_those_before_it(follows, numbers, value):
    assert follows.value({name: Fraction(one) for name, one in numbers.items()}) == value


TOTAL = Follows(how="sum", of=("weights", "moments"))


@pytest.mark.parametrize(
    ("terms", "fault"),
    [
        ((size("weights", 1),), "there are 1 terms"),
        (tuple(size(f"row {n}", n) for n in range(1, 10)), "there are 9 terms"),
        ((size("weights", 1), size("Weights", 2)), "2 terms may be typed as weights"),
        ((size("weights", 1), size("moments", 2, "w-eights")), "may be typed as weights"),
        ((size("weights", 1), size("m", 2)), "'m' is no name"),
        ((size("weights", 1), size("1 2", 2)), "'12' is no name"),
        ((size("total", 1, follows=TOTAL), size("weights", 1)), "not before it"),
        (
            (size("weights", 1), size("moments", 2), size("total", 4, follows=TOTAL)),
            "total does not follow",
        ),
    ],
)
def test_terms_that_do_not_fit_each_other_are_refused(terms, fault):
    with pytest.raises(ValueError, match=fault):
        LedgerAnswer(terms=terms)


def test_the_rows_of_a_table_are_of_one_band():
    with pytest.raises(ValueError, match="not of one unit and band"):
        TableAnswer(terms=(size("one", 1), size("two", 2, band="estimate")), over="rows")


def test_every_term_is_said_and_written():
    answer = LedgerAnswer(
        terms=(
            size("weights", 14),
            size("moments", 56),
            size("total", 70, follows=TOTAL),
            Term(name="cards", answer=CountAnswer(value=1, noun="GPUs")),
        )
    )
    assert answer.said == "weights 14.00 GB, moments 56.00 GB, total 70.00 GB, cards 1 GPU"
    written = json.loads(json.dumps(answer.as_json))
    assert written["type"] == "ledger"
    assert [term["name"] for term in written["terms"]] == list(answer.names)
    assert written["terms"][2]["follows"]["of"] == ["weights", "moments"]


def of_several():
    return [name for name in kinds() if isinstance(build(name, 0).answer, TermsAnswer)]


every_kind = pytest.mark.parametrize("kind", of_several())


@cache
def drawn(kind):
    return tuple(build(kind, seed) for seed in range(SEEDS))


@every_kind
def test_prompts_state_the_unit_of_a_bare_number_and_how_near_is_full_credit(kind):
    for problem in drawn(kind):
        assert "GB is 10^9 bytes and the unit of a bare number" in problem.prompt
        bands = {t.answer.band for t in problem.answer.terms if t.answer.number is not None}
        for band in bands:
            assert f"full credit within {int(100 * FULL_CREDIT[band])}% for" in problem.prompt


@every_kind
def test_the_last_step_says_every_term(kind):
    for problem in drawn(kind):
        assert problem.solution[-1].text.endswith(f": {problem.answer.said}")


@every_kind
def test_the_right_numbers_earn_all_of_the_credit_as_they_are_said_and_bare(kind):
    for problem in drawn(kind)[:12]:
        assert grade(problem, problem.answer.said).score == 1, problem.id
        bare = re.sub(r"(?<=\d),(?=\d{3})", "", "; ".join(_bare(problem.answer)))
        assert grade(problem, bare).score == 1, bare


def _bare(answer):
    for term in answer.terms:
        number = term.answer.number
        if number is None or number.unit == "1":
            yield str(int(term.answer.value))
        else:
            yield f"{float(term.answer.value) / GB:.4g} GB"


@every_kind
def test_the_numbers_on_paper_are_near_enough(kind):
    for problem in drawn(kind):
        text = "\n".join(s.text for s in problem.solution if s.depth == "whiteboard")
        said = [
            float(number.replace(",", "")) * {"GB": GB, "MB": GB / 1000}[unit]
            for number, unit in re.findall(r"([\d,]+(?:\.\d+)?) (GB|MB)", text)
        ]
        for term in problem.answer.terms:
            number = term.answer.number
            # A term in groups is a sum of what stands on paper.
            if number is None or number.unit == "1" or kind == "peak-ledger":
                continue
            within = 0.01 if number.band == "count" else FULL_CREDIT[number.band]
            near = min(abs(one / float(number.value) - 1) for one in said)
            assert near <= within, (problem.id, term.said)


@every_kind
def test_each_mistake_is_of_a_term_and_is_told_there(kind):
    for problem in drawn(kind)[:6]:
        names = problem.answer.names
        assert len(problem.mistakes) >= 2
        for mistake in problem.mistakes:
            assert mistake.term in names
            assert not problem.answer.part(mistake.term).number or mistake.value > 0


@every_kind
def test_a_mistake_that_is_typed_is_named(kind):
    named = told = 0
    for problem in drawn(kind)[:6]:
        for mistake in problem.mistakes:
            if mistake.also or isinstance(problem.answer.part(mistake.term), CountAnswer):
                continue
            typed = f"{mistake.term} {float(mistake.value):.4g}"
            number = problem.answer.part(mistake.term).number
            verdict = grade(problem, typed + (" bytes" if number.unit == "bytes" else ""))
            told += 1
            named += verdict.mistake == mistake.name
    assert named >= 0.95 * told > 0


@every_kind
def test_each_line_of_several_survives_json(kind):
    problem = as_json(drawn(kind)[1])
    assert {row["term"] for row in problem["mistakes"]} <= {
        term["name"] for term in problem["answer"]["terms"]
    }


@every_kind
def test_no_two_problems_are_alike_and_their_numbers_spread(kind):
    problems = drawn(kind)
    assert len({problem.prompt for problem in problems}) == SEEDS
    first = [Fraction(problem.answer.terms[0].answer.value) for problem in problems]
    assert max(first) >= 10 * min(first) > 0


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_states_agree_with_the_ledger_of_the_engine(seed):
    problem = build("states-ledger", seed)
    if problem.scenario is None:
        return
    book = ledger(problem.scenario)
    total = Fraction(book.total(*MODEL_STATES, phase=Phase.STEP))
    # Shards are padded in the ledger, tensor by tensor.
    assert abs(problem.answer.part("total").value / total - 1) < Fraction(1, 100)


def test_the_loss_agrees_with_the_ledger_of_the_engine():
    scenario = next(
        problem.scenario
        for problem in (build("logits-spike", seed) for seed in range(50))
        if problem.scenario.recipe.precision == "mixed"
    )
    loss = Loss(names=(LOGITS, COPY), tokens=scenario.tokens, vocab=scenario.architecture.vocab)
    book = ledger(scenario)
    assert loss.size(LOGITS, COPY) == book.size("logits and their fp32 copy")


def test_stages_hold_what_the_engine_says():
    base = build("model-activations", 1).scenario
    many, layers = 3, base.architecture.layers
    for micro_batches in (2, 8):
        settings = Settings(
            model=base.model,
            workload=Workload(gradient_accumulation=micro_batches, sequence=512),
            recipe=base.recipe,
            parallel=Parallel(pipeline=many),
            hardware=replace(base.hardware, gpus=many),
        )
        pipeline = Pipeline(layers=layers, many=many, micro_batches=micro_batches, each=1)
        held = [stage.in_flight * stage.layers for stage in stages(settings)]
        assert [pipeline.kept(stage) for stage in range(many)] == held


def test_every_model_and_card_may_be_asked_for_its_states():
    prompts = "\n".join(build("states-ledger", seed).prompt for seed in range(400))
    missing = [m.title for m in models().values() if f"{m.title} (P" not in prompts]
    assert len(missing) <= 0.1 * len(models()), missing


def test_the_peak_is_its_categories():
    for problem in drawn("peak-ledger")[:5]:
        book = ledger(problem.scenario)
        phase = book.peak_phase
        assert problem.answer.part("activations").value == book.total(
            Category.ACTIVATIONS, phase=phase
        )
        assert problem.answer.part("total").value == book.peak


def test_moments_are_phases_of_the_ledger():
    for problem in drawn("moments-ledger")[:5]:
        book = ledger(problem.scenario)
        assert problem.answer.part("loss").value == book.phases[Phase.LOSS]
        assert problem.answer.part("step").value == book.phases[Phase.STEP]
        assert problem.answer.part("peak").value == book.peak


@pytest.mark.parametrize(
    ("made", "unit", "expected"),
    [
        pytest.param(
            "mixed 7", GB, [14, 14, 28, 56, 112], id="shivam2003.com LLM training questions"
        ),
        pytest.param("fp32 1", GB, [4, 4, 8, 16], id="arinsoracle.blogspot.com 2024/08"),
        pytest.param("mixed-fp32-grad 7", GB, [14, 28, 28, 56, 126], id="NVIDIA/Megatron-LM#654"),
        pytest.param(
            "mixed-fp32-grad 7 1 8",
            GB,
            [14, 28, 3.5, 7, 52.5],
            id="NVIDIA/Megatron-LM#654, sharded over 8",
        ),
        pytest.param("mixed 13", GB, [26, 26, 52, 104, 208], id="jax-ml/scaling-book training.md"),
        pytest.param("mixed 70", GB, [140, 140, 280, 560, 1120], id="distillprep.com peft"),
        pytest.param(
            "pure-bf16 70", GB, [140, 140, 280, 560], id="distillprep.com peft, all in bf16"
        ),
        pytest.param(
            "two gradients 1", GB, [2, 2, 4, 4, 8, 20], id="AI-Hypercomputer/maxtext#606"
        ),
        pytest.param(
            "8-bit 7", GB, [14, 14, 28, 14, 70], id="bitsandbytes-foundation/bitsandbytes#407"
        ),
        pytest.param(
            "fp32 3.408 1 2",
            GB,
            [13.63, 13.63, 13.63, 40.9],
            id="stanford-cs336/assignment2-systems",
        ),
    ],
)
def test_states_asked_for_elsewhere(made, unit, expected):
    name, *rest = re.match(r"(.*?) ([\d.]+)(?: (\d) (\d+))?$", made).groups()
    parts = SENIOR[name][0] if name in SENIOR else parts_of(name, "adamw")
    billions, stage, ranks = rest
    answer = states_answer(parts, round(float(billions) * GB), int(stage or 0), int(ranks or 1))
    assert said(answer, unit) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("billions", "ranks", "expected"),
    [
        pytest.param(7, 4, [112, 49, 38.5, 28], id="lm-sys/FastChat#1110"),
        pytest.param(175, 64, [2800, 733, 388, 43.75], id="harvard-edge/cs249r_book"),
        pytest.param(12.7, 8, [203, 69.9, 47.6, 25.4], id="deepspeedai/DeepSpeed#3734"),
    ],
)
def test_stages_asked_for_elsewhere(billions, ranks, expected):
    answer = zero_answer(parts_of("mixed", "adamw"), round(billions * GB), ranks)
    assert said(answer, GB) == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize(
    ("tokens", "vocab", "unit", "expected"),
    [
        pytest.param(32_768, 128_256, GIB, [7.8, 15.7, 15.7, 39.1], id="stas00/ml-engineering"),
        pytest.param(16_384, 248_320, GB, [8.1, 16.3, 16.3, 40.7], id="huggingface/trl#6858"),
        pytest.param(
            131_072, 150_000, GB, [39.3, 79, 79, 197], id="25621.github.io memory breakdown"
        ),
        pytest.param(
            32_768, 152_064, GB, [10.0, 19.9, 19.9, 49.8], id="hiyouga/LlamaFactory#4642"
        ),
        pytest.param(4096, 151_936, GB, [1.24, 2.5, 2.5, 6.2], id="NVIDIA-NeMo/Automodel#2336"),
    ],
)
def test_losses_asked_for_elsewhere(tokens, vocab, unit, expected):
    answer = Loss(names=tuple(EACH), tokens=tokens, vocab=vocab).answer
    assert said(answer, unit) == pytest.approx(expected, rel=8e-3)


@pytest.mark.parametrize(
    ("layers", "residuals", "checkpoint", "unit", "expected"),
    [
        # A compiled block at batch 4 and length 2,048.
        pytest.param(
            32,
            3651,
            80,
            MIB,
            [116_832, 6211, 8583, 15_245],
            id="stanford-cs336/assignment2-systems",
        ),
        pytest.param(32, 7, 0.25, GIB, [224, 15, 18, 30], id="stas00/ml-engineering"),
    ],
)
def test_checkpoints_asked_for_elsewhere(layers, residuals, checkpoint, unit, expected):
    blocks = Blocks(
        layers=layers, residuals=round(residuals * unit), checkpoint=round(checkpoint * unit)
    )
    assert said(blocks.answer((0, 1, 2, 4)), unit) == pytest.approx(expected, rel=1e-3)


def test_sequence_parallelism_asked_for_elsewhere():
    # cli99/llm-analysis#19: h = 8,192, s = 4,096, tensor parallel 8: 436 and 143 MB a layer.
    block = Block(heads=64, layers=1, sequence=4096, micro_batch=1, degree=8, attention="flash")
    answer = block.answer(accelerators()["h100-80gb"])
    assert said(answer, GB / 1000)[1:] == pytest.approx([436, 143], rel=3e-3)


def test_stages_of_a_pipeline_asked_for_elsewhere():
    # deepspeedai/DeepSpeed#4477: stage 0 keeps as much as one micro-batch in all L layers.
    pipeline = Pipeline(layers=32, many=4, micro_batches=16, each=100)
    assert [pipeline.kept(stage) for stage in range(4)] == [3200, 2400, 1600, 800]


@pytest.mark.parametrize(
    ("wide", "expected"),
    [
        pytest.param(2, [2.2, 4.4, 4.4, 3.3, 12.1], id="engineersofai.com distributed training"),
        pytest.param(4, [2.2, 4.4, 8.8, 3.3, 16.5], id="engineersofai.com, fp32 gradients"),
    ],
)
def test_plans_asked_for_elsewhere(wide, expected):
    plan = Plan(parameters=70 * GB, tensor=8, pipeline=4, data=8, zero=1, wide=wide)
    assert plan.gpus == 256
    assert said(plan.answer, GB) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(("policy", "reference"), [112, 14, 126], id="huggingface/trl#1245"),
        pytest.param(
            ("policy", "critic", "reference", "reward model"),
            [112, 112, 14, 14, 252],
            id="OpenRLHF/OpenRLHF#254",
        ),
    ],
)
def test_preference_training_asked_for_elsewhere(parts, expected):
    held = Models(parameters=dict.fromkeys(parts, 7 * GB))
    assert said(held.answer, GB) == expected


@pytest.mark.parametrize(
    ("each", "fixed", "most"),
    [
        pytest.param(15.5, 26.2, 3, id="stanford-cs336/assignment1-basics"),
        pytest.param(18.0, 34.0, 2, id="stanford-cs336/assignment1-basics, gated MLP"),
    ],
)
def test_largest_batches_asked_for_elsewhere(each, fixed, most):
    answer = line_answer(round(each * GB), round(fixed * GB), 80 * GB)
    assert answer.terms[2].answer.value == most


def said(answer, unit):
    return [float(Fraction(term.answer.value) / Fraction(unit)) for term in answer.terms]


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (1, "divide the fp32 shard of the weights, gradients and moments by 128;"),
        (11, "divide the master copy by 1,024;"),
        (10, "divide the gradients, master copy and moments by 32;"),
        (0, "0.162 billion; a billion"),
    ],
)
def test_the_last_hint_names_what_is_divided_by_the_gpus(seed, said):
    assert said in build("states-ledger", seed).hints[-1]
