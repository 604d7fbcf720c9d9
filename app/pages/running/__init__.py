"""Pages about what runs today."""
