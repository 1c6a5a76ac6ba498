#!/usr/bin/env python3
"""The state of the house: sizes, cycles, dead code, comments, docstrings, beside their limits.

    make house
    python3 bootstrap.py python benchmarks/house.py

Exits with 1 where a package breaks a limit. Benchmarks and tests are shown beside the packages and
have none. What has no limit is listed for a person to read.
"""

import ast
import keyword
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median, quantiles

import grimp
from vulture.core import Vulture

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "problems", "quiz")
BESIDE = ("benchmarks", "tests")

LONG_FUNCTION, LONG_FILE = 40, 350
MOST_LONG = 0.02
# Files of a package that are longer, each with what a split would tear apart.
LONG_FILES: Mapping[str, str] = {}

ERRORS = {"InputError", "UnmodelledError"}
# A comment of fewer words is seldom a sentence; of more than this share it says the code again.
FEWEST_WORDS, SAID_AGAIN = 2, 0.6
FILLING = re.compile(
    "an?|and|are|as|at|be|by|each|for|from|if|in|into|is|its?|not?|of|on|or|one|so|than|that|the|"
    "their|then|there|these|they|this|to|was|what|when|where|which|with"
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = ast.Module | ast.ClassDef | Function


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A comment on lines of its own: its first line, its text, and the line of code below it."""

    line: int
    text: str
    below: str

    @property
    def repeats(self) -> bool:
        """Whether most of its words are names in the line below it."""
        words = [x for x in _words(self.text) if not FILLING.fullmatch(x)]
        names = {stem for name in _words(self.below) for stem in _stems(name)}
        said = sum(bool(names & _stems(word)) for word in words)
        return len(words) >= FEWEST_WORDS and said > SAID_AGAIN * len(words)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of Python, somewhere below `root`."""

    path: Path
    root: Path = ROOT

    @property
    def name(self) -> str:
        """The path from the root."""
        return self.path.relative_to(self.root).as_posix()

    @cached_property
    def lines(self) -> Sequence[str]:
        """Its lines."""
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """What it says."""
        return ast.parse("\n".join(self.lines))

    @cached_property
    def lengths(self) -> Mapping[str, int]:
        """Lines of each function without its docstring, by where it begins."""
        return {
            f"{self.name}:{node.lineno} {node.name}": length(node)
            for node in ast.walk(self.tree)
            if isinstance(node, Function)
        }

    @cached_property
    def comments(self) -> Sequence[Comment]:
        """Its comments but for those behind code."""
        with self.path.open("rb") as file:
            alone = [
                token.start[0]
                for token in tokenize.tokenize(file.readline)
                if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
            ]
        return [self._comment(first, alone) for first in alone if first - 1 not in alone]

    def _comment(self, first: int, alone: Sequence[int]) -> Comment:
        end = first
        while end in alone:
            end += 1
        text = " ".join(line.strip().lstrip("#! ") for line in self.lines[first - 1 : end - 1])
        return Comment(line=first, text=text, below=next(iter(self.lines[end - 1 :]), ""))

    @property
    def comment_lines(self) -> int:
        """How many lines are comments and nothing else."""
        return sum(line.lstrip().startswith("#") for line in self.lines)

    @cached_property
    def public(self) -> Mapping[str, Named]:
        """Modules, classes, functions and methods whose names have no underscore in front."""
        return {self.name: self.tree} | dict(_public(self.tree, self.name))


def length(function: Function) -> int:
    """Return the lines of a function without its docstring."""
    lines = 1 + (function.end_lineno or function.lineno) - function.lineno
    if ast.get_docstring(function) is None:
        return lines
    said = function.body[0]
    return lines - (1 + (said.end_lineno or said.lineno) - said.lineno)


def _public(node: ast.Module | ast.ClassDef, inside: str) -> Iterator[tuple[str, Named]]:
    for child in node.body:
        if isinstance(child, ast.ClassDef | Function) and not child.name.startswith("_"):
            yield f"{inside}:{child.lineno} {child.name}", child
            if isinstance(child, ast.ClassDef):
                yield from _public(child, inside)


def _words(text: str) -> list[str]:
    """Return the words of a text or the parts of the names in it, in small letters."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ").lower()
    return [word for word in re.findall(r"[a-z]+", split) if not keyword.iskeyword(word)]


def _stems(word: str) -> set[str]:
    return {word, word.removesuffix("s")}


def sources(folder: str) -> list[Source]:
    """Return the files of Python below a folder."""
    return [Source(path=path) for path in sorted((ROOT / folder).rglob("*.py"))]


def sizes(files: Sequence[Source]) -> Mapping[str, str]:
    """Return the rows of the table for the files of one folder."""
    lines = [len(file.lines) for file in files]
    functions = [n for file in files for n in file.lengths.values()]
    comments = sum(file.comment_lines for file in files)
    return {
        "files": f"{len(files):,}",
        "lines": f"{sum(lines):,}",
        "median file": f"{median(lines):.0f}",
        "longest file": f"{max(lines)}",
        f"files over {LONG_FILE} lines": f"{sum(n > LONG_FILE for n in lines)}",
        "functions": f"{len(functions):,}",
        "median function": f"{median(functions):.0f}",
        "90% of functions": f"{quantiles(functions, n=10)[-1]:.0f}",
        f"functions over {LONG_FUNCTION}": f"{share_of_long(files):.1%}",
        "lines of comment": f"{comments / sum(lines):.1%}",
        "public names": f"{sum(len(file.public) for file in files):,}",
        "without docstring": f"{len(undocumented(files)):,}",
    }


def share_of_long(files: Iterable[Source]) -> float:
    """Return the share of functions that have more than `LONG_FUNCTION` lines."""
    functions = [n for file in files for n in file.lengths.values()]
    return sum(n > LONG_FUNCTION for n in functions) / len(functions)


def long_files(files: Iterable[Source]) -> list[str]:
    """Return the files that are too long without a reason, and reasons without such a file."""
    found = {x.name: len(x.lines) for x in files if len(x.lines) > LONG_FILE}
    return [
        *(f"{name} has {n} lines" for name, n in found.items() if name not in LONG_FILES),
        *(f"{name} is listed and not long" for name in LONG_FILES if name not in found),
    ]


def cycles() -> list[str]:
    """Return a cycle of imports between modules, imports inside functions among them."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {x: graph.find_modules_directly_imported_by(x) for x in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [" <- ".join(error.args[1])]
    return []


def dead(files: Iterable[Source]) -> list[str]:
    """Return what nothing in the packages uses: names with a reason stand in pyproject.toml."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["vulture"]
    names = [*told["ignore_names"], *discovered(files)]
    finder = Vulture(ignore_names=names, ignore_decorators=told["ignore_decorators"])
    finder.scavenge([file.path for file in files])
    return [
        f"{Path(item.filename).relative_to(ROOT).as_posix()}:{item.first_lineno} {item.message}"
        for item in finder.get_unused_code(min_confidence=told["min_confidence"])
    ]


def discovered(files: Iterable[Source]) -> set[str]:
    """Return the names that `engine.discovery` looks for in the modules of a folder."""
    calls = (x for file in files for x in ast.walk(file.tree) if isinstance(x, ast.Call))
    # The name is the last argument but one: discovered(folder, name, …), defined(…, name, …).
    looked_for = (x.args[-2] for x in calls if ast.unparse(x.func) in {"discovered", "defined"})
    return {x.value for x in looked_for if isinstance(x, ast.Constant)}


def undocumented(files: Iterable[Source]) -> list[str]:
    """Return the public names without a docstring."""
    names = [item for file in files for item in file.public.items()]
    return [where for where, node in names if not ast.get_docstring(node)]


def untold_errors(files: Iterable[Source]) -> list[str]:
    """Return the public functions that raise an error of input and do not say so."""
    names = [item for file in files for item in file.public.items()]
    raising = [(x, node) for x, node in names if isinstance(node, Function) and _raises(node)]
    return [
        where
        for where, node in raising
        if not (_is_command(node) or "Raises:" in (ast.get_docstring(node) or ""))
    ]


def _raises(function: Function) -> bool:
    raised = [node.exc for node in ast.walk(function) if isinstance(node, ast.Raise)]
    made = [node.func for node in raised if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.Name) and node.id in ERRORS for node in made)


def _is_command(function: Function) -> bool:
    """Whether the docstring is what click prints as the command's help."""
    return any(ast.unparse(one).startswith("click.command(") for one in function.decorator_list)


def repeating(files: Iterable[Source]) -> list[str]:
    """Return the comments that say the line below them again."""
    return [
        f"{file.name}:{comment.line} {comment.text}"
        for file in files
        for comment in file.comments
        if comment.repeats
    ]


def print_table(columns: Mapping[str, Mapping[str, str]]) -> None:
    """Print the columns side by side."""
    _say(" " * 26 + "".join(f"{name:>12}" for name in columns))
    for row in columns[PACKAGES[0]]:
        _say(f"{row:<26}" + "".join(f"{column[row]:>12}" for column in columns.values()))


def print_list(title: str, found: Sequence[str], limit: str) -> None:
    """Print how many there are, then each."""
    _say(f"\n{title}: {len(found)} ({limit})")
    for one in found:
        _say(f"  {one}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main() -> int:
    """Print what is measured; return 1 where a limit is broken."""
    folders = {name: sources(name) for name in (*PACKAGES, *BESIDE)}
    print_table({name: sizes(files) for name, files in folders.items()})
    files = [file for name in PACKAGES for file in folders[name]]
    limited = {
        f"files over {LONG_FILE} lines": long_files(files),
        "import cycles": cycles(),
        "dead code": dead(files),
        "public names without docstring": undocumented(files),
    }
    for title, found in limited.items():
        print_list(title, found, "limit 0")
    print_list("errors of input that a docstring does not name", untold_errors(files), "to read")
    print_list("comments that say the next line again", repeating(files), "to read")
    long = max(share_of_long(folders[name]) for name in PACKAGES)
    _say(f"\nfunctions over {LONG_FUNCTION} lines: at most {long:.1%} (limit {MOST_LONG:.0%})")
    return int(any(limited.values()) or long > MOST_LONG)


if __name__ == "__main__":
    sys.exit(main())
