"""What is true: architectures, hardware, scenarios and the ledger of every byte of a step."""
