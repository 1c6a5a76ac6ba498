"""The terms of a sum and what comes of them."""

from problems.answers.ledger import LedgerAnswer
from quiz.marking.marker import Marker
from quiz.marking.terms import (
    LINES,
    LONGEST_TERMS,
    mark_terms,
    request_terms,
    terms_forms,
    terms_slips,
)

MARKER = Marker(
    of=LedgerAnswer,
    mark=mark_terms,
    longest=LONGEST_TERMS,
    request=request_terms,
    halves=LINES,
    forms=terms_forms,
    names=terms_slips,
)
