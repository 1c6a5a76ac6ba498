"""What a precision costs per parameter and per activation: a row for each name."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Bytes per element by role.

    Attributes:
        weights: the copy that the forward pass reads.
        gradients: the accumulated gradient.
        master: an fp32 copy that the optimizer steps, 0 where it steps the weights themselves.
        compute: activations inside a block and the matrix products.
        residual: the stream between blocks, its norms' inputs and outputs.
        casts: 16-bit casts of the matrices, made by autocast and kept for the backward pass.
        float8: whether the layers' matrices multiply in float8.
        title: its name and widths in a question; `{}` is what is as wide as the states.
    """

    name: str
    weights: int
    gradients: int
    master: int
    compute: int
    residual: int
    casts: int = 0
    float8: bool = False
    title: str
    says: str
    source: str

    @property
    def stepped(self) -> int:
        """Bytes per element of the tensor that the optimizer steps; its states have the same."""
        return self.master or self.weights

    @property
    def as_wide(self) -> tuple[str, ...]:
        """What has as many bytes per element as the states of an optimizer."""
        held = (
            ("weights", self.weights),
            ("gradients", self.gradients),
            ("master copy", self.master),
        )
        return tuple(name for name, each in held if each == self.stepped)

    @property
    def autocast(self) -> bool:
        """Whether operators cast what they read, as torch.autocast has them do."""
        return self.casts > 0


FLOAT8 = 1
PRECISIONS = {
    row.name: row
    for row in (
        Precision(
            name="fp32",
            weights=4,
            gradients=4,
            master=0,
            compute=4,
            residual=4,
            title="all in 32 bits: {}",
            says="everything in 32 bits",
            source="arXiv 1910.02054 section 3.1, with 4-byte weights and gradients",
        ),
        Precision(
            name="mixed",
            weights=2,
            gradients=2,
            master=4,
            compute=2,
            residual=2,
            title="mixed precision: 16-bit weights and gradients, fp32 {}",
            says="16-bit weights and gradients, fp32 master copy and optimizer states",
            source="arXiv 1910.02054 section 3.1",
        ),
        Precision(
            name="mixed-fp32-grad",
            weights=2,
            gradients=4,
            master=4,
            compute=2,
            residual=2,
            title="mixed precision: 16-bit weights, fp32 {}",
            says="16-bit weights, gradients accumulated in fp32, fp32 master copy and states",
            source="NVIDIA/Megatron-LM docs, distributed optimizer: 18 bytes per parameter",
        ),
        Precision(
            name="autocast",
            weights=4,
            gradients=4,
            master=0,
            compute=2,
            residual=4,
            casts=2,
            title="autocast: fp32 {}, matrices cast to 16 bits on use",
            says="fp32 weights, gradients and states; matrices cast to 16 bits as they are used",
            source="PyTorch documentation, torch.amp: autocast op reference",
        ),
        Precision(
            name="pure-bf16",
            weights=2,
            gradients=2,
            master=0,
            compute=2,
            residual=2,
            title="pure bf16: 16-bit {}, no master copy",
            says="everything in bf16, optimizer states too",
            source="pytorch/torchtune README, bf16 recipes",
        ),
        Precision(
            name="fp8",
            weights=2,
            gradients=2,
            master=4,
            compute=2,
            residual=2,
            float8=True,
            title="fp8: 16-bit weights and gradients, fp32 {}, matrices multiplied in 8 bits",
            says="as mixed, with both factors of each layer's products cast to 8 bits on use",
            source="pytorch/ao torchao/float8 README: weights stay in high precision",
        ),
    )
}
