"""Who is asked: the commands, practice, grading and history."""
