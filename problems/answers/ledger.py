"""The terms of a sum and what comes of them: "weights 14 GB, gradients 14 GB, total 28 GB"."""

from dataclasses import dataclass

from problems.answers.terms import TermsAnswer


@dataclass(frozen=True, kw_only=True)
class LedgerAnswer(TermsAnswer):
    """Named terms and what comes of them, as `TermsAnswer` describes them."""

    type = "ledger"
