"""Generate app/documentation/openapi.json: `python -m tests.app.documentation.openapi_file`."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import JSONResponse

from app.documentation.api_docs import DESCRIPTION_FILE
from app.main import create_app
from app.settings import Settings


def description(app: FastAPI) -> bytes:
    """Return the description of an application as FastAPI would send it."""
    return bytes(JSONResponse(app.openapi()).body)


if __name__ == "__main__":
    DESCRIPTION_FILE.write_bytes(description(create_app(Settings())))
