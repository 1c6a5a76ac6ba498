"""Topic F, inference: weights, caches, concurrency."""
