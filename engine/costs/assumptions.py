"""What is assumed of hardware, each with its source: everything else in this package is counted.

None of these was fitted to a step time.
"""

from engine.units import GB

# Of the dense 16-bit peak, in matrix products, of a GPU that has no share in the catalogue. What
# SimuMax assumes of every product on an A100, linear layers and attention alike. It lies below the
# best shapes of an A100 and H100 (87% and 80%: stas00/ml-engineering, compute/accelerator, maximum
# achievable matmul FLOPS), and near the 72% that whole training runs reach on an A100 (arXiv
# 2307.08691, abstract).
PRODUCTS_SHARE = 0.75
PRODUCTS_SOURCE = "MooreThreads/SimuMax v1.2 configs/system/a100_pcie.json: 0.75 of the peak"

# TF32 against 16 bits: 156 of 312 TFLOP/s and 494.7 of 989.4, NVIDIA A100 and H100 data sheets.
FP32_SHARE = 0.5

# Float8 against 16 bits: 1,979 of 989.4 TFLOP/s on an H100, 733 of 362 on an L40S, 2,615 of 1,307
# on an MI300X, their data sheets. The share of the peak is taken to be that of 16 bits.
FLOAT8_TIMES = 2

# Of the memory bandwidth, in operators that only read and write.
MEMORY_SHARE = 0.91
MEMORY_SOURCE = "MooreThreads/SimuMax v1.2 configs/system/a100_pcie.json: 0.91 of the bandwidth"

# Seconds of an operator over memory beyond its bytes: one module with its launches. Said of
# Megatron-LM; taken for PyTorch's own modules too.
OPERATOR_LATENCY = 30e-6
OPERATOR_SOURCE = "MooreThreads/SimuMax v1.2 configs/system: 30 µs an operator on B200, 40 on A100"

# Of a link in one direction, as NCCL's ring uses it: 80 to 82% measured for all-reduce, all-gather
# and reduce-scatter on 8 x H200, 76% on 8 x B200; "about 80%" of a network card.
LINK_SHARE = 0.8
LINK_SOURCE = "stas00/ml-engineering, network: ring collectives at 80-82% of NVLink, 8 x H200"

# Seconds of a collective that has next to no bytes: all-reduces of 32 KiB took 40 µs on 8 x H200
# and 68 µs on 4 nodes of 8 x A100 (0.82 and 0.48 GB/s; stas00/ml-engineering, network/README.md
# and network/benchmarks/README.md).
NODE_LATENCY, NETWORK_LATENCY = 40e-6, 68e-6

# Of PCIe x16 as the nominal 16, 32 or 64 GB/s: 55.4 of 63 GB/s measured on 8 x H200.
PCIE_SHARE = 0.87
PCIE_SOURCE = "stas00/ml-engineering, network: nvbandwidth host to device and back, 8 x H200"

# Parameters a second that one host's processors step: 10 billion in 2.57 s on a DGX-2.
CPU_ADAM = 10**10 / 2.57
CPU_ADAM_SOURCE = "arXiv 2101.06840 (ZeRO-Offload) table 4: CPU-Adam, 10B parameters in 2.57 s"

# Bytes a second of one host's drives: four PCIe 5 SSDs as one RAID-0 volume.
NVME_READ, NVME_WRITE = 27 * GB, 11 * GB
NVME_SOURCE = "deepspeedai/DeepSpeed blogs/deepnvme/06-2025: 27 GB/s read and 11 GB/s written"
