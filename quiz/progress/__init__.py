"""`memquiz progress`: what the answers of weeks say of a learner."""
