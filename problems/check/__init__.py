"""What questions are held to: rules that yield findings, and the problems they look at."""
