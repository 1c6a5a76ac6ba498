"""Writes what a few interviews ask and answer, for a test that runs it in other processes."""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from problems.interview.drawing import interview
from problems.interview.script import Interview, Question
from problems.json_form import as_json

DRAWN = (("junior", 20, 3), ("mid", 30, 4), ("senior", 45, 10**12))


def of(drawn: Interview) -> str:
    """Return a digest of all that an interview says."""
    plain = {
        "id": drawn.id,
        "opening": [drawn.opening, drawn.conditions],
        "parts": [[part.key, part.title, part.minutes] for part in drawn.parts],
        "questions": [_plain(question) for question in drawn.questions],
    }
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(question: Question) -> list[object]:
    return [
        question.key,
        question.aspect,
        question.says,
        question.changes,
        question.stronger,
        None if question.problem is None else as_json(question.problem),
        [[point.name, point.says, point.level] for point in question.points],
        [[one.question, str(one.times), str(one.plus), one.says] for one in question.reuses],
    ]


def main() -> None:
    for level, minutes, seed in DRAWN:
        sys.stdout.write(f"{of(interview(level, minutes, seed))}\n")


if __name__ == "__main__":
    main()
