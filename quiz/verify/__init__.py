"""`memquiz verify`: what is run and what is shown of it."""
