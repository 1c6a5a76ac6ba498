"""Topic B, activations."""
