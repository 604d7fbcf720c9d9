"""Pages of the what-if questions: a plan, a few choices, tables and a picture."""
