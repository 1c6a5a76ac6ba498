"""Writes a fingerprint of the first problems of each kind; `golden.txt` keeps what it wrote.

After a wanted change of problems: python tests/problems/golden.py > tests/problems/golden.txt
"""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from problems.registry import as_json, build, kinds

SEEDS = (*range(4), 10**12)


def main() -> None:
    for kind in kinds():
        for seed in SEEDS:
            problem = as_json(build(kind, seed))
            text = json.dumps(problem, sort_keys=True, ensure_ascii=False)
            sys.stdout.write(f"{problem['id']} {hashlib.sha256(text.encode()).hexdigest()[:16]}\n")


if __name__ == "__main__":
    main()
