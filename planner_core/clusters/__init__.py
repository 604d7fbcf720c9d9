"""Destinations of cluster messages: the decision, its steps, and the load on the structures of a group."""
