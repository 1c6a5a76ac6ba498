"""Published answers that went wrong, each with its source, to be posed with other numbers."""
