"""A scenario as a TOML file or as the tables of one: read with every fault listed, and written."""

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import accelerator, accelerators, architecture_from_shape, model, models
from engine.errors import Fault, InputError, UnmodelledError, unknown
from engine.families.config import read_config
from engine.fields import LARGEST_FILE, decoded, show, text_of
from engine.scenario import (
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
from engine.settings import DEFAULT_STACK
from engine.stacks.registry import names, stack

T = TypeVar("T")

TABLES = ("model", "workload", "recipe", "adapters", "parallel", "offload", "serving", "hardware")
NEEDED = {("workload", "sequence"): "tokens", ("hardware", "gpu"): "a name of the catalogue"}
MODEL_KEYS = ("name", "config", "implementation")
SHAPE_KEYS = tuple(field.name for field in fields(Architecture))
KIND = "scenario file in TOML"
# Stands for a model that could not be read, so that what else is wrong is found too.
STAND_IN = Model(
    name="unread",
    title="unread",
    architecture=Architecture(layers=1, hidden=1, heads=1, ffn=1, vocab=1),
)


def read(path: Path) -> Scenario:
    """Read a scenario from a TOML file, or from standard input where `path` is "-".

    Raises:
        InputError: the file cannot be read or is not TOML, or `from_mapping` refuses it.
    """
    return from_mapping(read_tables(path), folder=path.parent)


def read_tables(path: Path) -> dict[str, Any]:
    """Read the tables of a scenario file, unchecked.

    Raises:
        InputError: the file cannot be read, is larger than 1 MiB, or is not TOML.
    """
    where = "standard input" if str(path) == "-" else str(path)
    try:
        return tomllib.loads(_stdin() if str(path) == "-" else text_of(path, KIND))
    except tomllib.TOMLDecodeError as error:
        raise InputError(Fault(where, f"is not TOML: {error}", f"give a {KIND}")) from None
    except (RecursionError, ValueError) as error:
        raise InputError(Fault(where, f"is not TOML: {error}", f"give a {KIND}")) from None


def _stdin() -> str:
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", f"give a {KIND}"))
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise InputError(Fault("standard input", what, f"give a {KIND}")) from None
    if len(data) > LARGEST_FILE:
        raise InputError(Fault("standard input", "is larger than a scenario file may be"))
    return decoded(data, "standard input")


def from_mapping(tables: Mapping[str, Any], *, folder: Path = Path()) -> Scenario:
    """Build a scenario from the tables of a scenario file.

    Args:
        tables: table name to its keys and values, as TOML gives them.
        folder: what a relative `config` path starts from.

    Raises:
        InputError: listing every table and key that is unknown, missing or of the wrong kind,
            and what the parts themselves refuse.
        UnmodelledError: all is sound, but the ledger has no lines for a part of it.
    """
    faults = list(_faults_of_tables(tables))
    sound = {name: _sound(name, _table(tables, name)) for name in KINDS}
    chosen = _tried(lambda: _model(_table(tables, "model"), folder), faults) or STAND_IN
    gpu = _tried(lambda: _gpu(sound["hardware"]), faults)
    scenario = _tried(lambda: _scenario(chosen, gpu or _any_gpu(), tables, sound), faults)
    if faults or scenario is None:
        raise InputError(*faults)
    if isinstance(scenario, UnmodelledError):
        raise scenario
    return scenario


def _scenario(
    chosen: Model, gpu: Accelerator, tables: Mapping[str, Any], sound: Mapping[str, Any]
) -> Scenario | UnmodelledError:
    parallel, gpus = _ranks(sound["parallel"], sound["hardware"])
    named = str(_table(tables, "model").get("implementation", DEFAULT_STACK))
    brought = stack(named).brings if named in names() else {}
    defaults = {"dropout": chosen.architecture.dropout, **brought}
    try:
        return Scenario(
            model=chosen,
            implementation=named,
            workload=Workload(**({"sequence": 1} | sound["workload"])),
            recipe=Recipe(**(defaults | sound["recipe"])),
            adapters=Adapters(**sound["adapters"]),
            parallel=Parallel(**parallel),
            offload=_offload(sound["offload"]),
            serving=Serving(**sound["serving"]),
            hardware=Hardware(
                gpu=gpu, gpus=gpus, network_gb_s=sound["hardware"].get("network_gb_s", 0.0)
            ),
        )
    except UnmodelledError as gap:
        return gap


def to_mapping(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return the tables of a scenario file that gives `scenario` again.

    A model that has a catalogued name but is not that model is written as "NAME (changed)".
    """
    return {
        "model": _written(scenario.model) | {"implementation": scenario.implementation},
        "workload": asdict(scenario.workload),
        "recipe": _recipe_table(scenario.recipe),
        **({"adapters": asdict(scenario.adapters)} if scenario.adapters.rank else {}),
        "parallel": asdict(scenario.parallel),
        "offload": _offload_table(scenario.offload),
        **({"serving": asdict(scenario.serving)} if scenario.served else {}),
        "hardware": _hardware_table(scenario.hardware),
    }


def _recipe_table(recipe: Recipe) -> dict[str, Any]:
    """Return its keys, without that of an average that is not kept."""
    return {key: value for key, value in asdict(recipe).items() if (key, value) != ("ema", "none")}


def _hardware_table(hardware: Hardware) -> dict[str, Any]:
    own = {"network_gb_s": hardware.network_gb_s} if hardware.network_gb_s else {}
    return {"gpu": hardware.gpu.name, "gpus": hardware.gpus, **own}


def _offload(table: Mapping[str, Any]) -> Offload:
    """Return what the table says; the optimizer is where the parameters are."""
    return Offload(**({"optimizer": table.get("parameters", "none")} | dict(table)))


def _offload_table(offload: Offload) -> dict[str, Any]:
    """Return its keys, without those of activations and parameters where they stay."""
    table = asdict(offload)
    stays = {key for key in ("activations", "parameters") if table[key] == "none"}
    return {key: value for key, value in table.items() if key not in stays}


def _written(chosen: Model) -> dict[str, Any]:
    known = models().get(chosen.name)
    if known is not None and known.architecture == chosen.architecture:
        return {"name": chosen.name}
    name = f"{chosen.name} (changed)" if is_catalogued(chosen.name) else chosen.name
    return {"name": name} | _shape(chosen.architecture)


def _shape(architecture: Architecture) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(Architecture)}
    return {k: v for k, v in asdict(architecture).items() if v != defaults[k] and v is not None}


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = tables.get(name, {})
    return value if isinstance(value, Mapping) else {}


def _tried(make: Callable[[], T], faults: list[Fault]) -> T | None:
    try:
        return make()
    except InputError as error:
        faults.extend(error.faults)
        return None


def _faults_of_tables(tables: Mapping[str, Any]) -> Iterator[Fault]:
    for name, value in tables.items():
        if name not in TABLES:
            yield unknown("scenario", name[:40], TABLES)
        elif not isinstance(value, Mapping):
            yield Fault(name, f"{show(value)} is not a table", f"write [{name}] above its keys")
    for name in KINDS:
        yield from _faults_of_keys(name, _table(tables, name), KINDS[name])


def _sound(name: str, table: Mapping[str, object]) -> dict[str, Any]:
    keys = KINDS[name]
    return {key: value for key, value in table.items() if key in keys and _is(value, keys[key])}


def _kinds(part: type) -> Mapping[str, type]:
    return {field.name: field.type for field in fields(part) if isinstance(field.type, type)}


def _faults_of_keys(
    name: str, table: Mapping[str, object], keys: Mapping[str, type]
) -> Iterator[Fault]:
    for key, value in table.items():
        if key not in keys:
            yield unknown(name, key[:40], tuple(keys))
        elif not _is(value, keys[key]):
            yield Fault(f"{name}.{key}", f"{show(value)} is not {NOUNS[keys[key]]}")
    for (where, key), noun in NEEDED.items():
        if where == name and key not in table:
            yield Fault(f"{name}.{key}", "is missing", f"give {noun}")


KINDS: Mapping[str, Mapping[str, type]] = {
    "workload": _kinds(Workload),
    "recipe": _kinds(Recipe),
    "adapters": _kinds(Adapters),
    "parallel": _kinds(Parallel),
    "offload": _kinds(Offload),
    "serving": _kinds(Serving),
    "hardware": {**_kinds(Hardware), "gpu": str},
}
NOUNS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a name in quotes",
}


def _is(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _model(table: Mapping[str, Any], folder: Path) -> Model:
    faults = [
        unknown("model", key[:40], (*MODEL_KEYS, *SHAPE_KEYS))
        for key in table
        if key not in (*MODEL_KEYS, *SHAPE_KEYS)
    ]
    faults += [
        Fault(f"model.{key}", f"{show(table[key])} is not a name in quotes")
        for key in MODEL_KEYS
        if key in table and not isinstance(table[key], str)
    ]
    if faults:
        raise InputError(*faults)
    shape = {key: value for key, value in table.items() if key in SHAPE_KEYS}
    if shape and "config" in table:
        raise InputError(Fault("model", "has both config and sizes", "give one of the two"))
    if not shape and "config" not in table:
        return _catalogued(table)
    _refuse_catalogued_label(table, "the sizes" if shape else "the config")
    if not shape:
        return _configured(table, folder)
    name = str(table.get("name", "own model"))
    return Model(name=name, title=name, architecture=architecture_from_shape("model", shape))


def _refuse_catalogued_label(table: Mapping[str, Any], beside: str) -> None:
    name = str(table.get("name", ""))
    if is_catalogued(name):
        pronoun = "them" if beside == "the sizes" else "it"
        ways = f"give {beside} another name, or leave {pronoun} out"
        raise InputError(Fault("model.name", f"{name[:60]} is a catalogued model", ways))


def _configured(table: Mapping[str, Any], folder: Path) -> Model:
    """Return the model of a config, called by its file or, where that is config.json, its folder.

    Where that is a catalogued name "(config)" is put behind it, so that the two can be told apart.
    """
    if not str(table["config"]).strip():
        raise InputError(Fault("model.config", "is empty", "name a config.json"))
    path = folder / str(table["config"])
    architecture, model_type = read_config(path)
    if "name" in table:
        name = str(table["name"])
    else:
        above = path.parent.resolve().name
        name = above if path.name == "config.json" and above else path.stem
        name = f"{name} (config)" if is_catalogued(name) else name
    return Model(name=name, title=name, architecture=architecture, model_type=model_type)


def is_catalogued(name: str) -> bool:
    """Return whether `name` alone would stand for a model of the catalogue."""
    try:
        model(name)
    except InputError:
        return False
    return True


def _catalogued(table: Mapping[str, Any]) -> Model:
    if "name" not in table:
        what = "names no model"
        ways = "give name, config or the sizes (layers, hidden, heads, ffn, vocab)"
        raise InputError(Fault("model", what, ways))
    row = model(str(table["name"]))
    return Model(
        name=row.name,
        title=row.title,
        architecture=row.architecture,
        max_sequence=row.max_sequence,
    )


def _gpu(table: Mapping[str, Any]) -> Accelerator | None:
    return accelerator(table["gpu"]) if "gpu" in table else None


def _any_gpu() -> Accelerator:
    return next(iter(accelerators().values()))


def _ranks(parallel: Mapping[str, Any], hardware: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the parallel table and the number of GPUs; either fills in what the other lacks."""
    values = dict(parallel)
    others = 1
    for name in ("tensor", "pipeline", "context"):
        others *= values.get(name, 1)
    if "gpus" not in hardware:
        return values, values.get("data", 1) * others
    gpus: int = hardware["gpus"]
    if "data" not in values and others > 0 and gpus % others == 0 and gpus > 0:
        values["data"] = gpus // others
    return values, gpus
