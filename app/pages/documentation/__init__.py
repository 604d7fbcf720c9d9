"""The user documentation, rendered from the files in docs/."""
