"""Which files are in the history, and away with one."""
