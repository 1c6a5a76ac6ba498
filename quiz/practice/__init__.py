"""`memquiz practice`: a set of questions, a learner, what passes between them."""
