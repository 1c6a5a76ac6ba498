"""What can be changed in a scenario to save memory, what each change saves and costs, and plans.

`known` has the levers, one file each; `assess` puts one beside the scenario that it changes;
`plans` combines them; `fitting` says in a few words what makes a scenario fit.
"""
