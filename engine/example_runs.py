"""Runs of training and of inference that between them have every line of the ledger.

A run is typed as what it has beyond one GPU that trains a Llama with AdamW in mixed precision.
Which switches a line depends on is found by changing one switch of a run at a time, to each of
its words.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any

from engine.architecture import Architecture, Experts, LatentAttention
from engine.catalog import accelerator
from engine.errors import InputError
from engine.estimate import lines_of, switches_of
from engine.ledger import Category, Line
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import (
    CACHES,
    WEIGHTS,
    Adapters,
    Hardware,
    Model,
    Offload,
    Parallel,
    Recipe,
    Scenario,
    Serving,
    Workload,
)
from engine.served import Served
from engine.settings import DEFAULT_STACK
from engine.stacks.registry import stack
from engine.stages import differing
from engine.structure import Structure

LLAMA: Mapping[str, Any] = {"layers": 8, "hidden": 2**10, "heads": 16, "ffn": 2816, "vocab": 32000}
GROUPED = {**LLAMA, "kv_heads": 4}
BIASES = dict.fromkeys(("qkv_bias", "output_bias", "mlp_bias"), True)
PLAIN = {**LLAMA, **BIASES} | {"gated": False, "activation": "gelu-tanh", "norm": "layernorm"}
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "llama": GROUPED,
    "many-heads": LLAMA,
    "gpt": PLAIN | {"positions": 2**10},
    "gpt-neox": PLAIN | {"rotary_dim": 16, "parallel_residual": True},
}
EXPERTS = Experts(routed=8, per_token=2, ffn=2816)
SHARED = Experts(routed=8, per_token=2, ffn=2816, shared_ffn=2**10, dense_layers=1)
Lines = Mapping[tuple[Category, str], Line]
Switches = Structure | Served
LATENT = LatentAttention(
    query_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, value_head_dim=32
)

# Every value of a switch by the word for it; the first is what a run has that does not say.
SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "model.implementation": {"fused": "fused", "hf": "hf", "megatron": "megatron"},
    "model.gated": {"true": True, "false": False},
    "model.norm_inputs": {"true": True, "false": False},
    "model.norm_outputs": {"false": False, "true": True},
    "model.norm": {"rmsnorm": "rmsnorm", "layernorm": "layernorm"},
    "model.positions": {"0": 0, "some": 2**10},
    "model.parallel_residual": {"false": False, "true": True},
    "model.qk_norm": {"none": "none", "head": "head", "full": "full"},
    "model.soft_cap": {"false": False, "true": True},
    "model.tied": {"false": False, "true": True},
    "model.head_bias": {"false": False, "true": True},
    "model.experts": {"none": None, "some": EXPERTS, "with-shared-and-dense": SHARED},
    "model.latent": {"none": None, "some": LATENT},
    "model.window": {"0": 0, "some": 512},
    "model.window_layers": {"all": 0, "some": 4},
    "workload.mode": {"training": "training", "inference": "inference"},
    "workload.gradient_accumulation": {"1": 1, "more": 8},
    "recipe.precision": {name: name for name in ("mixed", *PRECISIONS)},
    "recipe.optimizer": {name: name for name in ("adamw", *optimizers())},
    "recipe.attention": {"flash": "flash", "eager": "eager"},
    "recipe.recompute": {"none": "none", "selective": "selective", "full": "full"},
    "recipe.loss": {"eager": "eager", "fused": "fused", "chunked": "chunked"},
    "recipe.ema": {"none": "none", "weights": "weights", "fp32": "fp32"},
    "recipe.dropout": {"0": 0.0, "some": 0.1},
    "parallel.data": {"1": 1, "more": 8},
    "parallel.zero": {"0": 0, "1": 1, "2": 2, "3": 3},
    "parallel.shard": {"0": 0, "fewer-than-data": 4},
    "parallel.tensor": {"1": 1, "more": 2},
    "parallel.sequence_parallel": {"false": False, "true": True},
    "parallel.pipeline": {"1": 1, "more": 2},
    "parallel.context": {"1": 1, "more": 2},
    "parallel.exchange": {"p2p": "p2p", "a2a": "a2a"},
    "parallel.expert": {"1": 1, "more": 2},
    "offload.optimizer": {"none": "none", "cpu": "cpu"},
    "offload.parameters": {"none": "none", "cpu": "cpu"},
    "offload.activations": {"none": "none", "cpu": "cpu"},
    "adapters.rank": {"0": 0, "some": 16},
    "adapters.base": {"16-bit": "16-bit", "4-bit": "4-bit"},
    "adapters.dropout": {"0": 0.0, "some": 0.1},
    "serving.weights": {name: name for name in WEIGHTS},
    "serving.cache": {name: name for name in CACHES},
    "serving.block": {"0": 0, "1": 1},
    "serving.utilization": {"0": 0.0, "some": 0.9},
    "serving.windows": {"capped": "capped", "whole": "whole"},
}

# A change of it would change every line of every run.
MODE = "workload.mode"
INFERENCE = f"{MODE}=inference"
SOME_WINDOWS = "model.window=some model.window_layers=some"
ZERO_2 = "parallel.data=more parallel.zero=2"
FSDP2 = "parallel.data=more parallel.zero=3"
ACCUMULATED = "workload.gradient_accumulation=more"
EAGER, AUTOCAST = "recipe.attention=eager", "recipe.precision=autocast"
HF, MEGATRON = "model.implementation=hf", "model.implementation=megatron"
OLMO_2 = "model.norm_inputs=false model.norm_outputs=true model.qk_norm=full"
GEMMA_2 = "model.norm_outputs=true model.soft_cap=true model.tied=true"
RUNS: Mapping[str, str] = {
    "Llama": "",
    "fp32": "recipe.precision=fp32",
    "autocast": AUTOCAST,
    "pure bf16": "recipe.precision=pure-bf16",
    "fp32 gradients": "recipe.precision=mixed-fp32-grad",
    "GPT": "shape=gpt model.tied=true recipe.dropout=some",
    "GPT eager": f"shape=gpt model.tied=true recipe.dropout=some {EAGER}",
    "GPT eager in autocast": f"shape=gpt recipe.dropout=some {EAGER} {AUTOCAST}",
    "GPT-NeoX": "shape=gpt-neox",
    "Qwen3": "model.qk_norm=head",
    "Qwen3 eager": f"model.qk_norm=head {EAGER}",
    "OLMo 2": OLMO_2,
    "Gemma 2": GEMMA_2,
    "Gemma 2 eager": f"{GEMMA_2} {EAGER}",
    "experts": "model.experts=some",
    "shared experts": "model.experts=with-shared-and-dense",
    "latent attention": "shape=many-heads model.latent=some model.experts=with-shared-and-dense",
    "latent attention eager": f"shape=many-heads model.latent=some {EAGER}",
    "eager": EAGER,
    "eager in autocast": f"{EAGER} {AUTOCAST}",
    "selective recomputation": f"{EAGER} recipe.recompute=selective",
    "full recomputation": "recipe.recompute=full",
    "fused loss": "recipe.loss=fused",
    "chunked loss": "recipe.loss=chunked",
    "fused AdamW": "recipe.optimizer=adamw-fused",
    "8-bit AdamW": "recipe.optimizer=adamw-8bit",
    "paged 8-bit AdamW": "recipe.optimizer=paged-adamw-8bit",
    "Adafactor": "recipe.optimizer=adafactor",
    "Muon": "recipe.optimizer=muon",
    "EMA": "recipe.ema=fp32",
    "accumulated with a tied head": f"model.tied=true {ACCUMULATED}",
    "DDP": "parallel.data=more",
    "ZeRO-1": "parallel.data=more parallel.zero=1",
    "ZeRO-2": ZERO_2,
    "ZeRO-2 accumulated": f"{ZERO_2} {ACCUMULATED}",
    "FSDP2": FSDP2,
    "FSDP2 with shared experts": f"{FSDP2} model.experts=with-shared-and-dense",
    "norms behind shared experts": f"{FSDP2} model.experts=with-shared-and-dense "
    "model.norm_outputs=true",
    "HSDP accumulated": f"{FSDP2} parallel.shard=fewer-than-data {ACCUMULATED}",
    "optimizer on the CPU": f"{ZERO_2} offload.optimizer=cpu",
    "parameters on the CPU": f"{FSDP2} offload.optimizer=cpu offload.parameters=cpu",
    "activations on the CPU": "recipe.recompute=full offload.activations=cpu",
    "LoRA": "adapters.rank=some",
    "QLoRA": "adapters.rank=some adapters.base=4-bit adapters.dropout=some",
    "hf Llama": HF,
    "hf Llama in autocast": f"{HF} {AUTOCAST}",
    "hf Llama eager": f"{HF} {EAGER} recipe.dropout=some",
    "hf GPT-2": f"{HF} shape=gpt model.tied=true recipe.dropout=some",
    "hf GPT-2 in autocast": f"{HF} shape=gpt {AUTOCAST}",
    "hf Mixtral": f"{HF} model.experts=some",
    "hf OLMo 2": f"{HF} {OLMO_2}",
    "hf OLMo 2 eager in autocast": f"{HF} {OLMO_2} {EAGER} {AUTOCAST}",
    "hf Gemma 2 eager": f"{HF} {GEMMA_2} {EAGER}",
    "hf Gemma 2 recomputed": (f"{HF} {GEMMA_2} {EAGER} recipe.recompute=full {SOME_WINDOWS}"),
    "Megatron": f"{MEGATRON} parallel.data=more parallel.zero=1",
    "Megatron GPT eager": f"{MEGATRON} shape=gpt {EAGER} recipe.dropout=some",
    "Megatron tensor": f"{MEGATRON} parallel.tensor=more parallel.sequence_parallel=true",
    "Megatron pipeline": f"{MEGATRON} parallel.pipeline=more {ACCUMULATED}",
    "Megatron context": f"{MEGATRON} parallel.context=more parallel.exchange=a2a",
    "Megatron experts": f"{MEGATRON} model.experts=some",
    "Megatron experts apart": (
        f"{MEGATRON} model.experts=some parallel.data=more parallel.expert=more"
    ),
    "Megatron latent attention": (
        f"{MEGATRON} shape=many-heads model.latent=some model.experts=with-shared-and-dense"
    ),
    "inference": INFERENCE,
    "inference in fp32": f"{INFERENCE} recipe.precision=fp32",
    "inference in 4 bits": f"{INFERENCE} serving.weights=nf4-double serving.cache=int4-g64",
    "inference from a pool": f"{INFERENCE} serving.utilization=some {SOME_WINDOWS}",
    "inference of experts": f"{INFERENCE} model.experts=some parallel.tensor=more",
    "inference of latent attention": (
        f"{INFERENCE} shape=many-heads model.latent=some model.experts=with-shared-and-dense"
    ),
    "hf inference": f"{HF} {INFERENCE}",
    "hf inference with windows": f"{HF} {INFERENCE} {SOME_WINDOWS}",
}


def words_of(run: str) -> dict[str, str]:
    """Return the words that a run is typed in, by switch, with its shape among them."""
    typed = dict(word.split("=") for word in RUNS[run].split())
    brought = stack(typed.get("model.implementation", DEFAULT_STACK)).brings
    return {f"recipe.{key}": word for key, word in brought.items()} | typed


def word(run: str, switch: str) -> str:
    """Return the word for what a run has of a switch."""
    return words_of(run).get(switch, next(iter(SWITCHES[switch])))


@cache
def shown() -> Mapping[str, Lines]:
    """Return the lines of each run, by category and name."""
    return {run: _lines(_structures(words_of(run))) for run in RUNS}


@cache
def neighbours() -> tuple[tuple[str, str, str, Lines], ...]:
    """Return (run, switch, word, lines) for each change of one switch that changes a run."""
    return tuple(_neighbours())


def _neighbours() -> Iterator[tuple[str, str, str, Lines]]:
    for run in RUNS:
        own = _structures(words_of(run))
        for switch, words in SWITCHES.items():
            for one in () if switch == MODE else words:
                changed = _structures({**words_of(run), switch: one})
                if changed and changed != own:
                    yield run, switch, one, _lines(changed)


def _lines(structures: tuple[Switches, ...]) -> Lines:
    return {(line.category, line.name): line for one in structures for line in lines_of(one)}


def _structures(typed: Mapping[str, str]) -> tuple[Switches, ...]:
    """Return the switches of each stage of a run; none where it is refused."""
    try:
        scenario = scenario_of(typed)
    except InputError:
        return ()
    return tuple(switches_of(scenario, stage) for stage in differing(scenario))


def lines_typed(typed: Mapping[str, str]) -> Lines:
    """Return the lines of a run that is typed in words of `SWITCHES`; none where it is refused."""
    return _lines(_structures(typed))


def lines_for(scenario: Scenario) -> Lines:
    """Return the lines of all stages of a scenario, by category and name."""
    return _lines(tuple(switches_of(scenario, stage) for stage in differing(scenario)))


def scenario_of(typed: Mapping[str, str]) -> Scenario:
    """Return a run that is typed in words of `SWITCHES`.

    Raises:
        InputError: the scenario refuses it.
    """
    parts: dict[str, dict[str, Any]] = {
        "model": dict(SHAPES[typed.get("shape", "llama")]),
        "workload": {"sequence": 2**10},
    }
    for switch, one in typed.items():
        if switch in SWITCHES:
            part, _, name = switch.partition(".")
            parts.setdefault(part, {})[name] = SWITCHES[switch][one]
    stack = parts["model"].pop("implementation", "fused")
    ranks = parts.get("parallel", {})
    gpus = prod(ranks.get(axis, 1) for axis in ("data", "tensor", "pipeline", "context"))
    return Scenario(
        model=Model(name="run", title="run", architecture=Architecture(**parts["model"])),
        implementation=stack,
        workload=Workload(**parts["workload"]),
        recipe=Recipe(**parts.get("recipe", {})),
        parallel=Parallel(**ranks),
        offload=Offload(**parts.get("offload", {})),
        adapters=Adapters(**parts.get("adapters", {})),
        serving=Serving(**parts.get("serving", {})),
        hardware=Hardware(gpu=accelerator("h200"), gpus=gpus),
    )
