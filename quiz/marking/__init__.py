"""Marking: what a typed answer earns, and why."""
