"""Files for browsers: style sheets, scripts, images."""

from __future__ import annotations

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

KEEP = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


class Files(StaticFiles):
    """Files that browsers cache indefinitely if their address has a version, and revalidate otherwise."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file with its caching rule."""
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = KEEP if b"v=" in scope["query_string"] else ASK_AGAIN
        return response
