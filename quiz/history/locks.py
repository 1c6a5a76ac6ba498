"""Locks on the sets that a process has open: on bytes of an empty file, gone with the process."""

import errno
import sys
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def locked(file: BinaryIO, place: int) -> bool:
    """Lock the byte at `place` until the process ends; False where another one has it."""
    try:
        if sys.platform == "win32":
            file.seek(place)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError as error:
        # A file system that knows no locks keeps nobody out.
        return error.errno not in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
    return True
