"""Mock interviews: one scenario, and what an interviewer asks of it in which order."""
