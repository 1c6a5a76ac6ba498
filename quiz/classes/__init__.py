"""A class's answers, graded: a key and a CSV file go in, marks and a report come out."""
