"""The lines of the ledger, one file for each part of memory."""
