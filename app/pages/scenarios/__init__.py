"""Pages of scenarios: the list, the form, the comparison, the report."""
