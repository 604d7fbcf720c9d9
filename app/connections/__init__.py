"""Connections to other systems: the endpoints that a file names, their credentials, and the only client that contacts them."""
