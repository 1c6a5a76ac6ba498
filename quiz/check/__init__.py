"""`memquiz check`: problems are made, looked at by every rule, and marked."""
