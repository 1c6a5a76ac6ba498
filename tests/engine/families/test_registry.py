"""The families: one file each, and no two for the blocks of one architecture."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from real_class import counted_by_transformers
from small_configs import LLAMA, configs

from engine.architecture import Architecture, Experts, LatentAttention
from engine.catalog import models
from engine.families import known
from engine.families.config import architecture_of
from engine.families.family import Family
from engine.families.registry import families, family_of, modelled_types

FURTHER = Path(__file__).parents[2] / "recipes" / "architecture" / "engine" / "families" / "known"
STARCODER2 = LLAMA | {"model_type": "starcoder2", "num_key_value_heads": 2}


@pytest.fixture
def also_from(monkeypatch):
    """Look for families in one more folder."""

    def add(folder):
        monkeypatch.setattr(known, "__path__", [*known.__path__, str(folder)])
        families.cache_clear()

    yield add
    monkeypatch.undo()
    families.cache_clear()


def test_a_family_has_the_file_of_its_name():
    files = {path.stem for path in Path(known.__file__).parent.glob("*.py")} - {"__init__"}
    assert set(families()) == files


STARCODERS = [
    # what a config says beside its sizes
    {},
    {"use_bias": False},
    {"num_key_value_heads": 4},
    {"tie_word_embeddings": False, "intermediate_size": 31},
    {"hidden_size": 3072, "num_attention_heads": 24, "sliding_window": 4096},
]


@pytest.mark.parametrize("rest", STARCODERS)
def test_a_further_file_is_all_that_a_further_family_takes(also_from, rest):
    also_from(FURTHER)
    config = STARCODER2 | rest
    architecture = architecture_of(config)
    model_type = str(config.pop("model_type"))
    assert architecture.parameters == counted_by_transformers(model_type, config)


NO_FAMILY = "FAMILY = 1"
SAME_NAME = "from engine.families.known.llama import FAMILY"
HALF_A_CLASS = """
from dataclasses import replace
from engine.families.known.olmo import FAMILY
FAMILY = replace(FAMILY, model_type="half", has=lambda a: True)
"""
FILES = [
    # file, what it holds, error, what it says
    ("no_family", NO_FAMILY, TypeError, "has no FAMILY that is a Family"),
    ("same_name", SAME_NAME, ValueError, "read twice: llama"),
    ("half_a_class", HALF_A_CLASS, ValueError, "half has one of `has` and `written`"),
]


@pytest.mark.parametrize(("name", "text", "error", "said"), FILES)
def test_a_file_that_is_no_family_of_its_own_is_refused(
    also_from, tmp_path, name, text, error, said
):
    (tmp_path / f"{name}.py").write_text(text)
    also_from(tmp_path)
    with pytest.raises(error, match=said):
        families()


GREEDY = """
from dataclasses import replace
from engine.families.known.llama import FAMILY
FAMILY = replace(FAMILY, model_type="greedy")
"""


def test_blocks_that_two_families_claim_are_a_mistake(also_from, tmp_path):
    (tmp_path / "greedy.py").write_text(GREEDY)
    also_from(tmp_path)
    with pytest.raises(ValueError, match="claimed twice: llama, greedy"):
        family_of(architecture_of(LLAMA))


EXPERTS = Experts(routed=4, per_token=2, ffn=8)
LATENT = LatentAttention(
    query_rank=4, kv_rank=4, nope_head_dim=4, rope_head_dim=4, value_head_dim=4
)
SIZES = {"layers": 2, "hidden": 16, "heads": 2, "ffn": 8, "vocab": 8}
CHOICES = {
    "kv_heads": (1, 2),
    "positions": (0, 8),
    "rotary_dim": (2, 8),
    "gated": (False, True),
    "norm": ("rmsnorm", "layernorm"),
    "parallel_residual": (False, True),
    "qkv_bias": (False, True),
    "output_bias": (False, True),
    "mlp_bias": (False, True),
    "window": (0, 4),
    "experts": (None, EXPERTS),
}
OLMO_2 = {"norm_inputs": False, "norm_outputs": True, "qk_norm": "full"}
GEMMA_2 = {"norm_outputs": True, "soft_cap": True}
EXTRAS = [
    {"norm": "layernorm-no-weight"},
    {"norm_inputs": False},
    {"norm_inputs": False, "norm_outputs": True},
    {"norm_outputs": True, "qk_norm": "full"},
    {"qk_norm": "full"},
    {"shared_norm": True},
    {"qk_norm": "head"},
    {"head_bias": True},
    {"soft_cap": True},
    {"latent": LATENT},
]


def of_choices(rest):
    for values in product(*CHOICES.values()):
        yield Architecture(**SIZES | dict(zip(CHOICES, values, strict=True)) | rest)


def test_no_blocks_are_those_of_two_families_and_each_modelled_class_has_some():
    found = {
        family.model_type
        for rest in ({}, OLMO_2, GEMMA_2)
        for a in of_choices(rest)
        if (family := family_of(a))
    }
    assert found == set(modelled_types())


@pytest.mark.parametrize("rest", EXTRAS, ids=" ".join)
def test_no_modelled_class_has_what_is_read_for_its_parameters_only(rest):
    assert not any(family_of(a) for a in of_choices(rest))


@pytest.mark.parametrize("name", models())
def test_no_catalogued_model_has_the_blocks_of_two_families(name):
    assert len(claimants(models()[name].architecture)) < 2


@pytest.mark.parametrize("model_type", families())
def test_no_config_has_the_blocks_of_two_families(model_type):
    @settings(max_examples=30, deadline=None, derandomize=True, database=None)
    @given(configs(model_type))
    def exclude(config):
        needed = {"num_experts_per_tok": 2} if model_type == "deepseek_v2" else {}
        architecture = architecture_of(config | needed | {"model_type": model_type})
        assert len(claimants(architecture)) < 2

    exclude()


def claimants(architecture: Architecture) -> list[Family]:
    return [one for one in families().values() if one.has and one.has(architecture)]


LOADED = """
import sys
from engine.scenario_file import from_mapping
model = {"name": "tinyllama-1.1b", "implementation": sys.argv[1]}
from_mapping({"model": model, "workload": {"sequence": 64}, "hardware": {"gpu": "t4"}})
print("engine.families.known.llama" in sys.modules)
"""


@pytest.mark.parametrize(("stack", "loaded"), [("fused", "False"), ("hf", "True")])
def test_families_are_loaded_where_they_are_asked_for_only(stack, loaded):
    command = [sys.executable, "-c", LOADED, stack]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == loaded
