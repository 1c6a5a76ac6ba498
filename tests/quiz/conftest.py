"""Problems made by hand, and memquiz as a process of its own."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from problems.answers.claim import ClaimAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.claims import claim
from problems.problem import Mistake, Problem, Step

sys.path.insert(0, str(Path(__file__).parent))  # for what tests share, such as page_elements

ROOT = Path(__file__).parents[2]

GB = 10**9


def problem_with(answer, mistakes=()):
    return Problem(
        kind="made",
        topic="A",
        level="mid",
        seed=7,
        prompt="How much does it take?",
        answer=answer,
        hints=("think of the shards", "12/8", "13.48 + 10.11 + 1.68"),
        solution=(
            Step(text="7 x 3.75 = 26 GB", depth="whiteboard"),
            Step(text="weights: 13.48 GB"),
        ),
        mistakes=tuple(
            Mistake(name=name, value=Fraction(value), feedback=f"This is {name}.")
            for name, value in mistakes
        ),
    )


@pytest.fixture
def make_problem():
    return problem_with


@pytest.fixture
def states_problem():
    """Llama-2-7B under ZeRO-2 on 8 GPUs: 25.27 GB; ZeRO-1 would be 37.06 GB."""
    return problem_with(
        QuantityAnswer(value=Fraction(25_269_058_560), symbols={"P": 6_738_415_616, "s": 4096}),
        (("gradients left whole", 37_061_285_888), ("master copy forgotten", 21_899_850_752)),
    )


@pytest.fixture
def fits_problem():
    """Does it fit? No: 93 GB."""
    return problem_with(
        YesNoAnswer(value=False, proof=QuantityAnswer(value=Fraction(93 * GB), band="estimate")),
        (("logits and loss forgotten", 60 * GB),),
    )


@pytest.fixture
def claim_problem():
    """ZeRO-3 shards activations too: false."""
    asked = claim("zero3-activations")
    return problem_with(ClaimAnswer(claim=asked.id, truth=asked.truth, core=asked.core))


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def environment(data):
    """What a process of memquiz sees: the checkout, a data folder of its own, UTF-8."""
    kept = ("PATH", "HOME", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "PYTHONPATH": str(ROOT),
        "MEMQUIZ_DATA": str(data),
        "PYTHONUTF8": "1",
        "COLUMNS": "80",
    }


# A job in the background inherits that interrupts are ignored, and Python leaves it at that.
AS_A_SHELL_DOES = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[1:]])
"""


@pytest.fixture
def interruptible():
    """The words that start memquiz as a shell in the foreground does; its arguments follow."""
    return [sys.executable, "-c", AS_A_SHELL_DOES]


# Python puts a compiled module in place even where only a part of it could be written; such a file
# lies in the checkout and stops every process after this one.
WITH_LIMIT = """
import os, resource, sys
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[2:]])
"""


@pytest.fixture
def with_limit():
    """The words that start memquiz so that no file grows over a size; its arguments follow."""
    if os.name == "nt":
        pytest.skip("limits of a process are POSIX's")
    return lambda size: [sys.executable, "-c", WITH_LIMIT, str(size)]


@pytest.fixture
def memquiz(environment, tmp_path):
    """Run memquiz with arguments and what is typed; its exit code, output and errors."""

    def run(*arguments, typed="", **changes):
        return subprocess.run(
            [sys.executable, "-m", "quiz", *map(str, arguments)],
            input=typed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment | changes,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return run
