"""PyTorch's CUDA caching allocator, replayed without a GPU: what it reserves for given tensors.

One stream and the allocator's default settings, with `expandable_segments` as the one choice.
Left out: other streams, private pools (CUDA graphs), `max_split_size_mb`,
`garbage_collection_threshold` and `roundup_power2_divisions`.

Source of every rule in this package: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp.
"""
