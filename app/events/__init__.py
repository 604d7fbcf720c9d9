"""Queue depth events: simulated timelines, and event messages."""
