"""What protects the service and its users, as ASGI middleware around every route; docs/security.md says why."""
