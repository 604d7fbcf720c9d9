"""Operator commands for structures, and the runbook for structures that fill."""
