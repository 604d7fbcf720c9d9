"""Pages of queue depth events."""
