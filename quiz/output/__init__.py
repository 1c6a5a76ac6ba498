"""What is shown: a console, a file, a line of text."""
