"""`memquiz interview`: a mock interview, alone or with an interviewer at a second screen."""
