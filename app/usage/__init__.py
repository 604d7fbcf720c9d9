"""Measured usage: hourly roll-ups of the usage history, and what people and programs read from them."""
