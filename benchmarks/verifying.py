#!/usr/bin/env python3
"""How long `memquiz verify` takes, how much memory, and that twice the layers take twice as long.

python3 bootstrap.py python benchmarks/verifying.py
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from engine.units import KIB, MIB

COMMAND = (sys.executable, "-m", "quiz", "verify", "--json")
LLAMA_3_8B = ("--model", "llama-3-8b", "--gpu", "h100-80gb", "--sequence", "8192")
LLAMA_405B = ("--model", "llama-3.1-405b", "--gpu", "h200", "--sequence", "8192")
FSDP2 = ("--gpus", "8", "--zero", "3")
SHAPE = (
    *("--hidden", "4096", "--heads", "32", "--kv-heads", "8", "--ffn", "14336"),
    *("--vocab", "128256", "--gpu", "h100-80gb", "--sequence", "8192"),
)
LAYERS = (32, 64, 128)
NOTHING = ("--layers", "1", *SHAPE)
# The kernel counts resident memory in KiB, on a Mac in bytes.
TO_MIB = MIB if sys.platform == "darwin" else KIB


@dataclass(frozen=True, kw_only=True)
class Took:
    """What a process took: seconds by the clock, and most resident memory in MiB."""

    seconds: float
    mib: int


def main() -> None:
    """Print a line for each run."""
    for says, options, aim in (
        ("Llama 3 8B, one GPU", LLAMA_3_8B, "10 s, 1,024 MiB"),
        ("Llama 3 8B, FSDP2 over 8", (*LLAMA_3_8B, *FSDP2), "10 s, 1,024 MiB"),
        ("Llama 3.1 405B, one GPU", LLAMA_405B, "60 s"),
        ("Llama 3.1 405B, FSDP2 over 8", (*LLAMA_405B, *FSDP2), "60 s"),
    ):
        took = run(options)
        sys.stdout.write(f"{says:30} {took.seconds:6.1f} s  {took.mib:5,} MiB  (aim {aim})\n")
    rest = run(NOTHING).seconds
    one_layer = None
    for layers in LAYERS:
        seconds = (run(("--layers", str(layers), *SHAPE)).seconds - rest) / layers
        one_layer = one_layer or seconds
        says = f"{layers} layers, each"
        sys.stdout.write(f"{says:30} {1e3 * seconds:6.1f} ms  {seconds / one_layer:.2f} x\n")


def run(options: tuple[str, ...]) -> Took:
    """Run the command in a process of its own."""
    started = time.perf_counter()
    command = [*COMMAND, *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - from the tables above
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1, 3}:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return Took(seconds=time.perf_counter() - started, mib=usage.ru_maxrss // TO_MIB)


if __name__ == "__main__":
    main()
