"""An accelerator: what its driver reports and how fast it computes and communicates."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from engine.errors import Fault, InputError
from engine.units import MIB

MAY_BE_ZERO = frozenset({"products_share", "nvlink_gb_s", "context_mib"})


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """One GPU as the driver lists it; on MI250 and MI250X that is one of the card's two dies.

    Args:
        name: as it is typed, such as "h100-80gb".
        title: as it is shown, such as "H100 SXM 80GB".
        vendor: "NVIDIA" or "AMD".
        memory_mib: total memory that the driver reports, in MiB: less than the name says where
            ECC or firmware takes a part.
        tflops_16bit: dense 16-bit peak in TFLOP/s, without sparsity: tensor or matrix cores with
            fp32 accumulation, ordinary cores on a P100.
        float8: whether its tensor or matrix cores multiply float8, at twice the 16-bit peak.
        products_share: part of `tflops_16bit` that the matrix products of a language model were
            measured to reach; 0 where nobody has said.
        bandwidth_gb_s: memory bandwidth in GB/s.
        nvlink_gb_s: GB/s in each direction from one GPU to all peers together, over NVLink or
            Infinity Fabric; half of the total that data sheets print. 0 means none.
        pcie_gb_s: GB/s in each direction to the host: nominal PCIe x16 (16, 32 or 64 for
            generation 3, 4 or 5), NVLink-C2C on a GH200.
        network_gb_s: GB/s in each direction from one GPU to other nodes; 12.5, a card of 100 Gb/s,
            where no node of the vendor says otherwise. Clouds differ: give your own.
        gpus_per_node: GPUs that the vendor's usual node has; on MI250 and MI250X, dies.
        nvlink_gpus: GPUs that NVLink or Infinity Fabric joins: 2 where it is a bridge.
        context_mib: what a process takes before its first tensor, in MiB; 0 where nobody has
            said.
        workspace_kib: scratch memory of one cuBLAS (hipBLASLt) handle on one stream, in KiB, as
            PyTorch chooses it where CUBLAS_WORKSPACE_CONFIG is not set.
        source: where the numbers were read.
        checked: the day on which they were, YYYY-MM-DD.

    Raises:
        InputError: listing every number that is negative or, where one is needed, zero, and every
            share above 1.
    """

    name: str
    title: str
    vendor: str
    memory_mib: int
    tflops_16bit: float
    float8: bool = False
    products_share: float = 0.0
    bandwidth_gb_s: float
    nvlink_gb_s: float = 0.0
    pcie_gb_s: float
    network_gb_s: float = 12.5
    gpus_per_node: int = 8
    nvlink_gpus: int = 8
    context_mib: int = 0
    workspace_kib: int = 8320
    source: str
    checked: str

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise InputError(*faults)

    def _faults(self) -> Iterator[Fault]:
        for field in fields(self):
            value = getattr(self, field.name)
            where = f"gpu.{self.name}.{field.name}"
            if field.type in {bool, "bool"} and not isinstance(value, bool):
                yield Fault(where, f"{value!r} is not true or false")
            if field.type in {str, "str", bool, "bool"}:
                continue
            kinds = (int,) if field.type in {int, "int"} else (int, float)
            may_be_zero = field.name in MAY_BE_ZERO
            if isinstance(value, bool) or not isinstance(value, kinds):
                yield Fault(where, f"{value!r} is not a number")
            elif value < 0 or not (value or may_be_zero):
                yield Fault(where, f"{value:,} is not positive")
            elif field.name == "products_share" and value > 1:
                yield Fault(where, f"{value:,} is more than the peak; a half is 0.5")

    @property
    def memory(self) -> int:
        """Total memory that the driver reports, in bytes."""
        return self.memory_mib * MIB
