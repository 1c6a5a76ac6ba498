"""What an optimizer keeps and needs per parameter: a row for each name."""

from dataclasses import dataclass
from typing import Literal

Form = Literal["whole", "fp32", "8-bit", "factored"]


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """What an optimizer keeps and needs, in tensors of the stepped dtype per parameter.

    Attributes:
        states: kept from step to step.
        form: what one of them is. "whole": in the stepped dtype; "fp32": always in fp32; "8-bit":
            a byte an element and an fp32 number for each block; "factored": rows and columns of
            a matrix instead of its elements.
        temporaries: alive only inside the step, for all parameters at once.
        of_one: the same for one parameter at a time.
        at_once: whether gradients are cast for all parameters at once, not one tensor at a time.
    """

    name: str
    states: int
    form: Form = "whole"
    temporaries: int = 0
    of_one: int = 0
    at_once: bool
    says: str
    source: str


OPTIMIZERS = {
    row.name: row
    for row in (
        Optimizer(
            name="adamw",
            states=2,
            temporaries=1,
            at_once=True,
            says="AdamW over lists of tensors (foreach, PyTorch's default)",
            source="pytorch/pytorch#97712; torch/optim/adamw.py, _multi_tensor_adamw",
        ),
        Optimizer(
            name="adamw-fused",
            states=2,
            at_once=False,
            says="AdamW in one kernel, tensor by tensor",
            source="torch/optim/adamw.py, _fused_adamw",
        ),
        Optimizer(
            name="adamw-8bit",
            states=2,
            form="8-bit",
            at_once=False,
            says="AdamW with moments of one byte and an fp32 scale for each block of 256; "
            "tensors of fewer than 4,096 elements keep fp32 moments",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py, "
            "Optimizer2State; arXiv 2110.02861",
        ),
        Optimizer(
            name="adafactor",
            states=1,
            form="factored",
            of_one=1,
            at_once=False,
            says="second moments as one number for each row and each column of a matrix; no first",
            source="torch/optim/_adafactor.py, _single_tensor_adafactor; arXiv 1804.04235",
        ),
        Optimizer(
            name="lion",
            states=1,
            form="fp32",
            at_once=False,
            says="the sign of a momentum, in fp32 whatever the weights are; one kernel a tensor",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py, "
            "Optimizer1State; arXiv 2302.06675",
        ),
        Optimizer(
            name="sgd",
            states=0,
            at_once=True,
            says="SGD without momentum",
            source="torch/optim/sgd.py, _multi_tensor_sgd",
        ),
        Optimizer(
            name="sgd-momentum",
            states=1,
            at_once=True,
            says="SGD with momentum",
            source="torch/optim/sgd.py, _multi_tensor_sgd",
        ),
    )
}
