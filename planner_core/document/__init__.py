"""The plan document: its fields, how it is read, and how its errors are reported."""
