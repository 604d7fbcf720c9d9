"""Long-running work: a row for each run, a keeper process that does the work, and a watcher that starts keepers."""
