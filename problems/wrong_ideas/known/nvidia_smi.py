"""What the driver shows taken for what tensors take."""

from fractions import Fraction

from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import of_size
from problems.wrong_ideas.wrong import Wrong


def _shown(run: Run) -> Wrong:
    return of_size(
        run.ledger.nvidia_smi[1],
        "is about what nvidia-smi would show; {off} of it is the allocator's slack and the "
        "CUDA context, and no tensor.",
    )


IDEAS = (
    Idea(
        name="nvidia-smi for allocated",
        share=Fraction(1, 2),
        says="What nvidia-smi shows, with allocator slack and context, where tensors are asked "
        "for.",
        of=_shown,
        rare=True,
        precedence=90,
        asked=("peak",),
    ),
)
