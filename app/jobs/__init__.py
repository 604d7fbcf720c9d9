"""Long work in processes of its own: a row for each run, a keeper process that does the run, a watcher that starts it."""
