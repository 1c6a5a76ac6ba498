"""What an optimizer keeps, needs, moves and runs: a row for each, which is all that one takes."""

from dataclasses import dataclass

# Known by name, but without a row yet: refused as not modelled.
LATER = ("muon",)


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """What an optimizer keeps and needs, in tensors of the stepped dtype per parameter.

    Attributes:
        title: its name in a question.
        states: kept from step to step; made in the first step.
        called: what the states are, as in "two moments".
        form: of one state, a name of `engine.state_forms.FORMS`.
        temporaries: alive only inside the step, for all parameters at once.
        of_one: the same for one parameter at a time.
        makes: what either of the two is.
        at_once: whether gradients are cast for all parameters at once, not one tensor at a time.
        passes: over a parameter's stepped bytes in one step, read or written.
        beside: bytes that a step reads and writes for a parameter of states in a dtype of their
            own.
        counted: what the passes are, kernel by kernel.
        runs: what a verified step runs, as "module:class"; it takes the stepped tensors first.
        options: its keyword arguments.
        source: of states and temporaries, and of the kernels that are counted.
    """

    name: str
    title: str
    states: int
    called: str = ""
    form: str = "whole"
    temporaries: int = 0
    of_one: int = 0
    makes: str = ""
    at_once: bool
    passes: int
    beside: int = 0
    counted: str
    runs: str
    options: tuple[tuple[str, bool | float], ...] = ()
    says: str
    source: str


OPTIMIZERS = {
    row.name: row
    for row in (
        Optimizer(
            name="adamw",
            title="AdamW",
            states=2,
            called="moments",
            temporaries=1,
            makes="a root of every second moment",
            at_once=True,
            passes=20,
            counted="over lists, kernel by kernel: decay 2, first moment 3, second 2 + 3, root 2, "
            "correction 2, epsilon 2, update 4",
            runs="torch.optim:AdamW",
            options=(("foreach", True),),
            says="AdamW over lists of tensors (foreach, PyTorch's default)",
            source="pytorch/pytorch#97712; torch/optim/adamw.py, _multi_tensor_adamw",
        ),
        Optimizer(
            name="adamw-fused",
            title="fused AdamW",
            states=2,
            called="moments",
            at_once=False,
            passes=7,
            counted="one kernel: weight and both moments read and written, gradient read",
            runs="torch.optim:AdamW",
            options=(("fused", True),),
            says="AdamW in one kernel, tensor by tensor",
            source="torch/optim/adamw.py, _fused_adamw",
        ),
        Optimizer(
            name="adamw-8bit",
            title="8-bit AdamW",
            states=2,
            called="moments",
            form="8-bit",
            at_once=False,
            passes=3,
            beside=4,
            counted="one kernel: weight read and written, gradient read; beside them two moments "
            "of a byte, read and written",
            runs="engine.verify.optimizers:EightBitAdamW",
            says="AdamW with moments of one byte and an fp32 scale for each block of 256; "
            "tensors of fewer than 4,096 elements keep fp32 moments",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py, "
            "Optimizer2State; arXiv 2110.02861",
        ),
        Optimizer(
            name="adafactor",
            title="Adafactor",
            states=1,
            called="second moment",
            form="factored",
            of_one=1,
            makes="the second moments of one tensor, put together of rows and columns",
            at_once=False,
            passes=7,
            counted="not counted: taken for a fused AdamW's",
            runs="engine.verify.optimizers:Adafactor",
            says="second moments as one number for each row and each column of a matrix; no first",
            source="torch/optim/_adafactor.py, _single_tensor_adafactor; arXiv 1804.04235",
        ),
        Optimizer(
            name="lion",
            title="Lion",
            states=1,
            called="momentum",
            form="fp32",
            at_once=False,
            passes=5,
            counted="one kernel: weight and momentum read and written, gradient read",
            runs="engine.verify.optimizers:Lion",
            says="the sign of a momentum, in fp32 whatever the weights are; one kernel a tensor",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py, "
            "Optimizer1State; arXiv 2302.06675",
        ),
        Optimizer(
            name="sgd",
            title="SGD without momentum",
            states=0,
            at_once=True,
            passes=3,
            counted="over lists: update 3",
            runs="torch.optim:SGD",
            options=(("lr", 0.1), ("foreach", True)),
            says="SGD without momentum",
            source="torch/optim/sgd.py, _multi_tensor_sgd",
        ),
        Optimizer(
            name="sgd-momentum",
            title="SGD with momentum",
            states=1,
            called="momentum",
            at_once=True,
            passes=8,
            counted="over lists, kernel by kernel: momentum 2 + 3, update 3",
            runs="torch.optim:SGD",
            options=(("lr", 0.1), ("momentum", 0.9), ("foreach", True)),
            says="SGD with momentum",
            source="torch/optim/sgd.py, _multi_tensor_sgd",
        ),
    )
}


def costed(name: str) -> Optimizer:
    """Return the row that a step's time is counted by: a fused AdamW's where `name` has none."""
    return OPTIMIZERS.get(name, OPTIMIZERS["adamw-fused"])
