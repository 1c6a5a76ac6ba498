"""Topic H, real failures."""
