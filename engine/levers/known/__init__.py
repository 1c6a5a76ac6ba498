"""The levers, one module each: `LEVER` is what `engine.levers.registry` looks for in it."""
