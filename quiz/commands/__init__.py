"""One module a command, imported when that command is invoked."""
