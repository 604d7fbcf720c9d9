"""The database: its engine, the sessions of requests, and the types of columns."""
