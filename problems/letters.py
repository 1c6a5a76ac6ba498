"""The letters of a scenario: the problem's own symbols."""

from engine.scenario import Scenario


def letters(scenario: Scenario) -> dict[str, int]:
    """Return the letters that a typed answer may use."""
    a, work = scenario.architecture, scenario.workload
    return {
        "b": work.micro_batch,
        "s": work.sequence,
        "L": a.layers,
        "h": a.hidden,
        "a": a.heads,
        "k": a.kv_heads,
        "d": a.head_dim,
        "f": a.ffn,
        "V": a.vocab,
    }
