"""Reads a typed answer, a quantity or an order, or says where and why it cannot."""

from quiz.answers.echo import caret, describe
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable
from quiz.answers.ranking import Ranking, read_ranking

__all__ = [
    "Quantity",
    "Ranking",
    "Unreadable",
    "caret",
    "describe",
    "parse_quantity",
    "read_ranking",
]
