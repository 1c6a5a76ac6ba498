import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest
from click.testing import CliRunner

from engine.autograd import backward, forward
from engine.errors import InputError, UnmodelledError
from engine.estimate import ledger
from engine.scenario_file import from_mapping
from engine.stacks import known
from engine.stacks.registry import names, stack
from engine.structure import block_of
from quiz.cli import memquiz

FURTHER = Path(__file__).parents[2] / "recipes" / "stack" / "engine" / "stacks" / "known"
EXTRAS = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
RUN = {
    "model": {"name": "llama-3-8b", "implementation": "liger"},
    "workload": {"sequence": 8192},
    "parallel": {"zero": 3},
    "hardware": {"gpu": "h100-80gb", "gpus": 8},
}
TYPED = "--model llama-3-8b --implementation liger --gpu h100-80gb --gpus 8 --zero 3"


@pytest.fixture
def liger(monkeypatch):
    """The stacks with a further file in their folder."""
    monkeypatch.setattr(known, "__path__", [*known.__path__, str(FURTHER)])
    names.cache_clear()
    yield
    names.cache_clear()
    stack.cache_clear()
    sys.modules.pop(f"{known.__name__}.liger", None)


def invoke(line):
    return CliRunner().invoke(memquiz, line.split())


def sizes(scenario):
    return {line.name: size for line, size in ledger(scenario).alive}


def test_the_names_of_stacks_are_those_of_their_files():
    files = Path(known.__file__).parent.glob("[!_]*.py")
    assert names() == tuple(sorted(file.stem for file in files))
    assert {"fused", "hf", "megatron"} <= set(names())


def test_names_are_asked_without_importing_a_stack_or_sympy():
    code = (
        "import sys; from engine.stacks.registry import names; names(); "
        "print([one for one in sys.modules if one.startswith(('sympy', 'engine.stacks.known.'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", names())
def test_what_runs_a_stack_is_there_with_the_extra_that_it_needs(name):
    found = stack(name)
    if found.builder:
        assert find_spec(found.builder.partition(":")[0])
    assert found.extra in EXTRAS["project"]["optional-dependencies"]


@pytest.mark.parametrize("name", [name for name in names() if stack(name).lines])
def test_the_lines_of_a_stack_alone_are_there(name):
    assert callable(resolve_name(stack(name).lines))


def test_a_module_without_a_stack_is_named(monkeypatch, tmp_path):
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(known, "__path__", [*known.__path__, str(tmp_path)])
    with pytest.raises(TypeError, match=r"engine\.stacks\.known\.empty has no STACK"):
        stack("empty")
    sys.modules.pop(f"{known.__name__}.empty")


def test_an_unknown_stack_is_refused_with_those_that_are_known():
    with pytest.raises(InputError, match=f"'liger' is not known; known: {', '.join(names())}"):
        from_mapping(RUN)


@pytest.mark.usefixtures("liger")
def test_a_further_file_in_the_folder_is_a_further_stack():
    assert "liger" in names()


@pytest.mark.usefixtures("liger")
@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("passes", [1, 4])
def test_a_further_stack_has_a_ledger_however_it_is_sharded_and_recomputed(
    zero, recompute, passes
):
    work = {"sequence": 8192, "gradient_accumulation": passes}
    run = {"workload": work, "parallel": {"zero": zero}, "recipe": {"recompute": recompute}}
    assert ledger(from_mapping(RUN | run)).peak > 0


@pytest.mark.usefixtures("liger")
def test_a_further_stack_keeps_what_its_tape_says():
    fused = RUN | {
        "model": {"name": "llama-3-8b", "implementation": "fused"},
        "recipe": {"loss": "chunked"},
    }
    one, other = sizes(from_mapping(fused)), sizes(from_mapping(RUN))
    assert one["MLP activated gate"] == 32 * 2 * 8192 * 14336
    assert "MLP activated gate" not in other
    assert other["MLP gate"] == one["MLP gate"]


@pytest.mark.usefixtures("liger")
def test_a_further_stack_brings_its_own_where_nothing_is_said():
    assert from_mapping(RUN).recipe.loss == "chunked"


@pytest.mark.usefixtures("liger")
def test_a_further_stack_refuses_by_name_what_it_has_no_lines_for():
    with pytest.raises(UnmodelledError) as caught:
        from_mapping(RUN | {"recipe": {"loss": "eager", "attention": "eager"}})
    assert str(caught.value).splitlines() == [
        "recipe.attention: eager with liger is not modelled; modelled: flash",
        "recipe.loss: eager with liger is not modelled; modelled: chunked",
    ]


@pytest.mark.usefixtures("liger")
def test_a_further_stack_refuses_adapters_until_it_says_that_it_trains_them():
    with pytest.raises(UnmodelledError, match="adapters with liger is not modelled"):
        from_mapping(RUN | {"adapters": {"rank": 8}, "parallel": {}})


@pytest.mark.usefixtures("liger")
def test_lines_of_a_further_stack_are_assumed_and_name_its_source():
    lines = {line.name: line for line in ledger(from_mapping(RUN)).lines}
    assert lines["MLP gate"].evidence == "assumed"
    assert lines["MLP gate"].source.startswith("linkedin/Liger-Kernel")


@pytest.mark.usefixtures("liger")
def test_solve_takes_a_further_stack():
    run = invoke(f"solve {TYPED} --sequence 8192")
    assert run.exit_code in {0, 1, 3}
    assert "liger stack" in run.output


@pytest.mark.usefixtures("liger")
def test_verify_refuses_a_further_stack_that_nothing_here_runs():
    pytest.importorskip("torch")
    run = invoke(f"verify {TYPED} --sequence 8192 --device fake")
    assert run.exit_code == 2
    assert "liger is not run here: no module here does what its tapes say" in run.output
    assert "memquiz solve has its ledger; or give fused or " in run.output


@pytest.mark.parametrize("implementation", ["fused", "hf", "megatron"])
def test_a_layer_is_the_same_whatever_loss_and_head_are_behind_it(implementation):
    fused = {**RUN, "model": {"name": "llama-3-8b"}}
    block = replace(block_of(from_mapping(fused)), stack=implementation)
    plain = stack(implementation).layer(block)
    for behind in ({"loss": "chunked"}, {"tied": True}, {"head_bias": True}):
        other = stack(implementation).layer(replace(block, **behind))
        assert forward(other) == forward(plain)
        assert backward(other, keeps_gradients=True) == backward(plain, keeps_gradients=True)
