"""The catalogue: every row is sound, has its source, and is found by what people type."""

import re
import subprocess
import sys
import tomllib

import pytest

from engine.catalog import (
    DATA,
    accelerator,
    accelerator_from_row,
    accelerators,
    model,
    model_from_row,
    models,
)
from engine.errors import InputError
from engine.units import GB

MODEL_ROW = tomllib.loads((DATA / "models.toml").read_text(encoding="utf-8"))["llama-2-7b"]
GPU_ROW = tomllib.loads((DATA / "accelerators.toml").read_text(encoding="utf-8"))["t4"]
EXPERTS = {"routed": 8, "per_token": 2, "ffn": 14336}


def said_by(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    return [str(fault) for fault in caught.value.faults]


def test_the_catalogue_has_at_least_36_models():
    assert len(models()) >= 36


def test_the_catalogue_has_at_least_20_accelerators():
    assert len(accelerators()) >= 20


ROWS = {**models(), **accelerators()}


@pytest.mark.parametrize("name", ROWS)
def test_a_name_is_in_lower_case_with_hyphens(name):
    assert re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)*", name)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_says_where_its_numbers_were_read(name):
    assert len(ROWS[name].source.split()) > 3


def test_no_name_is_both_a_model_and_an_accelerator():
    assert len(ROWS) == len(models()) + len(accelerators())


@pytest.mark.parametrize("name", models())
def test_no_model_is_longer_than_its_position_table(name):
    row = models()[name]
    assert row.architecture.positions in {0, row.max_sequence}


def size_in(name):
    """Return the size that a name ends in, such as 8.0 for llama-3-8b, or 0."""
    found = re.search(r"(?:^|-)([\d.]+)g?b(?:-pcie)?$", name)
    return float(found[1]) if found else 0.0


@pytest.mark.parametrize("name", [name for name in models() if size_in(name)])
def test_the_number_in_a_model_name_is_its_size(name):
    # The widest is Gemma 2 2B, whose 2.6B leave out 0.6B of embedding in the name.
    assert models()[name].parameters / GB == pytest.approx(size_in(name), rel=0.31)


@pytest.mark.parametrize("name", [name for name in accelerators() if size_in(name)])
def test_the_driver_reports_within_8_percent_of_the_size_in_the_name(name):
    assert accelerators()[name].memory / GB == pytest.approx(size_in(name), rel=0.08)


MEMORY = [
    # name, MiB, where a log with it was published
    ("t4", 15360, "modal-labs/modal-client#2797"),
    ("a10", 23028, "modal-labs/modal-client#2797"),
    ("a10g", 23028, "NVIDIA/DCGM#232"),
    ("l4", 23034, "modal-labs/modal-client#2797"),
    ("l40s", 46068, "modal-labs/modal-client#2797"),
    ("a100-40gb", 40960, "modal-labs/modal-client#2797"),
    ("a100-80gb", 81920, "modal-labs/modal-client#2797"),
    ("h100-80gb", 81559, "NVIDIA/nccl#1264"),
    ("b200", 183359, "NVIDIA/TensorRT-LLM#10278"),
    ("rtx-3090", 24576, "noonghunna/club-3090#1129"),
    ("rtx-4090", 24564, "RLinf/RLinf#255"),
    ("rtx-5090", 32607, "noonghunna/club-3090#617"),
    ("mi300x", 206141652992 // 2**20, "ROCm/legacy-rocm-build#4750"),
]


@pytest.mark.parametrize(("name", "mib", "source"), MEMORY)
def test_memory_is_what_the_driver_printed(name, mib, source):
    assert (accelerators()[name].memory_mib, bool(source)) == (mib, True)


NO_SPARSITY = [
    # name, dense 16-bit TFLOP/s; vendors print twice that with sparsity
    ("t4", 65),
    ("a10", 125),
    ("l4", 121),
    ("l40s", 362),
    ("a100-80gb", 312),
    ("h100-80gb", 989.4),
    ("h200", 989.4),
    ("b200", 2250),
    ("mi300x", 1307.4),
]


@pytest.mark.parametrize(("name", "tflops"), NO_SPARSITY)
def test_compute_is_the_dense_figure(name, tflops):
    assert accelerators()[name].tflops_16bit == tflops


def test_nvlink_is_one_direction_of_an_h100():
    # NVIDIA H100 data sheet: 900 GB/s in both directions together
    assert accelerators()["h100-80gb"].nvlink_gb_s == 450


def test_what_deepseek_v3_publishes_is_the_main_model():
    # deepseek-ai/DeepSeek-V3 README_WEIGHTS.md: 671B, and 11.5B more in the prediction module
    assert models()["deepseek-v3"].parameters == 671_026_404_352


SPELLINGS = [
    ("llama-3-8b", "llama-3-8b"),
    ("Llama 3 8B", "llama-3-8b"),
    ("LLAMA_3_8B", "llama-3-8b"),
    ("llama3-8b", "llama-3-8b"),
    (" llama-3-8b ", "llama-3-8b"),
    ("meta-llama/Llama-3-8B", "llama-3-8b"),
    ("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"),
    ("meta-llama/Llama-2-7b-hf", "llama-2-7b"),
    ("mistralai/Mistral-7B-v0.1", "mistral-7b"),
    ("mistralai/Mistral-7B-Instruct-v0.1", "mistral-7b"),
    ("mistralai/Mistral-7B-v0.3", "mistral-7b-v0.3"),
    ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"),
    ("microsoft/phi-1_5", "phi-1.5"),
    ("GPT-2 XL", "gpt2-xl"),
    ("google/gemma-2-9b-it", "gemma-2-9b"),
]


@pytest.mark.parametrize(("typed", "name"), SPELLINGS)
def test_a_model_is_found_by_what_people_type(typed, name):
    assert model(typed).name == name


GPU_SPELLINGS = [
    ("h100-80gb", "h100-80gb"),
    ("H100 80GB", "h100-80gb"),
    ("NVIDIA H100 NVL", "h100-nvl"),
    ("RTX4090", "rtx-4090"),
    ("NVIDIA GeForce RTX 3090", "rtx-3090"),
    ("Tesla T4", "t4"),
    ("AMD Instinct MI300X", "mi300x"),
    # As nvidia-smi prints them.
    ("NVIDIA H100 80GB HBM3", "h100-80gb"),
    ("NVIDIA H100 PCIe", "h100-80gb-pcie"),
    ("NVIDIA H200", "h200"),
    ("NVIDIA GH200 480GB", "gh200"),
    ("NVIDIA A100-SXM4-40GB", "a100-40gb"),
    ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
    ("NVIDIA A100-SXM-80GB", "a100-80gb"),
    ("NVIDIA A100-PCIE-40GB", "a100-40gb-pcie"),
    ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"),
    ("Tesla V100-SXM2-16GB", "v100-16gb"),
    ("Tesla V100-SXM2-32GB", "v100-32gb"),
    ("Tesla P100-PCIE-16GB", "p100-16gb"),
    ("NVIDIA L40S", "l40s"),
    ("NVIDIA A10G", "a10g"),
    ("NVIDIA RTX A6000", "rtx-a6000"),
    ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
    ("NVIDIA GeForce RTX 4090", "rtx-4090"),
]


@pytest.mark.parametrize("name", accelerators())
def test_an_accelerator_is_found_by_its_own_title(name):
    assert accelerator(accelerators()[name].title.partition(",")[0]).name == name


OTHER_CARDS = [
    # Cards of a similar name and another memory, socket or speed.
    "Tesla V100-PCIE-16GB",
    "Tesla V100-SXM3-32GB",
    "Tesla P100-SXM2-16GB",
    "NVIDIA H200 NVL",
    "NVIDIA GeForce RTX 4090 Laptop GPU",
    "NVIDIA GeForce RTX 4090 D",
    "NVIDIA GeForce RTX 3090 Ti",
    "Quadro RTX 6000",
    "RTX 6000",
    "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
    # One of several.
    "NVIDIA A100-SXM4",
    "A100 PCIe",
    "80GB",
    "SXM",
    "NVIDIA",
]


@pytest.mark.parametrize("typed", OTHER_CARDS)
def test_a_card_that_is_not_surely_the_catalogued_one_is_refused(typed):
    (fault,) = said_by(accelerator, typed)
    assert "is not known" in fault


@pytest.mark.parametrize(("typed", "name"), GPU_SPELLINGS)
def test_an_accelerator_is_found_by_what_people_type(typed, name):
    assert accelerator(typed).name == name


UNKNOWN = [
    (model, "llama-38b", "model.name: 'llama-38b' is not known; did you mean llama-3-8b"),
    (model, "llama-3", "did you mean llama-3-8b or llama-3-70b?"),
    (model, "nonsense", "model.name: 'nonsense' is not known"),
    (model, "", "model.name: '' is not known"),
    (model, "x" * 10**6, "is not known"),
    (accelerator, "h100", "did you mean h100-80gb or h100-80gb-pcie or h100-nvl?"),
    (accelerator, "NVIDIA A100", "did you mean a100-40gb or a100-40gb-pcie or a100-80gb?"),
    (accelerator, "l40", "did you mean l40s"),
]


@pytest.mark.parametrize(("find", "typed", "said"), UNKNOWN, ids=[row[2] for row in UNKNOWN])
def test_a_name_that_is_not_known_is_refused_with_near_ones(find, typed, said):
    (fault,) = said_by(find, typed)
    assert said in fault
    assert len(fault) < 250


REFUSED_MODELS = [
    ({"source": ""}, "models.x.source: '' says nothing"),
    ({"source": "  "}, "models.x.source: '  ' says nothing"),
    ({"checked": "yesterday"}, "models.x.checked: 'yesterday' says nothing"),
    ({"checked": 2026}, "models.x.checked: 2026 says nothing"),
    ({"layers": 3}, "models.x: 'layers' is not known"),
    ({"parameters": 7 * 10**9}, "7,000,000,000 published, but the shape has 6,738,415,616"),
    ({"shape": 3}, "models.x.shape: 3 is not a table"),
    ({"shape": MODEL_ROW["shape"] | {"layer": 1}}, "models.x.shape: 'layer' is not known"),
    ({"shape": {"layers": 1, "hidden": 8, "heads": 1, "ffn": 8}}, "models.x.shape.vocab: is"),
    (
        {"shape": MODEL_ROW["shape"] | {"experts": EXPERTS | {"top": 2}}},
        "models.x.shape.experts: 'top' is not known",
    ),
]


@pytest.mark.parametrize(("change", "said"), REFUSED_MODELS, ids=[r[1] for r in REFUSED_MODELS])
def test_a_model_row_that_cannot_be_trusted_is_refused(change, said):
    (fault,) = said_by(model_from_row, "x", MODEL_ROW | change)
    assert said in fault


@pytest.mark.parametrize("key", MODEL_ROW)
def test_a_model_row_without_one_of_its_keys_is_refused(key):
    row = {k: v for k, v in MODEL_ROW.items() if k != key}
    assert said_by(model_from_row, "x", row) == [f"models.x.{key}: is missing"]


REFUSED_GPUS = [
    ({"source": ""}, "accelerators.x.source: '' says nothing"),
    ({"checked": "29.11.2026"}, "accelerators.x.checked: '29.11.2026' says nothing"),
    ({"memory": 16}, "accelerators.x: 'memory' is not known"),
    ({"memory_mib": 15360.0}, "gpu.x.memory_mib: 15360.0 is not a number"),
    ({"memory_mib": 0}, "gpu.x.memory_mib: 0 is not positive"),
    ({"float8": "yes"}, "gpu.x.float8: 'yes' is not true or false"),
    ({"products_share": 48}, "gpu.x.products_share: 48 is more than the peak"),
    ({"bandwidth_gb_s": -1}, "gpu.x.bandwidth_gb_s: -1 is not positive"),
    ({"tflops_16bit": "65"}, "gpu.x.tflops_16bit: '65' is not a number"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED_GPUS, ids=[r[1] for r in REFUSED_GPUS])
def test_an_accelerator_row_that_cannot_be_trusted_is_refused(change, said):
    (fault,) = said_by(accelerator_from_row, "x", GPU_ROW | change)
    assert said in fault


@pytest.mark.parametrize("key", [k for k in GPU_ROW if k != "context_mib"])
def test_an_accelerator_row_without_one_of_its_keys_is_refused(key):
    row = {k: v for k, v in GPU_ROW.items() if k != key}
    assert said_by(accelerator_from_row, "x", row) == [f"accelerators.x.{key}: is missing"]


def test_no_table_is_read_before_it_is_asked_for():
    code = "import engine.catalog as c; print(c._rows.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_one_model_is_built_without_the_others():
    code = (
        "import engine.catalog as c; c.model('gpt2'); "
        "print(c._model.cache_info().misses, 'torch' in __import__('sys').modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        models()["mine"] = models()["gpt2"]
