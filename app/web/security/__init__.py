"""ASGI middleware that protects the service and its users; docs/operations/security.md gives the reasons."""
