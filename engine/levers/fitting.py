"""What makes a scenario fit, in a few words each."""

from engine.levers.assess import assess
from engine.levers.changes import brief
from engine.levers.plans import plans
from engine.scenario import Scenario

MOST = 3


def fitting(scenario: Scenario) -> tuple[str, ...]:
    """Return the single changes that make `scenario` fit, the first to make first.

    Where there is none, the first few plans: "zero = 3, recompute = "full" together".
    """
    single = [row.change for row in assess(scenario).ranked if row.change.after.fits == "yes"]
    if single:
        return tuple(brief(scenario, change.after.scenario) for change in single)
    found = plans(scenario).plans[:MOST]
    return tuple(f"{brief(scenario, plan.scenario)} together" for plan in found)
