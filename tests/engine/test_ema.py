"""An average of the weights: one more copy, held as they are, in every phase."""

import pytest

from engine.errors import UnmodelledError
from engine.estimate import ledger
from engine.ledger import Phase
from engine.scenario_file import from_mapping, to_mapping

torch = pytest.importorskip("torch")

from engine.verify.averages import averages
from engine.verify.ranks import alone
from engine.verify.steps import DECAY, average

LINE = "average of the weights"
P = 6_738_415_616  # llama-2-7b


@pytest.mark.parametrize(
    ("values", "each"),
    [
        ({"ema": "weights", "precision": "fp32"}, 4),
        ({"ema": "weights", "precision": "mixed"}, 2),
        ({"ema": "fp32", "precision": "mixed"}, 4),
        ({"ema": "fp32", "precision": "pure-bf16"}, 4),
        ({"ema": "weights", "precision": "pure-bf16"}, 2),
        ({"ema": "weights", "data": 8, "zero": 1}, 2),  # 16-bit weights are whole there
        ({"ema": "fp32", "data": 8, "zero": 2}, 4),
    ],
    ids=str,
)
def test_an_average_is_a_further_copy_of_the_weights(scenario, values, each):
    assert ledger(scenario("llama-2-7b", **values)).size(LINE) == each * P


@pytest.mark.parametrize("ema", ["weights", "fp32"])
def test_fsdp2_shards_the_average_with_the_fp32_weights(scenario, ema):
    book = ledger(scenario("llama-2-7b", ema=ema, data=8, zero=3))
    assert book.size(LINE) == book.size("weights")


def test_no_average_is_kept_unless_asked_for(scenario):
    assert LINE not in {line.name for line in ledger(scenario()).lines}


WIDE = {"layers": 4, "hidden": 1024, "ffn": 2816}
FSDP2 = {"data": 4, "zero": 3, "shape": WIDE, "sequence": 512}


@pytest.mark.parametrize(
    "values",
    [
        {"ema": "weights"},
        {"ema": "fp32", "gradient_accumulation": 2},
        {"ema": "fp32", "precision": "pure-bf16", "optimizer": "adamw-fused"},
        {"ema": "fp32", "precision": "autocast"},
        {"ema": "weights", "precision": "mixed-fp32-grad", "data": 4},
        {"ema": "fp32", "data": 4, "zero": 1},
        {"ema": "weights", "data": 4, "zero": 2},
        {"ema": "weights"} | FSDP2,
        {"ema": "fp32", "precision": "pure-bf16"} | FSDP2,
    ],
    ids=str,
)
def test_every_phase_meets_the_traced_step(scenario, gaps, values):
    found = gaps(scenario(**values))
    assert max(map(abs, found.values())) < 0.002, found


def test_an_average_of_adapters_meets_the_traced_step(adapted, gaps):
    made = adapted(ema="fp32", shape={"hidden": 512, "ffn": 1408}, rank=64)
    book = ledger(made)
    assert book.size(LINE) == 2 * book.size("adapters")
    found = gaps(made)
    assert max(map(abs, found.values())) < 0.002, found


def test_it_is_there_in_the_first_step_too(scenario):
    with_it, without = (ledger(scenario(ema=ema)) for ema in ("fp32", "none"))
    for phase in Phase:
        if phase in without.first_step:
            more = with_it.first_step[phase] - without.first_step[phase]
            assert more == with_it.size(LINE)


def test_an_fp32_average_of_16_bit_weights_is_a_copy_of_its_own():
    class Stepper:
        weights = (torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16)),)
        masters = ()

    ((average, followed),) = averages(Stepper(), "fp32")
    assert average.dtype == torch.float32
    assert followed.data_ptr() == Stepper.weights[0].data_ptr()
    assert average.data_ptr() != followed.data_ptr()


@pytest.mark.parametrize(
    "values",
    [
        {"offload": "cpu", "data": 4, "zero": 2},
        {
            "implementation": "megatron",
            "precision": "mixed-fp32-grad",
            "optimizer": "adamw-fused",
            "loss": "fused",
        },
    ],
    ids=["offload", "megatron"],
)
def test_what_has_no_average_is_refused_by_name(scenario, values):
    with pytest.raises(UnmodelledError, match=r"recipe\.ema") as caught:
        scenario(ema="fp32", **values)
    assert {fault.where for fault in caught.value.faults} == {"recipe.ema"}


def test_a_file_names_the_average_only_where_there_is_one(scenario):
    assert "ema" not in to_mapping(scenario())["recipe"]
    kept = scenario(ema="fp32")
    assert from_mapping(to_mapping(kept)) == kept


def test_a_step_moves_an_average_a_little_towards_its_weight(scenario):
    parts = alone(scenario(ema="weights", precision="fp32"))
    kept, weight = parts.averages[0]
    kept.zero_()
    weight.fill_(1)
    average(parts)
    torch.testing.assert_close(kept, torch.full_like(kept, 1 - DECAY))
