"""Which kept interview is meant, alone or of two; where none is, which ones there are."""

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from engine.errors import Fault, InputError
from quiz.history.interviews import ALONE, TWO, Interviews, SavedInterview

COMMANDS = {ALONE: "memquiz interview", TWO: "memquiz interview --interviewer"}
KINDS = {ALONE: "interview", TWO: "interview of two"}
WITH = {ALONE: "alone", TWO: "of two"}
# Of those that are listed.
MOST = 5


def kept_before(folder: Path, name: str, *, mode: str) -> SavedInterview:
    """Return the interview with this number, uid or beginning of a uid.

    Args:
        folder: of the learner's data.
        name: "" is the last one that was finished.
        mode: "alone" or "two".

    Raises:
        InputError: none of this mode is; it says where one of the other is, or lists the last.
    """
    with Interviews(folder, mode=mode) as store:
        saved = store.named(name)
        if saved is not None:
            return saved
        last = store.finished(MOST)
    other = ALONE if mode == TWO else TWO
    found = None
    with Interviews(folder, mode=other) as store, suppress(InputError):  # several begin so
        found = store.named(name)
    if found is not None:
        raise InputError(_elsewhere(name, mode=mode, other=other))
    raise InputError(_unknown(name, last, mode=mode))


def _elsewhere(name: str, *, mode: str, other: str) -> Fault:
    command = f"{COMMANDS[other]} --replay"
    if name:
        command += f" {shlex.quote(name)}"
        return Fault("--replay", f"{name[:40]!r} is an interview {WITH[other]}", command)
    what = f"no {KINDS[mode]} was finished yet"
    return Fault("--replay", what, f"the last {KINDS[other]}: {command}")


def _unknown(name: str, last: tuple[SavedInterview, ...], *, mode: str) -> Fault:
    what = f"there is no {KINDS[mode]} {name[:40]!r}" if name else ""
    if not last:
        none = f"no {KINDS[mode]} was finished yet"
        said = f"{what}, and {none}" if what else none
        return Fault("--replay", said, f"{COMMANDS[mode]} begins one")
    return Fault("--replay", what, "the last that were finished:", below=tuple(_listed(last)))


def _listed(last: tuple[SavedInterview, ...]) -> Iterator[str]:
    for one in last:
        of = one.options
        run = f"{of['level']}, {of['minutes']} minutes, seed {of['seed']}"
        yield f"{one.key}  {one.created:%Y-%m-%d %H:%M} UTC  {run}"
