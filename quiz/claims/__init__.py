"""Marks what a learner says about a claim: the verdict, the reasons, the false statements."""
