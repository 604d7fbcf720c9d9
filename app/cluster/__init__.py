"""Where a cluster sends its messages: decisions, the load on structures, messages that wait."""
