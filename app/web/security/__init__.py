"""ASGI middleware that protects the service and its users; docs/security.md gives the reasons."""
