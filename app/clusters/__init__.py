"""Cluster decisions: which instance gets a message, the load on structures, and why messages wait."""
