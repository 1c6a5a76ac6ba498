"""Fields of a JSON object, read so that every fault is noted and all are reported at once."""

import json
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NoReturn, TypeVar

from engine.errors import Fault, InputError, unknown
from engine.units import MIB, binary

LARGEST_FILE = MIB
LARGEST_SIZE = 10**9

T = TypeVar("T")


def json_object(path: Path) -> Mapping[str, object]:
    """Read a JSON object from a regular file of at most 1 MiB.

    Raises:
        InputError: the file cannot be read, is larger, or holds something else.
    """
    where = str(path)
    try:
        value = json.loads(text_of(path, "config.json"), parse_constant=_not_a_number)
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise InputError(Fault(where, what)) from None
    except ValueError as error:
        raise InputError(Fault(where, f"is not JSON: {str(error).split(';')[0]}")) from None
    except RecursionError:
        raise InputError(Fault(where, "is nested too deeply to be a config.json")) from None
    if not isinstance(value, dict):
        raise InputError(Fault(where, f"holds {show(value)}, not a JSON object"))
    return value


def text_of(path: Path, kind: str, *, largest: int = LARGEST_FILE) -> str:
    """Read a regular file of at most so many bytes as UTF-8, or as UTF-16 with its mark.

    `kind` says what should have been named.

    Raises:
        InputError: the file cannot be read, is larger, or is not text.
    """
    where = str(path)
    try:
        # Asked before it is opened: opening a FIFO would wait for a writer.
        status = path.stat()
        if S_ISDIR(status.st_mode):
            raise InputError(Fault(where, "is a folder", f"name a {kind}"))
        if not S_ISREG(status.st_mode):
            raise InputError(Fault(where, "is not a regular file", f"name a {kind}"))
        if status.st_size > largest:
            raise InputError(_too_large(where, binary(status.st_size), kind, largest))
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(Fault(where, f"cannot be read: {reason}", f"name a {kind}")) from None
    except ValueError as error:
        raise InputError(Fault(repr(where), f"is not a path: {error}")) from None
    if len(data) > largest:
        raise InputError(_too_large(where, f"more than {binary(largest)}", kind, largest))
    return decoded(data, where)


def decoded(data: bytes, where: str) -> str:
    """Return UTF-8 `data` as text, without a byte order mark; UTF-16 where its mark says so.

    Raises:
        InputError: it is something else.
    """
    wide = data.startswith((BOM_UTF16_BE, BOM_UTF16_LE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not {'UTF-16' if wide else 'UTF-8'} text: byte {error.start:,} cannot be read"
        raise InputError(Fault(where, what)) from None


def _too_large(where: str, size: str, kind: str, largest: int) -> Fault:
    what = f"is {size}; a {kind} has at most {binary(largest)}"
    return Fault(where, what, f"name a {kind}")


def _not_a_number(name: str) -> NoReturn:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def show(value: object) -> str:
    """Return a JSON value as a message shows it, never longer than a line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else "a number of more than 15 digits"
    if isinstance(value, float):
        return str(value)
    return "a list" if isinstance(value, list | tuple) else "an object"


class Fields:
    """One object under reading: a faulty field is noted and a stand-in returned (1 for a size)."""

    def __init__(self, values: Mapping[str, object], where: str) -> None:
        self._values = values
        self._where = where
        self._unread: set[str] = set()
        self.faults: list[Fault] = []

    def fault(self, key: str, what: str, next_: str = "") -> None:
        """Note a fault of the field `key`."""
        self._unread.add(key)
        self.faults.append(Fault(f"{self._where}.{key}", what, next_))

    def disagree(self, keys: tuple[str, str], what: str, next_: str = "") -> None:
        """Note a fault of the first field against the second, if both could be read."""
        if self._unread.isdisjoint(keys):
            self.fault(keys[0], what, next_)

    def value(self, key: str, default: object = None) -> object:
        """Return the field as it stands, or `default` where it is absent."""
        return self._values.get(key, default)

    def size(
        self,
        key: str,
        *other_names: str,
        default: int | None = None,
        null: int | None = None,
        least: int = 1,
    ) -> int:
        """Return a whole number: `default` where the field is absent, `null` where it is null.

        `other_names` are the names that the configuration class takes for the same field.
        """
        present = [k for k in (key, *other_names) if k in self._values]
        if not present:
            if default is None:
                self.fault(key, "is missing", f"give a whole number of at least {least}")
            return 1 if default is None else default
        value = self._values[present[0]]
        what = _fault_of_size(value, least)
        if any(self._values[other] != value for other in present[1:]):
            what = f"is given as {' and as '.join(present)}, and they differ"
        if value is None and null is not None:
            return null
        if what or not isinstance(value, int):
            self.fault(key, what)
            return 1
        return value

    def switch(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            self.fault(key, f"{show(value)} is not true or false")
            return default
        return value

    def rate(self, key: str, *, default: float = 0.0) -> float:
        """Return a probability; null means none."""
        value = self._values.get(key, default)
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
            self.fault(key, f"{show(value)} is not a probability in [0, 1)")
            return 0.0
        return float(value)

    def choice(self, key: str, choices: Mapping[str, T], *, default: str) -> T:
        """Return what `choices` has for the field's name."""
        value = self._values.get(key, default)
        if isinstance(value, str) and value in choices:
            return choices[value]
        if isinstance(value, str):
            fault = unknown(key, value[:40], tuple(choices))
            self.fault(key, fault.what, fault.next)
        else:
            self.fault(key, f"{show(value)} is not a name", f"known: {', '.join(choices)}")
        return choices[default]


def _fault_of_size(value: object, least: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        return f"{show(value)} is not a whole number"
    if value < least:
        return f"{show(value)} is less than {least}"
    if value > LARGEST_SIZE:
        return f"{show(value)} is more than {LARGEST_SIZE:,}"
    return ""
