"""Long work in processes of its own: a row for each run, a supervisor that keeps it, a watcher that starts it."""
