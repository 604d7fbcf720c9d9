"""The interactive page of the REST interface: Swagger UI from an installed package, not from another site."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.web.rendering import Page, render

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
