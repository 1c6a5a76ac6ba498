"""The same step in PyTorch: the reference modules and the count of their live bytes.

The only part of the project that imports torch.
"""
