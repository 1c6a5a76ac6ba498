"""Kills processes at drawn moments and says what was lost: python killed.py FOLDER KILLS.

What is killed is forked off this process, which has everything imported, so that each costs
milliseconds. A child writes to a pipe what its learner was told before it was killed.
"""

import json
import os
import signal
import sqlite3
import sys
import time
import traceback
from contextlib import closing
from io import BytesIO
from pathlib import Path

from old_files import old_file

from problems.draw import Draw
from problems.registry import from_id
from quiz.history.backup import backups
from quiz.history.database import FILE, Database
from quiz.history.exchange import exported, kept_rows, read_rows
from quiz.history.merging import merge
from quiz.history.store import Store
from quiz.practice.dialogue import Dialogue
from quiz.practice.events import Marked, Undone
from quiz.practice.sitting import Asked, sit_down

# Seconds: where a machine is very busy, kills come early rather than late.
LONGEST = 0.2
PROBLEM = "bytes-per-parameter@7"


class Typist:
    """Types numbers that no other child types, takes every fifth back, and writes what is told."""

    interactive = False

    def __init__(self, first, pipe, lines):
        self._next = first
        self._pipe = pipe
        self._last = first + lines

    def read(self):
        self._next += 1
        if self._next > self._last:
            return None
        return "undo" if self._next % 5 == 0 else f"{self._next} bytes"

    def tell(self, event, _problem):
        if isinstance(event, Marked | Undone):
            told = f"{type(event).__name__} {event.attempt.verdict.answer}\n"
            os.write(self._pipe, told.encode())

    def ask(self, _session, _problem):
        pass

    pause = explain = ask


def practise(folder, first, pipe, lines=10_000):
    problem = from_id(PROBLEM)
    with Store(folder) as store:
        if store.unfinished({}) is None:
            store.start(Asked().options, (PROBLEM,) * 10_000)
        sitting = sit_down(Asked(), store=store, new=False)
        os.write(pipe, f"Position {sitting.session.position}\n".encode())
        learner = Typist(first, pipe, lines)
        Dialogue(
            sitting.session,
            learner=learner,
            journal=sitting.journal,
            build=lambda _id: problem,
            clock=time.monotonic,
        ).run()


def took(work):
    """Return the seconds that `work` takes in a child that is left alone: the median of three."""
    taken = []
    for number in range(3):
        start = time.monotonic()
        child, pipe = begun(lambda pipe, n=number: work(n, pipe))
        os.waitpid(child, 0)
        pipe.close()
        taken.append(time.monotonic() - start)
    return min(sorted(taken)[1], LONGEST)


def killed(work, draw, longest):
    """Run `work` in a child, kill it at a drawn moment, and return the lines that it wrote."""
    child, pipe = begun(work)
    time.sleep(draw.below(10_000) / 10_000 * longest)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with pipe:
        return pipe.read().decode().splitlines()


def begun(work):
    """Return the child that does `work`, and the pipe that it writes to."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            work(theirs)
        except BaseException:  # noqa: BLE001 - or it would go on as this process
            os.write(2, traceback.format_exc().encode())
        os._exit(0)
    os.close(theirs)
    return child, os.fdopen(ours, "rb")


def sound(folder):
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def answers(folder):
    """Return what was typed in answers that stand, and in those that were taken back."""
    with closing(sqlite3.connect(folder / FILE)) as connection:
        rows = connection.execute("SELECT typed, undone IS NOT NULL FROM attempts").fetchall()
    return [{typed for typed, back in rows if back == wanted} for wanted in (0, 1)]


def warmed(folder):
    """Import and read all that a child would need again and again."""
    with open(os.devnull, "wb", buffering=0) as nowhere:  # noqa: PTH123 - a device
        practise(folder, 0, nowhere.fileno(), lines=6)


def killed_while_practising(folder, kills):
    """Kill a learner's processes one after another; each goes on where the one before stopped."""
    draw, told, marked, undone, positions = Draw("kills", 1), 0, set(), set(), [0]
    aside = folder.with_name("aside")
    longest = took(lambda n, pipe: practise(aside, n * 10_000, pipe, lines=6))
    for kill in range(kills):
        lines = killed(lambda pipe, n=kill: practise(folder, n * 10_000, pipe), draw, longest)
        told += len(lines)
        for word, _, answer in (line.partition(" ") for line in lines):
            if word == "Position":
                positions.append(int(answer))
            else:
                (marked if word == "Marked" else undone).add(answer)
        if not (folder / FILE).exists():
            assert not lines
            continue
        with Store(folder):
            pass  # what a process that was killed in making it has left, is made whole
        standing, back = answers(folder)
        assert marked <= standing | back, marked - standing - back
        assert undone <= back, undone - back
        if kill % 10 == 0 or kill == kills - 1:
            sound(folder)
    assert positions == sorted(positions)
    return {"told": told, "marked": len(marked), "undone": len(undone), "position": positions[-1]}


def killed_while_making(folder, kills):
    """Kill processes that make the file; the next one makes it, whatever was left."""
    draw, there = Draw("kills", 2), 0
    longest = took(lambda n, _pipe: Store(folder / f"aside-{n}"))
    for kill in range(kills):
        place = folder / str(kill)
        lines = killed(lambda pipe, to=place: practise(to, 0, pipe), draw, longest)
        there += (place / FILE).exists()
        with Store(place) as store:
            kept = store.unfinished({})
        typed = {attempt.verdict.answer for attempt in kept.attempts} if kept else set()
        _, back = answers(place)
        assert {line.split(" ", 1)[1] for line in lines if "Marked" in line} <= typed | back
        sound(place)
    return {"there": there}


def killed_while_migrating(folder, kills):
    """Kill processes that bring an older file to this format; no answer and no copy is hurt."""
    draw, before, copies, renewed = Draw("kills", 3), None, 0, 0
    places = [folder / str(number) for number in range(kills + 3)]
    for place in places:
        old_file(place, 3)
    longest = took(lambda n, _pipe: Store(places[kills + n]))
    for place in places[:kills]:
        before = before or answers(place)
        killed(lambda _pipe, to=place: Store(to), draw, longest)
        with closing(sqlite3.connect(place / FILE)) as connection:
            number = connection.execute("PRAGMA user_version").fetchone()[0]
        assert number in {3, 4}
        renewed += number == 4
        assert number == 3 or backups(place / FILE)
        with Store(place):
            pass
        assert answers(place) == before
        sound(place)
        for copy in backups(place / FILE):
            copies += 1
            copy.replace(place / FILE)
            sound(place)
            assert answers(place) == before
    return {"copies": copies, "renewed": renewed}


def killed_while_importing(folder, kills):
    """Kill processes that read a file of answers: all of it is there afterwards, or nothing."""
    draw, made, whole = Draw("kills", 4), folder / "made", 0
    old_file(made, 3)
    lines = "".join(exported(rows(made))).encode()

    def take(place):
        with closing(Database(place)) as database:
            merge(database, read_rows(BytesIO(lines), "file"), "file")

    places = [folder / str(number) for number in range(kills + 3)]
    for place in places:
        with Store(place):
            pass
    longest = took(lambda n, _pipe: take(places[kills + n]))
    for place in places[:kills]:
        killed(lambda _pipe, to=place: take(to), draw, longest)
        there = "".join(exported(rows(place))).encode()
        assert there == lines or not rows(place)
        whole += there == lines
        sound(place)
    return {"whole": whole}


def rows(folder):
    with closing(Database(folder, only_read=True)) as database, database.reading() as connection:
        return kept_rows(connection)


if __name__ == "__main__":
    named = Path(sys.argv[1])
    warmed(named / "warm")
    found = {
        "practising": killed_while_practising(named / "practising", 200),
        "making": killed_while_making(named / "making", 20),
        "migrating": killed_while_migrating(named / "migrating", 20),
        "importing": killed_while_importing(named / "importing", 20),
    }
    sys.stdout.write(json.dumps(found))
