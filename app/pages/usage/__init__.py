"""Measured usage: structures and queues over time, and plans made from them."""
