"""The wrong ideas of a step: a file with `IDEAS` is all that one more takes."""
