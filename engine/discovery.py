"""What the modules of a folder define: a file there is all that one more thing takes."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def discovered(package: ModuleType, attribute: str, kind: type[T]) -> tuple[T, ...]:
    """Return the `attribute` of every module of `package`, by the modules' names.

    Raises:
        TypeError: a module there has none, or one of another kind.
    """
    found = []
    for module in iter_modules(package.__path__):
        name = f"{package.__name__}.{module.name}"
        value = getattr(import_module(name), attribute, None)
        if not isinstance(value, kind):
            message = f"{name} has no {attribute} that is a {kind.__name__}"
            raise TypeError(message)
        found.append(value)
    return tuple(found)
