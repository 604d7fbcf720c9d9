"""The plan document: its fields, its reader, and its error messages."""
