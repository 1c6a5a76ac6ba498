"""The software stacks, one module each: `STACK` is what `engine.stacks.registry` looks for in it.

The name of a module is the name of its stack.
"""
