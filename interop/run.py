"""Give sets that memquiz wrote to the programs that they are for, in an environment of its own.

    python3 bootstrap.py interop [PYTEST ARGUMENTS]

The programs of `requirements.txt` and `package.json` are installed beside this file, in `.venv`
and `node_modules`; node, npm, chromium and poppler's pdftotext are to be there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HOME = HERE / ".venv"
PYTHON = HOME / "bin" / "python"
READY = HOME / "ready"
# Each program with the Debian package that brings it.
PROGRAMS = {
    "node": "nodejs",
    "npm": "npm",
    "chromium": "chromium",
    "pdftotext": "poppler-utils",
}


def main(arguments: list[str]) -> int:
    """Set the environment up and run the tests in it; return pytest's exit code."""
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if missing:
        sys.exit(f"interop: missing programs; on Debian: apt-get install {' '.join(missing)}")
    if not READY.exists() or READY.read_text() != fingerprint():
        set_up()
    run = [PYTHON, "-m", "pytest", "--confcutdir", HERE, "-c", HERE / "pytest.ini", HERE]
    path = f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts alembic by name
    environment = os.environ | {"PATH": path}
    return subprocess.run([*run, *arguments], cwd=HERE, env=environment, check=False).returncode


def set_up() -> None:
    """Install memquiz with all its formats, and the importers."""
    print("setting up interop/.venv and interop/node_modules …", file=sys.stderr, flush=True)
    venv.create(HOME, with_pip=True, clear=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = [f"{ROOT}[anki,pdf]", "-r", HERE / "requirements.txt"]
    subprocess.run([*pip, "--editable", *wanted], check=True)
    npm = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=HERE, check=True)
    READY.write_text(fingerprint())


def fingerprint() -> str:
    """Return what the environment depends on."""
    files = (ROOT / "pyproject.toml", HERE / "requirements.txt", HERE / "package.json")
    text = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(text + sys.version.encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
