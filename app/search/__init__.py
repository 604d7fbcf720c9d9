"""Search over plans, structures, queues, findings and the documentation."""
