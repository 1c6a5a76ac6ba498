"""Which classes of Transformers the hf stack takes, by model or config.json."""

import json

import pytest

from engine.errors import UnmodelledError
from engine.families.registry import family_of
from engine.scenario_file import from_mapping


@pytest.mark.parametrize("name", ["gemma-2b", "phi-3-mini"])
def test_llamas_shape_with_another_class_is_refused(scenario, name):
    with pytest.raises(UnmodelledError, match="no class of Transformers"):
        scenario(name, implementation="hf")


def of_config(folder, model_type, name, implementation):
    """A scenario of a config.json under a name of its own."""
    config = {
        "model_type": model_type,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "intermediate_size": 128,
        "vocab_size": 100,
    }
    (folder / "config.json").write_text(json.dumps(config))
    model = {"config": "config.json", "name": name, "implementation": implementation}
    tables = {"model": model, "workload": {"sequence": 64}, "hardware": {"gpu": "t4"}}
    return from_mapping(tables, folder=folder)


@pytest.mark.parametrize("model_type", ["gemma", "phi3", "qwen3", "olmo"])
def test_a_config_of_another_class_is_refused_by_its_class_under_any_name(tmp_path, model_type):
    said = f"model.config: the class of {model_type} in Transformers is not modelled; .* fused"
    with pytest.raises(UnmodelledError, match=said):
        of_config(tmp_path, model_type, "mine", "hf")


def test_a_config_of_another_class_is_read_for_the_fused_stack(tmp_path):
    assert of_config(tmp_path, "gemma", "mine", "fused").model.model_type == "gemma"


@pytest.mark.parametrize("model_type", ["llama", "mistral", "qwen2", "mixtral"])
def test_a_config_of_a_modelled_class_is_taken_under_any_name(tmp_path, model_type):
    assert family_of(of_config(tmp_path, model_type, "gemma-like", "hf").architecture)
