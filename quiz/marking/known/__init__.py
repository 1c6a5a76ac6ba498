"""How each type of answer is read and marked: one file for each, with a `MARKER`."""
