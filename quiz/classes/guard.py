"""Cells that a spreadsheet would take for a formula: an apostrophe before them, and off again.

An answer may begin with a sign, such as -5 or =16*7e9, and a name with anything. Where a file that
people open in a spreadsheet holds them they stand behind an apostrophe; reading takes one off, so
that a file that was written gives the same answers again.
"""

import re

# The wide forms of the four signs are folded to the others by some programs.
SIGNS = "=+@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}"
FORMULA = re.compile(rf"'*\s*[{SIGNS}\N{{FULLWIDTH HYPHEN-MINUS}}\t\r\n-]")


def guarded(text: str) -> str:
    """Return the cell for `text`: behind an apostrophe where it would be a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a cell: without the apostrophe that keeps it from being a formula."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
