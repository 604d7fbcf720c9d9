"""Scenarios of stored plans: named changes of a version, kept with what they led to, compared and reported."""
