"""The learner's answers as they are kept."""
