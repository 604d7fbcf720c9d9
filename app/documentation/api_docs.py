"""The REST interface: its OpenAPI description, and Swagger UI from an installed package, not from another site."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.web.body import JSON
from app.web.compression import accepts_gzip
from app.web.rendering import Page, render, root_path

DESCRIPTION_FILE = Path(__file__).with_name("openapi.json")
"""The description as it is sent. `make openapi` generates it, because that takes almost a second of CPU time."""
ASSETS_PATH = "/assets/swagger-ui"
ASSETS_PACKAGE = "fastapi_offline"
"""The package with the files of Swagger UI; its Python code is not used."""
SCRIPT, STYLE = "swagger-ui-bundle.js", "swagger-ui.css"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class ApiDocsPage(Page):
    """Context of api_docs.html."""

    script: Annotated[str, "Path of Swagger UI's script"]
    stylesheet: Annotated[str, "Path of Swagger UI's style sheet"]


def assets_dir() -> Path:
    """Return the folder of Swagger UI's files in the installed package."""
    # Found without an import, which would run the code of the package.
    spec = find_spec(ASSETS_PACKAGE)
    if spec is None or spec.origin is None:
        message = f"the package {ASSETS_PACKAGE} is not installed: run make setup"
        raise RuntimeError(message)
    return Path(spec.origin).parent / "static"


@router.get("/api/docs")
async def show_api_docs(request: Request) -> Response:
    """Show the description of the REST interface."""
    page = ApiDocsPage(
        title="REST API",
        section="api",
        script=f"{ASSETS_PATH}/{SCRIPT}",
        stylesheet=f"{ASSETS_PATH}/{STYLE}",
    )
    return render(request, "api_docs.html", page)


@router.get("/openapi.json")
def send_description(request: Request) -> Response:
    """Send the description of the REST interface."""
    path = root_path(request)
    body = _description(path)
    if accepts_gzip(request.headers) and len(body) >= request.app.state.settings.compress_over_bytes:
        return Response(_compressed(path), media_type=JSON, headers={"Content-Encoding": "gzip"})
    return Response(body, media_type=JSON)


@lru_cache(maxsize=1)  # the root path is a setting of the server
def _description(path: str) -> bytes:
    text = DESCRIPTION_FILE.read_bytes()
    if not path:
        return text
    # The addresses in the description begin where a proxy serves the application.
    servers = json.dumps({"servers": [{"url": path}]}, ensure_ascii=False, separators=(",", ":"))
    return text.removesuffix(b"}") + b"," + servers.removeprefix("{").encode()


@lru_cache(maxsize=1)
def _compressed(path: str) -> bytes:
    return gzip.compress(_description(path), mtime=0)
