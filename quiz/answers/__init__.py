"""Reads a typed quantity, formula, order or pick, or says where and why it cannot."""

from quiz.answers.breakdown import Breakdown, read_breakdown
from quiz.answers.choice import Picked, read_choice
from quiz.answers.conditions import Conditions, read_conditions
from quiz.answers.echo import caret, describe
from quiz.answers.formula import TypedFormula, read_formula
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable
from quiz.answers.ranking import Ranking, read_ranking
from quiz.answers.seconds import read_seconds

__all__ = [
    "Breakdown",
    "Conditions",
    "Picked",
    "Quantity",
    "Ranking",
    "TypedFormula",
    "Unreadable",
    "caret",
    "describe",
    "parse_quantity",
    "read_breakdown",
    "read_choice",
    "read_conditions",
    "read_formula",
    "read_ranking",
    "read_seconds",
]
