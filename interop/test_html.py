"""Sheets in a browser: nothing is asked of a network, no error is told, all of it is shown."""

import json
import re
import subprocess

import pytest

from quiz.formats.sheets import SHEETS, SOLUTIONS

CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions")


@pytest.fixture
def opened(written, tmp_path):
    """Open a page; what the browser did on the network, what it told, and the page as it stood."""

    def open_page(problems, folder, *more):
        page = written(problems, "html") / folder / "everyone.html"
        log = tmp_path / "net.json"
        run = [*CHROMIUM, f"--log-net-log={log}", "--enable-logging=stderr", *more]
        done = subprocess.run(
            [*run, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done, json.loads(log.read_text())

    return open_page


@pytest.mark.parametrize("folder", [SHEETS, SOLUTIONS])
def test_no_console_error_and_no_request(marked_up, opened, folder):
    done, log = opened(marked_up, folder, "--dump-dom")
    assert "CONSOLE" not in done.stderr
    asked = {
        event["params"]["url"]
        for event in log["events"]
        if "url" in event.get("params", {})
        and event["params"].get("initiator", "not").startswith("file")
    }
    assert not {url for url in asked if re.match(r"(?:https?|wss?|ftp):", url)}


def test_every_prompt_and_answer_stands_on_the_printed_pages(marked_up, opened, tmp_path):
    opened(
        marked_up, SOLUTIONS, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'page.pdf'}"
    )
    text = subprocess.run(
        ["pdftotext", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    printed = squeezed(text)
    for problem in marked_up.variants[0].problems:
        assert squeezed(problem.prompt.splitlines()[0]) in printed
        assert squeezed(problem.answer.said) in printed  # solutions are unfolded on paper
        assert squeezed(problem.hints[0]) in printed


def squeezed(text):
    """Return text without blanks, hyphens and what no font here has."""
    return re.sub(r"[\s李\u2010\u00ad-]", "", text)
