"""Topic D, the peak: which moment, which line, does it fit."""
