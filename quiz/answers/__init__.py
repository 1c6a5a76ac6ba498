"""Reads a typed answer, a quantity, an order or a pick, or says where and why it cannot."""

from quiz.answers.choice import Picked, read_choice
from quiz.answers.echo import caret, describe
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable
from quiz.answers.ranking import Ranking, read_ranking
from quiz.answers.seconds import read_seconds

__all__ = [
    "Picked",
    "Quantity",
    "Ranking",
    "Unreadable",
    "caret",
    "describe",
    "parse_quantity",
    "read_choice",
    "read_ranking",
    "read_seconds",
]
