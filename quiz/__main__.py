"""Where a process begins: `memquiz` and `python -m quiz`."""

import os
import signal
import sys
import traceback
from contextlib import suppress

import click

from quiz.cli import memquiz
from quiz.plain import degrade

INTERRUPTED = 130
BAD_OUTPUT = 2
CRASHED = 70


def main() -> None:
    """Run the command line given in `sys.argv` and exit with its code."""
    if hasattr(signal, "SIGPIPE"):
        # Python turns a closed pipe into an exception at a random write; ending is what is meant.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _plug()
    degrade()
    try:
        code = _code() if sys.stdout else _without_output()
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        # Input that cannot be read has its own message; what is left is stdout on a full disk.
        _complain(f"memquiz: the output could not be written: {error.strerror}\n")
        code = BAD_OUTPUT
    _complain("")
    # Taking sympy down object by object costs a fifth of its import; nothing is left open.
    os._exit(code)


def _plug() -> None:
    """Put the null device in the place of standard streams that were closed.

    Else the next file that is opened, such as the learner's answers, would take the place.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _without_output() -> int:
    _complain("memquiz: standard output is closed; there is nowhere to write to\n")
    return BAD_OUTPUT


def _complain(text: str) -> None:
    with suppress(OSError):  # nothing can be said where stderr itself cannot be written
        sys.stderr.write(text)
        sys.stderr.flush()


def _code() -> int:
    try:
        return memquiz.main(prog_name="memquiz", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except OSError:
        raise
    except Exception:  # noqa: BLE001 - else Python would exit with 1, which says "does not fit"
        _complain(traceback.format_exc())
        return CRASHED


if __name__ == "__main__":
    main()
