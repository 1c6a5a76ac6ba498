"""The rules that take marking."""
