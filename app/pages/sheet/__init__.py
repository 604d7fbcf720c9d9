"""Several groups on one sheet."""
