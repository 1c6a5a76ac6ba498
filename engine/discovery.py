"""What the modules of a folder define: a file there is all that one more thing takes."""

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def modules(package: ModuleType) -> tuple[str, ...]:
    """Return the names of the modules of `package`, without importing them."""
    return tuple(module.name for module in iter_modules(package.__path__))


def defined(package: ModuleType, module: str, attribute: str, kind: type[T]) -> T:
    """Return the `attribute` of one module of `package`.

    Raises:
        TypeError: the module has none, or one of another kind.
    """
    name = f"{package.__name__}.{module}"
    value = getattr(import_module(name), attribute, None)
    if not isinstance(value, kind):
        message = f"{name} has no {attribute} that is a {kind.__name__}"
        raise TypeError(message)
    return value


def discovered(package: ModuleType, attribute: str, kind: type[T]) -> tuple[T, ...]:
    """Return the `attribute` of every module of `package`, by the modules' names.

    Raises:
        TypeError: a module there has none, or one of another kind.
    """
    return tuple(defined(package, module, attribute, kind) for module in modules(package))


def repeated(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that stand more than once, in alphabetical order: none may be lost."""
    return tuple(sorted(name for name, times in Counter(names).items() if times > 1))
