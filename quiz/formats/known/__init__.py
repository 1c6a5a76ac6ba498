"""The formats, a file for each."""
