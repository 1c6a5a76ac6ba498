"""Where a process begins: `memquiz` and `python -m quiz`."""

import os
import signal
import sys
import traceback

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
    degrade()
    try:
        code = _code()
        sys.stdout.flush()
    except OSError as error:
        # Input that cannot be read has its own message; what is left is stdout on a full disk.
        sys.stderr.write(f"memquiz: the output could not be written: {error.strerror}\n")
        code = BAD_OUTPUT
    sys.stderr.flush()
    # Taking sympy down object by object costs a fifth of its import; nothing is left open.
    os._exit(code)


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
        traceback.print_exc()
        return CRASHED


if __name__ == "__main__":
    main()
