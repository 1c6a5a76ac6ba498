"""What is asked: problems drawn from (kind, seed), with their answers and solutions."""
