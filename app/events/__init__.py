"""Queue depth events: timelines that are simulated, event messages that are read."""
