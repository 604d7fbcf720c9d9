"""Where a cluster sends its messages: the decision, its steps, and what it puts on the structures of a group."""
