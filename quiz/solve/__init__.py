"""`memquiz solve`: what is shown of it."""
