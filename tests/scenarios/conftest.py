from __future__ import annotations

from tests.databases import database, postgres_server, url

__all__ = ["database", "postgres_server", "url"]
