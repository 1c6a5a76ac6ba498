"""Run questions through PrairieLearn's own elements, as its server does, from prepare to render.

Its server calls `prairielearn.internal.question_phases` and then the `server.py` of a question;
the order of phases is that of apps/prairielearn/src/question-servers/freeform.ts.
"""

import json
import runpy
import sys
from copy import deepcopy
from pathlib import Path

from prairielearn.internal.question_phases import CORE_ELEMENTS_PATH, process

URLS = ("course_element_files_url", "course_element_extension_files_url")


def elements():
    for info in CORE_ELEMENTS_PATH.glob("*/info.json"):
        told = {"name": info.parent.name, "type": "core"}
        yield info.parent.name, told | {"controller": json.loads(info.read_text())["controller"]}


ELEMENTS = dict(elements())


def lived(folder, answers):
    """Return what the answers to a question earn, and what is shown."""
    context = {
        "html": (folder / "question.html").read_text(),
        "elements": ELEMENTS,
        "element_extensions": {},
        "course_path": "",
    }
    options = dict.fromkeys(URLS, "/") | {"question_path": str(folder)}
    data = {"params": {}, "correct_answers": {}, "variant_seed": 1, "options": options}
    data |= {"preferences": {}, "answers_names": {}}
    process("prepare", data, context)
    del data["answers_names"]
    typed = dict(submitted(answers, data["params"]))
    data |= {"submitted_answers": typed, "raw_submitted_answers": deepcopy(typed)}
    data |= {"format_errors": {}, "feedback": {}, "gradable": True}
    process("parse", data, context)
    data |= {"partial_scores": {}, "score": 0.0}
    if not data["format_errors"]:
        process("grade", data, context)
        runpy.run_path(str(folder / "server.py"))["grade"](data)
    del data["gradable"]
    shown = {panel: rendered(panel, data, context) for panel in ("question", "submission")}
    shown["answer"] = rendered("answer", data, context)
    kept = ("score", "partial_scores", "format_errors")
    return {key: data[key] for key in kept} | {"shown": shown}


def submitted(answers, params):
    """Yield answers as a browser sends them: picks by their text, orders by their keys."""
    for name, answer in answers.items():
        shown = params.get(name, [])
        if isinstance(answer, list):
            blocks = {block["tag"]: block for block in shown}
            yield f"{name}-input", json.dumps([blocks[key] for key in answer])
        elif shown and isinstance(shown[0], dict) and "key" in shown[0]:
            yield name, next(one["key"] for at, one in enumerate(shown) if at == answer)
        else:
            yield name, answer


def rendered(panel, data, context):
    asked = {"panel": panel, "editable": True, "manual_grading": False, "ai_grading": False}
    return process("render", deepcopy(data) | asked | {"num_valid_submissions": 9}, context)[0]


if __name__ == "__main__":
    rows = json.load(sys.stdin)
    json.dump([lived(Path(folder), answers) for folder, answers in rows], sys.stdout)
