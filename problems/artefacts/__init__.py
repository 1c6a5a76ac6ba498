"""What programs print of a GPU's memory, in their own form: to be read beside a question."""
