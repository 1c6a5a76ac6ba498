"""`memquiz explain`: what is known of a topic, a line, a lever, a mistake, by name."""
