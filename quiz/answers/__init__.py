"""Reads a typed answer as an exact quantity, or says where and why it cannot."""

from quiz.answers.echo import caret, describe
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable

__all__ = ["Quantity", "Unreadable", "caret", "describe", "parse_quantity"]
