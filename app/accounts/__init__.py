"""Who may use the service: users, sign-in, sessions, API tokens, and the rights of each route."""
