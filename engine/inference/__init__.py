"""What serving a model takes: its stored weights, its cache of keys and values, and their pool."""
