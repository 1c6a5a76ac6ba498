"""Whether PyTorch can be used here, found out without loading it, and what to do where not."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

# As in pyproject.toml.
OLDEST = (2, 9)
OWN = ("engine", "problems", "quiz")
WITHOUT_GPU = "pytorch.org/get-started has the build for CPUs, which is enough"


class PyTorchError(Exception):
    """PyTorch is missing, too old or broken; the message is one line and says what to do."""


def require_pytorch(extra: str, library: str = "") -> None:
    """Return where PyTorch is there and new enough.

    Args:
        extra: the extra of pyproject.toml that brings it.
        library: what that brings beside it.

    Raises:
        PyTorchError: it is not.
    """
    try:
        there = find_spec("torch") is not None
    except ImportError:
        there = False
    install = f'pip install "memquiz[{extra}]"'
    if not there:
        needs = f"PyTorch and {library}" if library else "PyTorch"
        raise PyTorchError(f"verify needs {needs}: {install} ({WITHOUT_GPU})")
    found = _version()
    if found and _release(found) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise PyTorchError(
            f"verify needs PyTorch {oldest} or newer, and {found} is installed: {install}"
        )


@contextmanager
def loading() -> Iterator[None]:
    """Load PyTorch inside, faster, and with an error that says so where that fails.

    Raises:
        PyTorchError: PyTorch, or a library that it needs, does not load.
    """
    # What an import makes lives as long as the process: collecting it costs and frees nothing.
    gc.disable()
    try:
        yield
    except (ImportError, OSError) as error:
        if (getattr(error, "name", None) or "").partition(".")[0] in OWN:
            raise
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise PyTorchError(
            f"PyTorch {_version()} is installed but does not load: {why}"
        ) from error
    finally:
        gc.freeze()
        gc.enable()


def _version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _release(found: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", found)[:2])
