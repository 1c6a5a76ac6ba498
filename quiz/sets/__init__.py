"""Sets of problems for a class: drawn from a blueprint, held to rules, kept as a key."""
