"""Topic G, claims."""
