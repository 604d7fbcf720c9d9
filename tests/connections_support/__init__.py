"""A stand-in for the servers that connections name: HTTPS with its own authority, basic authentication, faults on demand."""
