"""Operation of the service: request identifiers, access log, metrics and readiness."""
