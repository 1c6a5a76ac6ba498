"""`memquiz levers`: what is shown of it."""
