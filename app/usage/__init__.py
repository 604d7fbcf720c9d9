"""Measured usage: hourly roll-ups of the usage history, for pages, programs and plans."""
