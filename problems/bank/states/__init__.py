"""Topic A, model states."""
