"""Formats that a set is written in: a file in `quiz.formats.known` for each."""
