"""The scenario that a command is about: a TOML file, options in place of one, or both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import click

from engine.adapters import BASES, GROUPS
from engine.errors import Fault, InputError
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import (
    ATTENTIONS,
    CACHES,
    EMAS,
    EXCHANGES,
    LOSSES,
    MODES,
    OFFLOADS,
    RECOMPUTES,
    WEIGHTS,
    WINDOWS,
    Scenario,
)
from engine.scenario_file import from_mapping, read_tables, to_mapping
from engine.stacks.registry import names
from quiz.options.values import real, whole


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An option and the key of a scenario file that it sets."""

    table: str
    key: str
    kind: type = int
    says: str
    flag: str = ""
    metavar: str = ""

    @property
    def name(self) -> str:
        """The parameter's name in Python."""
        return f"{self.table}__{self.key}"

    @property
    def spelled(self) -> str:
        """The option as it is typed."""
        return self.flag or "--" + self.key.replace("_", "-")

    @property
    def option(self) -> Callable[[Any], Any]:
        """The click decorator."""
        if self.kind is bool:
            return click.option(
                self.spelled, self.name, is_flag=True, default=None, help=self.says
            )
        metavar = self.metavar or {int: "N", float: "P", str: "NAME"}.get(self.kind)
        return click.option(self.spelled, self.name, metavar=metavar, help=self.says)

    def read(self, typed: str) -> str | float | Fault:
        """Return the value that was typed behind the option, or what is wrong with it.

        A switch that was given is true.
        """
        if self.kind is bool:
            return True
        if self.kind is int:
            return whole(self.spelled, typed)
        return real(self.spelled, typed) if self.kind is float else typed


def _named(table: str, key: str, says: str, flag: str = "") -> Entry:
    return Entry(table=table, key=key, kind=str, says=says, flag=flag)


def _counted(table: str, key: str, says: str) -> Entry:
    return Entry(table=table, key=key, says=says)


ENTRIES = (
    _named("model", "name", "A model of `memquiz catalog models`.", "--model"),
    _named("model", "config", "A Hugging Face config.json, in place of a model's name."),
    _counted("model", "layers", "Decoder layers of a model of your own."),
    _counted("model", "hidden", "Its hidden size."),
    _counted("model", "heads", "Its query heads."),
    _counted("model", "kv_heads", "Its key-value heads; else as many as query heads."),
    _counted("model", "head_dim", "Size of a head; else hidden / heads."),
    _counted("model", "ffn", "Width of its MLP."),
    _counted("model", "vocab", "Its vocabulary entries."),
    _named("model", "implementation", f"Its software: {', '.join(names())}."),
    _named("workload", "mode", f"{', '.join(MODES)}; else training."),
    _counted("workload", "sequence", "Tokens of a sequence."),
    _counted("workload", "micro_batch", "Sequences in one forward pass on one GPU; else 1."),
    _counted("workload", "gradient_accumulation", "Forward passes before a step; else 1."),
    _named("recipe", "precision", f"{', '.join(PRECISIONS)}; else mixed."),
    _named("recipe", "optimizer", f"{', '.join(optimizers())}; else adamw."),
    _named("recipe", "attention", f"{', '.join(ATTENTIONS)}; else flash."),
    _named("recipe", "recompute", f"{', '.join(RECOMPUTES)}; else none."),
    _named("recipe", "loss", f"{', '.join(LOSSES)}; else eager."),
    Entry(
        table="recipe",
        key="dropout",
        kind=float,
        says="Probability of dropout; else the model's own.",
    ),
    _named("recipe", "ema", f"Moving average of the weights: {', '.join(EMAS)}; else none."),
    _counted(
        "adapters", "rank", "Rank of LoRA adapters, trained in place of the model; else 0, none."
    ),
    _named("adapters", "targets", f"Adapted matrices: {', '.join(GROUPS)}, or names; else all."),
    _named("adapters", "base", f"What is frozen: {', '.join(BASES)}; else 16-bit."),
    _counted("parallel", "data", "Data-parallel ranks; else all GPUs."),
    _counted("parallel", "zero", "ZeRO stage: 0, 1, 2 or 3 (FSDP); else 0."),
    _counted("parallel", "shard", "Ranks of a group that ZeRO-3 shards over (HSDP); else all."),
    _counted("parallel", "tensor", "Tensor-parallel ranks; else 1."),
    Entry(
        table="parallel",
        key="sequence_parallel",
        kind=bool,
        says="Tensor ranks share the tokens outside attention and MLP.",
    ),
    _counted("parallel", "pipeline", "Pipeline stages, under 1F1B; else 1."),
    _counted("parallel", "context", "Context-parallel ranks; else 1."),
    _named("parallel", "exchange", f"How they meet: {', '.join(EXCHANGES)}; else p2p."),
    _counted("parallel", "expert", "Ranks of the data-parallel ones that share experts; else 1."),
    _named(
        "offload", "optimizer", f"Optimizer on {', '.join(OFFLOADS[1:])}; else none.", "--offload"
    ),
    _named(
        "offload",
        "activations",
        "Where what layers save waits: none, cpu; else none.",
        "--offload-activations",
    ),
    _named(
        "offload",
        "parameters",
        f"ZeRO-3's shards, and the optimizer, on {', '.join(OFFLOADS[1:])}; else none.",
        "--offload-parameters",
    ),
    _named(
        "serving",
        "weights",
        f"Inference: format of the matrices: {', '.join(WEIGHTS)}; else auto.",
    ),
    _named(
        "serving",
        "cache",
        f"Inference: format of the KV cache: {', '.join(CACHES)}; else auto.",
        "--kv-cache",
    ),
    Entry(
        table="serving",
        key="block",
        says="Inference: tokens of a block of the cache; else 16.",
        flag="--kv-block",
    ),
    Entry(
        table="serving",
        key="utilization",
        kind=float,
        says="Inference: share of the card that is taken at the start; else 0, none.",
        metavar="SHARE",
    ),
    Entry(
        table="serving",
        key="chunk",
        says="Inference: most tokens of one pass of the prefill; else 8192.",
        flag="--prefill-chunk",
    ),
    _named(
        "serving",
        "windows",
        f"Inference: what windowed layers keep: {', '.join(WINDOWS)}; else capped.",
        "--kv-windows",
    ),
    _named("hardware", "gpu", "A GPU of `memquiz catalog gpus`."),
    _counted("hardware", "gpus", "Number of GPUs; else 1."),
    Entry(
        table="hardware",
        key="network_gb_s",
        kind=float,
        says="GB/s from one GPU to other nodes; else the catalogue's.",
        flag="--network",
        metavar="GB/S",
    ),
)
MODELS_OWN = {"implementation"}
WAYS = "give one of --model, --config and the sizes (--layers, --hidden, …)"


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the SCENARIO argument and the options that stand for one or change it."""
    decorated = reduce(lambda made, entry: entry.option(made), reversed(ENTRIES), command)
    return click.argument("scenario", required=False)(decorated)


def scenario_from(file: str | None, options: Mapping[str, object]) -> Scenario:
    """Return the scenario of a file ("-" is standard input) with options in place of its keys.

    Args:
        file: as typed; None where only options were given.
        options: by the names of `ENTRIES`; None where one was not given.

    Raises:
        InputError: neither a file nor an option was given, or what they say is refused.
    """
    given = _given(options)
    if file is None and not given:
        ways = "give a TOML file, - for standard input, or --model, --sequence and --gpu"
        raise InputError(Fault("SCENARIO", "is missing", ways))
    if file is None:
        return from_mapping(_changed({}, given))
    if not file.strip():
        raise InputError(
            Fault("SCENARIO", "is empty", "name a TOML file, or - for standard input")
        )
    path = Path(file)
    return from_mapping(_changed(read_tables(path), given), folder=path.parent)


def scenario_with(scenario: Scenario, options: Mapping[str, object]) -> Scenario:
    """Return `scenario` with options in place of what it says.

    Args:
        scenario: what is changed.
        options: by the names of `ENTRIES`; None where one was not given.

    Raises:
        InputError: what the options say is refused.
    """
    given = _given(options)
    return from_mapping(_changed(to_mapping(scenario), given)) if given else scenario


def _given(options: Mapping[str, object]) -> dict[Entry, object]:
    typed = {
        entry: str(options[entry.name]) for entry in ENTRIES if options[entry.name] is not None
    }
    given = {entry: entry.read(text) for entry, text in typed.items()}
    faults = [value for value in given.values() if isinstance(value, Fault)]
    faults += _models_given(tuple(given))
    if faults:
        raise InputError(*faults)
    return dict(given)


def _models_given(given: Sequence[Entry]) -> Iterator[Fault]:
    """Yield a fault where the model is given in more ways than one."""
    own = [entry for entry in given if entry.table == "model" and entry.key not in MODELS_OWN]
    named = [entry.spelled for entry in own if entry.key in {"name", "config"}]
    if len(named) == 2 or (named and len(own) > len(named)):
        said = [entry.spelled for entry in own]
        what = f"{', '.join(said[:-1])} and {said[-1]} are given"
        yield Fault("model", what, WAYS)


def _changed(tables: Mapping[str, Any], given: Mapping[Entry, object]) -> dict[str, Any]:
    """Return `tables` with what was given; what is no table stays, to be refused by its name."""
    changed = dict(tables)
    if any(entry.name in {"model__name", "model__config"} for entry in given):
        # Another model takes the place of the file's, sizes and all.
        changed["model"] = {k: v for k, v in _table(tables, "model").items() if k in MODELS_OWN}
    for entry, value in given.items():
        if isinstance(changed.get(entry.table, {}), dict):
            found = str(Path(str(value)).absolute()) if entry.key == "config" and value else value
            changed[entry.table] = _table(changed, entry.table) | {entry.key: found}
    return changed


def _table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = tables.get(name, {})
    return value if isinstance(value, dict) else {}
