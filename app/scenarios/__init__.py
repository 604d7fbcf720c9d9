"""Scenarios of stored plans: named changes of a version, stored with their results, compared and reported."""
