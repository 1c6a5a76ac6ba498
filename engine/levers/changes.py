"""What a changed scenario has otherwise, in the words of the scenario file."""

import json
from dataclasses import fields

from engine.scenario import Scenario
from engine.stacks.registry import stack

TABLES = ("workload", "recipe", "adapters", "parallel", "offload")


def changes(before: Scenario, after: Scenario) -> tuple[str, ...]:
    """Return each key that differs, with its new value: ("zero = 2", 'recompute = "full"').

    What only follows from another key, such as the number of GPUs of a split, is told too, so that
    the list written into a file gives `after`.
    """
    found = []
    if before.implementation != after.implementation:
        found.append(_written("implementation", after.implementation))
    for table in TABLES:
        old, new = getattr(before, table), getattr(after, table)
        for field in fields(new):
            value = getattr(new, field.name)
            if value != getattr(old, field.name):
                whole = table in {"adapters", "offload"}
                name = f"{table}.{field.name}" if whole else field.name
                found.append(_written(name, value))
    if before.hardware.gpus != after.hardware.gpus:
        found.append(_written("gpus", after.hardware.gpus))
    return tuple(found)


def brief(before: Scenario, after: Scenario) -> str:
    """Return the same in a line, without what a move to Megatron-LM brings by itself."""
    found = changes(before, after)
    if before.implementation == after.implementation:
        return ", ".join(found)
    brought = ("implementation", *stack(after.implementation).brings)
    own = [one for one in found if one.partition(" = ")[0] not in brought]
    return f"{', '.join(own)}, on Megatron-LM"


def _written(name: str, value: object) -> str:
    return f"{name} = {json.dumps(value)}"
