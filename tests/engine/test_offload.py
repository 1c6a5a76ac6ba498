"""The optimizer on the host: what stays on the GPU, traced."""

import pytest

from engine.errors import InputError
from engine.estimate import ledger, model_states
from engine.ledger import MODEL_STATES, Phase
from engine.reducing import BUCKET
from engine.units import GIB

torch = pytest.importorskip("torch")

from engine.verify.ranks import alone
from engine.verify.symbolic import symbolic
from engine.verify.trace import executed

WIDE = {"vocab": 32000, "layers": 4}
ROWS = [
    {"shape": WIDE},
    {"shape": WIDE | {"tied": True}, "gradient_accumulation": 2, "recompute": "full"},
    {"shape": WIDE, "implementation": "hf"},
    {"shape": WIDE, "data": 4, "zero": 2},
    {"shape": WIDE | {"tied": True}, "data": 4, "zero": 2, "gradient_accumulation": 2},
    {"shape": WIDE, "data": 4, "zero": 3, "sequence": 1024},
    {"shape": WIDE | {"tied": True}, "data": 3, "zero": 3, "gradient_accumulation": 2},
    {"shape": WIDE, "data": 8, "zero": 3, "loss": "chunked", "optimizer": "adamw-8bit"},
]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_every_phase_meets_the_traced_step(scenario, gaps, row):
    if "implementation" in ROWS[row]:
        pytest.importorskip("transformers")
    found = gaps(scenario(offload="cpu", **ROWS[row]))
    assert max(map(abs, found.values())) < 0.002, found


def test_a_model_beyond_the_bucket_meets_its_traced_step(scenario, gaps):
    made = scenario("llama-2-7b", sequence=1024, recompute="full", offload="cpu", data=8, zero=2)
    found = gaps(made)
    assert max(map(abs, found.values())) < 0.0005, found


def test_every_phase_meets_an_executed_step(scenario, gaps):
    made = scenario(offload="cpu", attention="eager", shape={"vocab": 4000})
    found = gaps(made, executed(made))
    assert max(map(abs, found.values())) < 0.002, found


def test_one_gpu_keeps_the_16_bit_weights_alone(scenario):
    book = ledger(scenario("llama-2-7b", offload="cpu", sequence=1024))
    assert book.total(*MODEL_STATES, phase=Phase.STEP) == 2 * 6_738_415_616
    assert book.size("reduce bucket") == 2 * BUCKET


def test_the_gpu_does_not_see_whether_the_states_go_on_to_nvme(scenario):
    cpu, nvme = (
        ledger(scenario("llama-2-7b", offload=where, data=8, zero=3)) for where in ("cpu", "nvme")
    )
    assert cpu.phases == nvme.phases


@pytest.mark.parametrize("zero", [2, 3])
def test_no_gradient_waits_for_the_step(scenario, zero):
    book = ledger(scenario("llama-2-7b", offload="cpu", data=8, zero=zero))
    assert not any(line.name == "gradients" for line in book.lines)


def test_shards_stay_in_16_bits_under_zero_3():
    held = model_states(8_000, precision="mixed", zero=3, ranks=8, on_host="optimizer")
    assert held == {"weights": 2 * 1_000}


@pytest.mark.parametrize("optimizer", ["adamw", "adamw-8bit", "adafactor"])
def test_which_optimizer_it_is_makes_no_difference_to_the_gpu(scenario, optimizer):
    made = scenario(offload="cpu", optimizer=optimizer)
    assert ledger(made).phases == ledger(scenario(offload="cpu", optimizer="sgd")).phases


def test_the_host_s_step_reaches_the_weights(scenario):
    parts = alone(scenario(offload="cpu", attention="eager"))
    with torch.no_grad():
        for weight in parts.model.parameters():
            weight.fill_(0.01)
    parts.forward(*(torch.zeros_like(part) for part in parts.batch)).backward()
    parts.exchange.finish(last=True)
    before = parts.model.head.weight.clone()
    parts.stepper.step()
    assert not torch.equal(parts.model.head.weight, before)


def test_formulas_are_refused_where_gradients_go_through_a_bucket(scenario):
    with pytest.raises(InputError, match="offload"):
        symbolic(scenario(offload="cpu"))


# stas00/ml-engineering, insights/when-to-upgrade-gpus/README.md: Llama 3.1 8B on 8 x H200 under
# DeepSpeed's ZeRO-3, AdamW on the CPU, checkpointing, Liger kernels: the most that the worst rank
# reserved, GiB by tokens. The ledger's ZeRO-3 is FSDP2 and has less in buffers, which
# counts where tokens are few: 6.4 GiB at 8,192, and 5.0 at 32,768.
RESERVED = {8192: 16.3, 32768: 25.8, 65536: 37.5, 131072: 66.5, 196608: 95.7, 262144: 124.5}


def _long(scenario, tokens):
    made = scenario(
        "llama-3.1-8b",
        gpu="h200",
        data=8,
        zero=3,
        offload="cpu",
        sequence=tokens,
        recompute="full",
        loss="chunked",
    )
    return ledger(made).peak / GIB


@pytest.mark.parametrize("tokens", [131072, 196608, 262144])
def test_long_sequences_take_what_was_measured(scenario, tokens):
    assert _long(scenario, tokens) == pytest.approx(RESERVED[tokens], rel=0.02)


def test_a_token_takes_what_was_measured(scenario):
    few, many = 65536, 262144
    found = _long(scenario, many) - _long(scenario, few)
    assert found == pytest.approx(RESERVED[many] - RESERVED[few], rel=0.03)


@pytest.mark.parametrize(("tokens", "missing"), [(8192, 6.4), (32768, 5.0), (65536, 1.9)])
def test_short_sequences_lack_the_buffers_of_deepspeed(scenario, tokens, missing):
    assert RESERVED[tokens] - _long(scenario, tokens) == pytest.approx(missing, abs=0.1)
