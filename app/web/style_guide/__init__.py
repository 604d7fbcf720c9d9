"""The style page: every component in all its states."""
