"""Software stacks: what the modules of each run, operator by operator, as tapes."""
