"""What may be asked for: one file for each type of answer."""
