"""The bank: one file a topic, one function a kind."""
