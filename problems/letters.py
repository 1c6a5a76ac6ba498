"""The letters that a typed answer may use: those that the prompt itself gives a value."""

import re
from collections.abc import Mapping

from engine.scenario import Scenario


def letters(scenario: Scenario, prompt: str) -> dict[str, int]:
    """Return the letters of `scenario` that `prompt` defines as "h = 4,096".

    Any other letter is left to its usual meaning: "50k" is 50,000 where k is no symbol.
    """
    a, work = scenario.architecture, scenario.workload
    values = {
        "b": work.micro_batch,
        "s": work.sequence,
        "L": a.layers,
        "h": a.hidden,
        "a": a.heads,
        "k": a.kv_heads,
        "d": a.head_dim,
        "f": a.ffn,
        "V": a.vocab,
        "P": a.parameters,
    }
    return defined(values, prompt)


def defined(values: Mapping[str, int], prompt: str) -> dict[str, int]:
    """Return those of the letters that `prompt` defines."""
    return {name: size for name, size in values.items() if re.search(rf"\b{name} = ", prompt)}
