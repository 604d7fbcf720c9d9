"""Cluster decisions: the destination of a message, the load on structures, and the reasons why messages wait."""
