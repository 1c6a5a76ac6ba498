"""The screen that a person sees, in a terminal of tmux under an interactive shell."""

import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest

SHELL = shutil.which("bash")

pytestmark = pytest.mark.skipif(
    not (SHELL and shutil.which("tmux")), reason="tmux or bash is not installed"
)


class Screen:
    """A terminal of 80 columns and 30 rows with a shell in it."""

    def __init__(self, environment, folder):
        self._server = f"memquiz-{os.getpid()}"
        self._environment = environment | {"TERM": "screen"}
        del self._environment["COLUMNS"]
        shell = f"cd {shlex.quote(str(folder))} && exec env PS1='$ ' {SHELL} --norc --noprofile -i"
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", "80", "-y", "30", shell)

    def _tmux(self, *arguments):
        command = ["tmux", "-L", self._server, *arguments]
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    @property
    def lines(self):
        """The rows as they stand, without empty ones at the end."""
        return self._tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def press(self, *keys, until):
        """Press keys, names of tmux or text, and wait until the last row ends so."""
        for key in keys:
            self._tmux("send-keys", key)
        end = time.monotonic() + 30
        while not self.lines[-1].endswith(until) and time.monotonic() < end:
            time.sleep(0.03)
        assert self.lines[-1].endswith(until), self.lines
        return "\n".join(self.lines)

    def close(self):
        self._tmux("kill-server")


@pytest.fixture
def screen(environment, tmp_path):
    opened = Screen(environment, tmp_path)
    yield opened
    opened.close()


def test_a_question_its_verdict_a_stop_by_the_shell_and_the_end(screen):
    practice = f"clear; {sys.executable} -m quiz practice --problem zero-states@7"
    asked = screen.press(practice, "Enter", until=">").split("\n")
    assert asked[1].startswith(" 1/1 · model states · ")
    assert asked[-2:] == [" h hint · r reading · s skip · w solution · q stop · ? help", ">"]
    keys = " enter score · w why · u undo · q stop"
    screen.press("37", until="> 37")
    assert "[1]+  Stopped" in screen.press("C-z", until="$")
    screen.press("clear; fg", "Enter", until="> 37")
    marked = screen.press(" GB", "Enter", until=keys)
    assert "> 37 GB\n read as 37 GB = 37.0e9 bytes = 34.5 GiB\n Not quite: " in marked
    assert "[1]+  Stopped" in screen.press("C-z", until="$")
    modes = screen.press("clear; stty -a | grep -ow -e -*icanon -e -*echo", "Enter", until="$")
    assert modes.split("\n")[:2] == ["icanon", "echo"]
    screen.press("clear; fg", "Enter", until="zero-states@7")
    assert "on paper:" in screen.press("w", until=" enter score · w why · q stop")
    ended = screen.press("Enter", until="$")
    assert "\nScore 0 of 1\n  model states: 0 of 1\n" in ended
    assert "\nDue next: within a day\nNext: memquiz practice" in ended
