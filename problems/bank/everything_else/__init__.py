"""Topic C, everything else: logits, buffers, the allocator, what lies outside."""
