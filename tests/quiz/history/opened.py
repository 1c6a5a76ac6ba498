"""The history in a test: a set or two, and the commands that open it."""

from quiz.history.store import Store

OPTIONS = {"kind": "model-states", "count": 3, "seed": 5}
PROBLEMS = ("model-states@1", "model-states@2", "model-states@3")
PRACTICE = ("practice", "--kind", "model-states", "--seed", "5", "--count", "3")
# Commands that open the history, and whether they write it.
WRITING = (PRACTICE, ("history", "import", "-"))
READING = (("history",), ("history", "export"))
EMPTY = '{"memquiz": "history", "format": 4, "sets": 0, "attempts": 0, "interviews": 0, '
EMPTY += '"interview_lines": 0}\n'


def sets_of(data, number=1):
    with Store(data) as store:
        for _ in range(number):
            store.start(OPTIONS, PROBLEMS)
