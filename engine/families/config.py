"""A Hugging Face config.json read as an `Architecture`. Nothing is ever downloaded."""

from collections.abc import Mapping
from pathlib import Path

from engine.architecture import Architecture
from engine.errors import Fault, InputError, unknown
from engine.families.family import Family
from engine.families.registry import families
from engine.fields import Fields, json_object, show

OTHER_HEADS = ("Classification", "QuestionAnswering", "DoubleHeads", "ConditionalGeneration")


def read_config(path: Path) -> tuple[Architecture, str]:
    """Read the architecture from a config.json, and the `model_type` of its class.

    Raises:
        InputError: the file cannot be read or is not a JSON object of at most 1 MiB, or
            `architecture_of` refuses it.
    """
    config = json_object(path)
    return architecture_of(config), str(config["model_type"])


def architecture_of(config: Mapping[str, object], *, where: str = "config") -> Architecture:
    """Return the causal language model that `config` describes.

    Dropout is the largest of the configuration's rates: an architecture has one.

    Args:
        config: the parsed config.json.
        where: what faults call it, as in `config.num_hidden_layers`.

    Raises:
        InputError: listing every field that is missing, of the wrong form or not representable.
    """
    family = _named(config, f"{where}.model_type")
    reader = Fields(config, where)
    _refuse_other_models(reader)
    try:
        architecture = family.read(reader)
    except InputError as error:
        # Where a field was unreadable, a stand-in took its place: its disagreements mean nothing.
        raise InputError(*(reader.faults or error.faults)) from None
    if reader.faults:
        raise InputError(*reader.faults)
    return architecture


def _named(config: Mapping[str, object], where: str) -> Family:
    """Return the family of the config's `model_type`."""
    name, known = config.get("model_type"), families()
    if not isinstance(name, str):
        what = "is missing" if "model_type" not in config else f"{show(name)} is not a name"
        raise InputError(Fault(where, what, f"known: {', '.join(known)}"))
    if name not in known:
        raise InputError(unknown(where, name[:40], tuple(known)))
    return known[name]


def _refuse_other_models(c: Fields) -> None:
    for switch in ("add_cross_attention", "is_encoder_decoder"):
        if c.switch(switch):
            c.fault(switch, "is not representable", "only decoders without it are")
    if c.value("pruned_heads"):
        c.fault("pruned_heads", "is not representable", "only whole heads are")
    classes = c.value("architectures")
    for name in classes if isinstance(classes, list) else ():
        if isinstance(name, str) and any(head in name for head in OTHER_HEADS):
            what = f"{show(name)} has another head than a language model's"
            c.fault("architectures", what, "only causal language models are counted")
