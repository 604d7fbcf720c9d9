"""The router of all features. Its routes build their validators at the first request, not at import."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Route
from starlette.types import Receive, Scope, Send


class DeferredRoute(APIRoute):
    """A route that knows its path and its methods, and builds everything else when it is first needed.

    FastAPI builds the validators of parameters, bodies and answers when a route is declared. For all routes, that takes
    a third of the CPU time in which the service is imported, but most processes serve few routes.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - of APIRoute
        """Take the arguments of `APIRoute`."""
        Route.__init__(
            self,
            path,
            endpoint,
            name=options.get("name"),
            include_in_schema=options.get("include_in_schema", True),
        )
        # Starlette would add HEAD to GET, which FastAPI does not.
        self.methods = {method.upper() for method in options.get("methods") or ("GET",)}
        self.app = self._serve
        self._described = cache(lambda: APIRoute(path, endpoint, **options))
        # Requests do not need the schemas with which `responses` describes answers; that of a plan takes 0.2 s.
        self._served = cache(lambda: APIRoute(path, endpoint, **{**options, "responses": None}))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._served().app(scope, receive, send)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any type
        """Return an attribute that `APIRoute` sets, for example for OpenAPI."""
        if name in {
            "_described",
            "_served",
        }:  # without them, the object is not complete, such as a copy in the making
            raise AttributeError(name)
        return getattr(self._described(), name)


class Router(APIRouter):
    """FastAPI's router, with routes that build their validators at the first request."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - of APIRouter
        """Take the arguments of `APIRouter`."""
        super().__init__(route_class=DeferredRoute, **options)
