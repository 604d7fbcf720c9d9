"""List the files of the history, and remove one."""
