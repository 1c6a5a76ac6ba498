"""A term left out: at the moment of the peak, or so that the peak comes to lie elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.ledger import Category
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import at_all, at_peak
from problems.wrong_ideas.wrong import Wrong


@dataclass(frozen=True, kw_only=True)
class _Term:
    """A term of the peak.

    Args:
        name: short.
        category: its lines.
        what: it, in the middle of a sentence.
        missing: what it is, and that it is missing; no stop.
        briefly: the same in fewer words, where the peak then lies elsewhere.
        share: of the credit that is left without it.
    """

    name: str
    category: Category
    what: str
    missing: str
    briefly: str = ""
    share: Fraction = Fraction(1, 4)

    def ideas(self) -> Iterator[Idea]:
        """Yield the sum at the peak without the term, and the peak of all moments without it."""
        yield Idea(
            name=f"{self.name} forgotten",
            share=self.share,
            says=f"{self.missing}.",
            of=self._at_peak,
            precedence=10,
        )
        yield Idea(
            name=f"{self.name} forgotten, at another moment",
            share=self.share,
            says=f"{self.briefly or self.missing}, so the peak lay elsewhere.",
            of=self._at_all,
            rare=True,
            precedence=10,
        )

    def _at_peak(self, run: Run) -> Wrong:
        return at_peak(run, {self.category: 0}, f"leaves out {self.what}, {{off}} of the peak.")

    def _at_all(self, run: Run) -> Wrong:
        why = (
            f"leaves out {self.what}; without them the peak lies at another moment, {{off}} lower."
        )
        return at_all(run, {self.category: 0}, why)


TERMS = (
    _Term(
        name="logits and loss",
        category=Category.LOGITS,
        what="logits and loss",
        missing="What is as wide as the vocabulary is missing",
    ),
    _Term(
        name="saved activations",
        category=Category.ACTIVATIONS,
        what="the activations that the layers save",
        missing="What the layers save for backward is missing",
        briefly="What the layers save is missing",
    ),
    _Term(
        name="optimizer states",
        category=Category.OPTIMIZER_STATE,
        what="the optimizer's states",
        missing="What the optimizer keeps for each parameter is missing",
        briefly="The optimizer's states are missing",
    ),
    _Term(
        name="master copy",
        category=Category.MASTER_WEIGHTS,
        what="the fp32 master copy",
        missing="The fp32 copy that the optimizer steps, 4 bytes a parameter, is missing",
        briefly="The master copy is missing",
    ),
    _Term(
        name="gradients",
        category=Category.GRADIENTS,
        what="the gradients",
        missing="The gradients, alive until the optimizer has stepped, are missing",
        briefly="The gradients are missing",
    ),
    _Term(
        name="weights",
        category=Category.WEIGHTS,
        what="the weights",
        missing="The weights themselves are missing",
        briefly="The weights are missing",
    ),
    _Term(
        name="temporaries",
        category=Category.TEMPORARY,
        what="what is alive for a moment only: a layer's working set, the optimizer's own tensors",
        missing="What is alive for a moment only is missing",
        share=Fraction(1, 2),
    ),
    _Term(
        name="exchange",
        category=Category.COMMUNICATION,
        what="what ranks exchange through: buckets, gathered layers",
        missing="What ranks exchange through, buckets or gathered layers, is missing",
        briefly="What ranks exchange through is missing",
        share=Fraction(1, 2),
    ),
)
IDEAS = tuple(idea for term in TERMS for idea in term.ideas())
