"""When a concept is asked again, and at which level: from answers to what is due."""
