"""The rules: a decorated function in a file of `problems.check.known` is all that one takes."""

from functools import cache
from importlib import import_module
from types import ModuleType

from engine.discovery import modules, repeated
from problems.check import known
from problems.check.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules that need no marking, file by file."""
    return rules_in(known)


def rules_in(package: ModuleType) -> tuple[Rule, ...]:
    """Return the rules of a folder, file by file.

    Raises:
        ValueError: two have the same name.
    """
    found = [
        value
        for module in modules(package)
        for value in vars(import_module(f"{package.__name__}.{module}")).values()
        if isinstance(value, Rule)
    ]
    if twice := repeated(rule.name for rule in found):
        message = f"two rules have the same name: {', '.join(twice)}"
        raise ValueError(message)
    return tuple(found)
