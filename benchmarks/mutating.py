#!/usr/bin/env python3
"""Mutants of a file: mutmut's operators, in every function, decorated ones too.

mutmut itself leaves decorated functions as they are, which here are all properties and whatever is
cached, and names tests on a command line, which no name with a typed answer in it survives. Its
operators are taken, and each mutant is the source with one span of text changed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import cast

import libcst as cst
from libcst.metadata import (
    CodeRange,
    MetadataWrapper,
    PositionProvider,
    WhitespaceInclusivePositionProvider,
)
from mutmut.mutation.mutators import (
    mutation_operators,
    operator_arg_removal,
    operator_assignment,
)

# Words for people: which ones is held by no requirement, so mutants of them say nothing.
WORDS = re.compile(r"[A-Za-z’'(,]+[ ,;:]+[A-Za-z(’']+[ ,;:]")

# What a line of the ledger or an operator is called and why: docs/model.md, which is generated and
# compared, holds these words.
LABELS = {"name", "why", "source", "evidence", "says"}


def _without_keyword(node: cst.Call) -> Iterator[cst.Call]:
    """Leave out one named argument, which may have a default that no checker of types minds."""
    for left_out in node.args:
        if left_out.keyword is not None and len(node.args) > 1 and not _is_label(left_out):
            yield node.with_changes(args=[arg for arg in node.args if arg is not left_out])


def _is_label(node: cst.Arg) -> bool:
    return node.keyword is not None and node.keyword.value in LABELS


def _negated(node: cst.If | cst.While | cst.CompIf) -> Iterator[cst.CSTNode]:
    """Turn a condition round that has no comparison which another operator changes."""
    inside = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if not isinstance(node.test, cst.Comparison | cst.UnaryOperation):
        yield cst.UnaryOperation(operator=cst.Not(), expression=inside)


def _dropped(node: cst.Expr) -> Iterator[cst.Expr]:
    """Do nothing where something is called for what it does."""
    if isinstance(node.value, cst.Call):
        yield node.with_changes(value=cst.Name("None"))


# An argument or a value that becomes None is what strict mypy finds, so no test is asked to.
TYPED = (operator_arg_removal, operator_assignment)
OPERATORS = (
    *((kind, operator) for kind, operator in mutation_operators if operator not in TYPED),
    (cst.Call, _without_keyword),
    (cst.Expr, _dropped),
)
CONDITIONS = (cst.If, cst.While, cst.CompIf)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of a source.

    Attributes:
        file: the file that it is made in.
        first: the line where its innermost statement begins.
        last: the line where the changed text ends.
        start: where the text begins that is changed, in characters.
        end: where it ends.
        text: what stands there instead.
    """

    file: Path
    first: int
    last: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.start] + self.text + source[self.end :]


def mutants(file: Path) -> list[Mutant]:
    """Return the mutants of a file, in the order of the text, each once."""
    source = file.read_text(encoding="utf-8")
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = _Visitor(file, source)
    wrapper.visit(visitor)
    told: dict[str, Mutant] = {}
    for mutant in visitor.found:
        told.setdefault(mutant.applied(source), mutant)
    told.pop(source, None)
    return sorted(told.values(), key=lambda mutant: (mutant.start, mutant.end))


class _Visitor(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider, WhitespaceInclusivePositionProvider)

    def __init__(self, file: Path, source: str) -> None:
        super().__init__()
        self.found: list[Mutant] = []
        self._file = file
        self._lines = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
        self._functions = 0
        self._statements: list[int] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._left_alone(node):
            return False
        self._functions += isinstance(node, cst.FunctionDef)
        if isinstance(node, cst.BaseStatement):
            self._statements.append(self._place(node, PositionProvider).start.line)
        if self._functions and not isinstance(node, cst.FunctionDef):
            self.found.extend(self._changes(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        # A node that was left alone is left without having been entered.
        if self._left_alone(original_node):
            return
        self._functions -= isinstance(original_node, cst.FunctionDef)
        if isinstance(original_node, cst.BaseStatement):
            self._statements.pop()

    def _left_alone(self, node: cst.CSTNode) -> bool:
        """Return whether a node runs at import or is for people or checkers of types only."""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
            return node.func.value in {"len", "isinstance"}
        if isinstance(node, cst.SimpleString):
            return bool(WORDS.search(node.value))
        if isinstance(node, cst.Arg):
            return _is_label(node)
        return isinstance(node, cst.Annotation | cst.Decorator | cst.Parameters | cst.Raise)

    def _changes(self, node: cst.CSTNode) -> Iterator[Mutant]:
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                for changed in operator(node):
                    yield self._mutant(node, changed)
        if isinstance(node, CONDITIONS):
            for changed in _negated(node):
                yield self._mutant(node.test, changed)

    def _mutant(self, node: cst.CSTNode, changed: cst.CSTNode) -> Mutant:
        text = cst.Module([]).code_for_node(changed)
        if isinstance(node, cst.Match) and isinstance(changed, cst.Match):
            (node,) = (case for case in node.cases if case not in changed.cases)
            text = ""
        place = self._place(node, WhitespaceInclusivePositionProvider)
        return Mutant(
            file=self._file,
            first=self._statements[-1],
            last=self._place(node, PositionProvider).end.line,
            start=self._lines[place.start.line - 1] + place.start.column,
            end=self._lines[place.end.line - 1] + place.end.column,
            text=text,
        )

    def _place(self, node: cst.CSTNode, provider: type) -> CodeRange:
        place = self.get_metadata(provider, node, None)
        if not isinstance(place, CodeRange):
            place = self.get_metadata(WhitespaceInclusivePositionProvider, node)
        return cast("CodeRange", place)
