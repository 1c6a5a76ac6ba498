"""Sheets in a browser: nothing is asked of a network, no error is told, all of it is shown."""

import json
import re
import subprocess

import pytest

from quiz.formats.sheets import SHEETS, SOLUTIONS

CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--no-first-run",
)  # fmt: skip


# Chromium's name for the origin of a file; its own requests have another initiator.
OF_A_FILE = "null"


@pytest.fixture
def opened(tmp_path):
    """Open a page; what the browser told, and the addresses that the page asked for."""

    def open_page(page, *more):
        log = tmp_path / "net.json"
        run = [*CHROMIUM, f"--log-net-log={log}", "--enable-logging=stderr", *more]
        done = subprocess.run(
            [*run, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        told = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
        asked = {one["url"] for one in told if "url" in one and one.get("initiator") == OF_A_FILE}
        return done.stderr, {url for url in asked if not url.startswith(("data:", "file:"))}

    return open_page


@pytest.mark.parametrize("folder", [SHEETS, SOLUTIONS])
def test_no_console_error_and_no_request(marked_up, written, opened, folder):
    page = written(marked_up, "html") / folder / "everyone.html"
    told, asked = opened(page, "--dump-dom")
    assert "CONSOLE" not in told
    assert asked == set()


def test_an_error_and_a_request_of_a_page_would_be_noticed(opened, tmp_path):
    image, script = '<img src="http://127.0.0.1:9/x.png">', "<script>console.error(1)</script>"
    (tmp_path / "page.html").write_text(f"<!doctype html><body>{image}{script}</body>")
    told, asked = opened(tmp_path / "page.html", "--dump-dom")
    assert "CONSOLE" in told
    assert asked == {"http://127.0.0.1:9/x.png"}


def test_every_prompt_and_answer_stands_on_the_printed_pages(marked_up, written, opened, tmp_path):
    page = written(marked_up, "html") / SOLUTIONS / "everyone.html"
    opened(page, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'page.pdf'}")
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
