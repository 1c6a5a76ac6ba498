"""Where a process begins: `memquiz` and `python -m quiz`."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130
BAD_OUTPUT = 2
CRASHED = 70


def main() -> None:
    """Run the command line given in `sys.argv` and exit with its code."""
    if hasattr(signal, "SIGPIPE"):
        # Python turns a closed pipe into an exception at a random write; ending is what is meant.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _plug()
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


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once, with nothing said, while modules are imported."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # as for a job in the background
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(INTERRUPTED))
    yield
    signal.signal(signal.SIGINT, before)


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
    with _ending_at_once():
        import click  # noqa: PLC0415 - so that Ctrl-C is heard before

        from quiz.cli import memquiz  # noqa: PLC0415 - the same
        from quiz.output.plain import degrade  # noqa: PLC0415 - the same
        from quiz.output.started import started  # noqa: PLC0415 - the same
    degrade()
    try:
        return memquiz.main(prog_name=started(), standalone_mode=False) or 0
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
        _complain(_crash())
        return CRASHED


def _crash() -> str:
    """Return the exception that is handled, and what a report of it needs."""
    import traceback  # noqa: PLC0415 - for what never happens

    from quiz.release import VERSION  # noqa: PLC0415 - the same

    torch = getattr(sys.modules.get("torch"), "__version__", "")
    versions = (
        f"memquiz {VERSION}",
        f"Python {sys.version.split()[0]}",
        *([f"PyTorch {torch}"] if torch else []),
        sys.platform,
    )
    return (
        f"{traceback.format_exc()}"
        "memquiz: this is a fault in memquiz, and no answer. A report of it needs the lines "
        "above, the command that was typed, its scenario file if it has one, and: "
        f"{', '.join(versions)}\n"
    )


if __name__ == "__main__":
    main()
