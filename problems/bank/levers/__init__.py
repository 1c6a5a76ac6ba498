"""Topic E, levers and plans."""
