"""The bank: a folder a topic, one function a kind."""
