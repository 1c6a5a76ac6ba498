"""The rules, by what they look at: those of a type of answer stand in a file of its name."""
