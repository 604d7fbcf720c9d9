"""The processes of the service: one that supervises, and the workers that answer requests."""
