"""A number of bytes or seconds, or a plain one."""

from problems.answers.quantity import QuantityAnswer
from quiz.marking.marker import Marker
from quiz.marking.numbers import mark_number, number_forms

MARKER = Marker(of=QuantityAnswer, mark=mark_number, forms=number_forms)
