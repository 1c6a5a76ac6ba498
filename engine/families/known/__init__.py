"""The families, one module each: `FAMILY` is what `engine.families.registry` looks for in it."""
