"""Keys pressed on the interviewer's screen, without a terminal."""

from datetime import UTC, datetime

from quiz.interview.pressing import Screen, pressed
from quiz.interview.second_screen import begun
from quiz.interview.second_screen_lines import rows

STARTED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


def press(interview, keys, seconds=1.0):
    """The screen behind keys that come so many seconds apart, and the lines that are kept."""
    screen, lines = Screen(desk=begun(interview)), []
    since = 0.0
    for key in keys:
        since += seconds
        turn = pressed(screen, key, since)
        for line in turn.lines:
            lines.append((since, line))
            since = 0.0
        screen = turn.screen
    return screen, tuple(lines)


def text(screen, width=80, height=24):
    return "\n".join(row.text for row in rows(screen, width, height))
