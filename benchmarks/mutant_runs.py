#!/usr/bin/env python3
"""Tests of mutants: one process is forked for each, from one that has collected and run nothing.

The code of a function is replaced in the fork, so whoever holds the function, a property, a cache
or a table, calls the mutant. No test has run before the fork, so no cache holds a right result.
"""

import functools
import gc
import os
import pickle
import resource
import shutil
import signal
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol
from coverage import Coverage
from mutating import Mutant, mutants

SURVIVED, KILLED, UNTESTED, UNAPPLIED = "survived", "killed", "no test", "not applied"
MEMORY = 6 * 2**30
CACHE = type(functools.cache(len))


@dataclass(kw_only=True)
class Known:
    """What the tests do without a mutant: seconds of each, and which of them run a line."""

    seconds: dict[int, float] = field(default_factory=dict)
    of_line: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may take.

    Attributes:
        jobs: how many processes at once.
        seconds: of tests that a mutant gets, of a processor.
        every: one mutant of so many is tried.
        first: which of them.
    """

    jobs: int
    seconds: float
    every: int
    first: int


class Runs:
    """A plugin of pytest that tests mutants of `files` instead of running tests."""

    def __init__(
        self,
        files: list[Path],
        limits: Limits,
        told: Callable[[str], None],
        listed: Callable[[Mutant, str], None],
    ) -> None:
        """Take what is mutated; `told` shows how far it is, `listed` what was not killed."""
        self._listed = listed
        self.results: list[tuple[Mutant, str]] = []
        self._files = files
        self._limits = limits
        self._told = told
        self._killers: dict[tuple[Path, str], dict[int, None]] = defaultdict(dict)

    def pytest_configure(self) -> None:
        """Let hypothesis stop at the first failure, which is not to be made smaller."""
        # pytest wants to import plugins itself.
        hypothesis = import_module("hypothesis")
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutants", derandomize=True, database=None, phases=phases
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn which tests run what, then test every mutant."""
        if session.config.option.collectonly:
            return False
        warnings.filterwarnings("ignore", message=".*fork")
        self._items = session.items
        # What a test imports as it runs, a fork would import without the mutant.
        for file in self._files:
            parts = file.relative_to(Path.cwd()).with_suffix("").parts
            import_module(".".join(part for part in parts if part != "__init__"))
        gc.collect()
        everything = gc.get_objects()
        self._caches = [it for it in everything if type(it) is CACHE]
        self._functions = [it for it in everything if type(it) is FunctionType]
        del everything
        gc.freeze()
        started = time.monotonic()
        self._known = _from_fork(self._learn)
        took = time.monotonic() - started
        self._told(f"{len(self._known.seconds)} of {len(self._items)} tests pass; {took:.0f} s")
        self._test(list(self._all())[self._limits.first :: self._limits.every])
        return True

    def _clear_caches(self) -> None:
        for cache in self._caches:
            cache.cache_clear()

    def _all(self) -> Iterator[Mutant]:
        for file in self._files:
            yield from mutants(file)

    def _learn(self) -> Known:
        """Run every test and return the lines that each of them runs."""
        known = Known()
        coverage = Coverage(data_file=None, include=[str(file) for file in self._files])
        coverage.start()
        before = ""
        for number, item in enumerate(self._items):
            # Rows of one test share its caches: to read every table again takes longer than all.
            if self._name(number) != before:
                self._clear_caches()
            before = self._name(number)
            coverage.switch_context(str(number))
            # Nothing is kept for the next test, so that each sets up all that it uses.
            started = time.process_time()
            reports = runtestprotocol(item, nextitem=None, log=False)
            if all(report.passed for report in reports):
                known.seconds[number] = time.process_time() - started
        coverage.switch_context("")
        coverage.stop()
        data = coverage.get_data()
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                known.of_line[file, line] = {int(number) for number in contexts if number}
        return known

    def _test(self, todo: list[Mutant]) -> None:
        running: dict[int, tuple[Mutant, str, int]] = {}
        shown = time.monotonic()
        for number, mutant in enumerate(todo):
            name, codes, tests = self._prepared(mutant)
            if not tests or not codes:
                self._found(mutant, UNAPPLIED if tests else UNTESTED)
                continue
            while len(running) >= self._limits.jobs:
                self._reap(running)
            pid, reading = self._start(codes, tests)
            running[pid] = mutant, name, reading
            if time.monotonic() > shown + 30:
                shown = time.monotonic()
                self._told(f"{number} of {len(todo)} mutants; {self._count(SURVIVED)} survived")
        while running:
            self._reap(running)

    def _found(self, mutant: Mutant, outcome: str) -> None:
        self.results.append((mutant, outcome))
        if outcome != KILLED:
            self._listed(mutant, outcome)

    def _count(self, outcome: str) -> int:
        return sum(found == outcome for _, found in self.results)

    def _prepared(
        self, mutant: Mutant
    ) -> tuple[str, list[tuple[FunctionType, CodeType]], list[int]]:
        """Return the name of the function that is changed, its new code, and the tests of it."""
        whole = mutant.applied(mutant.file.read_text(encoding="utf-8"))
        changed = _codes(compile(whole, str(mutant.file), "exec", dont_inherit=True))
        codes = [
            (function, code)
            for function in self._functions
            if function.__code__.co_filename == str(mutant.file)
            and (code := changed.get(_key(function.__code__)))
            and code != function.__code__
            and len(code.co_freevars) == len(function.__code__.co_freevars)
        ]
        name = codes[0][0].__qualname__ if codes else ""
        return name, codes, self._tests(mutant, name)

    def _tests(self, mutant: Mutant, name: str) -> list[int]:
        """Return tests that run the mutant: what killed one in its function, then all by turns.

        Other rows of them are last: who found in a cache what the mutant makes has not run it.
        """
        lines = range(mutant.first, mutant.last + 1)
        of_line, passing = self._known.of_line, set(self._known.seconds)
        run = set().union(*(of_line.get((str(mutant.file), line), set()) for line in lines))
        names = {self._name(number) for number in run}
        beside = {number for number in passing if self._name(number) in names} - run
        killers = [
            number
            for number in reversed(self._killers[mutant.file, name])
            if number in run | beside
        ]
        rest = ((run & passing) - set(killers), beside - set(killers))
        return [*killers, *(number for numbers in rest for number in self._by_turns(numbers))]

    def _by_turns(self, numbers: set[int]) -> Iterator[int]:
        """Yield a row of each test, the fastest first, then a second one of each, and so on."""
        turns: dict[str, int] = defaultdict(int)
        found = []
        for number in sorted(numbers, key=self._known.seconds.__getitem__):
            name = self._name(number)
            found.append((turns[name], number))
            turns[name] += 1
        # The order of the same turn stays that of seconds.
        yield from (number for _, number in sorted(found, key=lambda row: row[0]))

    def _name(self, number: int) -> str:
        return self._items[number].nodeid.partition("[")[0]

    def _start(
        self, codes: list[tuple[FunctionType, CodeType]], tests: list[int]
    ) -> tuple[int, int]:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return pid, reading
        _restrict()
        for function, code in codes:
            function.__code__ = code
        self._clear_caches()
        killer = -1
        try:
            killer = self._first_failing(tests)
        finally:
            os.write(writing, str(killer).encode())
            os._exit(0 if killer < 0 else 1)

    def _first_failing(self, tests: list[int]) -> int:
        ends = time.process_time() + self._limits.seconds
        for number, after in zip(tests, [*tests[1:], None], strict=True):
            if time.process_time() > ends:
                break
            following = None if after is None else self._items[after]
            _limit(2 + 10 * self._known.seconds[number])
            for report in runtestprotocol(self._items[number], nextitem=following, log=False):
                if report.failed:
                    return number
        return -1

    def _reap(self, running: dict[int, tuple[Mutant, str, int]]) -> None:
        pid, status = os.wait()
        mutant, name, reading = running.pop(pid)
        with os.fdopen(reading, "rb") as pipe:
            killer = int(pipe.read() or -1)
        shutil.rmtree(_home(pid), ignore_errors=True)
        self._found(mutant, KILLED if status else SURVIVED)
        if killer >= 0:
            killers = self._killers[mutant.file, name]
            killers.pop(killer, None)
            killers[killer] = None


def _home(pid: int) -> Path:
    return Path(os.environ["PYTEST_DEBUG_TEMPROOT"]) / str(pid)


def _restrict() -> None:
    """Give this process a folder of its own, and no more memory than tests need."""
    home = _home(os.getpid())
    home.mkdir()
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(home)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _limit(seconds: float) -> None:
    """End this process when a test takes longer, or waits for much longer."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 20 + 6 * seconds)


def _from_fork(work: Callable[[], Known]) -> Known:
    """Return what a function returns in a process of its own."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(work(), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found: Known = pickle.load(pipe)  # noqa: S301 - this process's own fork wrote it
    os.waitpid(pid, 0)
    return found


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return all code inside a code, by name and line."""
    found = {_key(code): code}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _codes(inner)
    return found
