"""Operator commands for structures, and what to do when one fills."""
