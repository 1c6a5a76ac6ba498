"""What is typed on a command line, read."""
