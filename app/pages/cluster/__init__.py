"""The pages about clusters: decisions, load, messages that wait."""
