"""The REST interface: the list of its operations, its OpenAPI description, and Swagger UI from an installed package.

Swagger UI takes seconds for the whole description. So the operations are listed without it, and their links lead to
Swagger UI with the description of one operation.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.web.body import JSON
from app.web.compression import accepts_gzip
from app.web.rendering import Page, render, root_path, slug
from app.web.router import Router
from app.web.static_files import ASK_AGAIN, KEEP

DESCRIPTION_FILE = Path(__file__).with_name("openapi.json")
"""The description as it is sent. `make openapi` generates it, because that takes almost a second of CPU time."""
ASSETS_PATH = "/assets/swagger-ui"
ASSETS_PACKAGE = "fastapi_offline"
"""The package with the files of Swagger UI; its Python code is not used."""
SCRIPT, STYLE = "swagger-ui-bundle.js", "swagger-ui.css"

router = Router(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: a method of a path."""

    method: str
    path: str
    summary: str
    about: str
    id: str


@dataclass(frozen=True, slots=True)
class OperationGroup:
    """The operations of one tag."""

    name: str
    anchor: str
    about: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, kw_only=True)
class ApiDocsPage(Page):
    """Context of api_docs.html."""

    groups: Annotated[tuple[OperationGroup, ...], "All operations, grouped"]


@dataclass(frozen=True, kw_only=True)
class ApiTryPage(Page):
    """Context of api_try.html."""

    operation: Annotated[Operation | None, "The operation that is shown; None for all"]
    openapi: Annotated[str, "Path of the description"]
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


@cache
def operation_groups() -> tuple[OperationGroup, ...]:
    """Return the operations of the description, in the order of its tags."""
    described = json.loads(DESCRIPTION_FILE.read_bytes())
    found: dict[str, list[Operation]] = {tag["name"]: [] for tag in described["tags"]}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            tag = operation["tags"][0]
            about = " ".join(operation.get("description", "").split())
            found[tag].append(
                Operation(method.upper(), path, operation["summary"], about, operation["operationId"])
            )
    return tuple(
        OperationGroup(
            tag["name"].capitalize(), slug(tag["name"]), tag["description"], tuple(found[tag["name"]])
        )
        for tag in described["tags"]
    )


@router.get("/api/docs")
def show_api_docs(request: Request) -> Response:
    """List all operations of the REST interface."""
    page = ApiDocsPage(title="REST API", section="api", groups=operation_groups())
    return render(request, "api_docs.html", page)


@router.get("/api/try")
def show_api_try(request: Request, operation: str = "") -> Response:
    """Show one operation of the REST interface, or all of them, in Swagger UI, which sends requests."""
    chosen = _operation(operation) if operation else None
    query = {"v": _version(DESCRIPTION_FILE), **({"operation": chosen.id} if chosen else {})}
    page = ApiTryPage(
        title=f"{chosen.method} {chosen.path}" if chosen else "Try the REST API",
        section="api",
        operation=chosen,
        openapi=f"/openapi.json?{urlencode(query)}",
        script=_versioned(SCRIPT),
        stylesheet=_versioned(STYLE),
    )
    return render(request, "api_try.html", page)


def _operation(wanted: str) -> Operation:
    """Return the operation with an id.

    Raises:
        HTTPException: There is no such operation.
    """
    for group in operation_groups():
        for operation in group.operations:
            if operation.id == wanted:
                return operation
    raise HTTPException(status_code=404, detail="The REST API has no such operation.")


def _versioned(name: str) -> str:
    """Return the address of a file of Swagger UI, which changes with its content."""
    return f"{ASSETS_PATH}/{name}?v={_version(assets_dir() / name)}"


@cache
def _version(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]


@router.get("/openapi.json")
def send_description(request: Request, operation: str = "") -> Response:
    """Send the description of the REST interface, or of one operation with the schemas that it uses."""
    path = root_path(request)
    body = _description_of(_operation(operation).id, path) if operation else _description(path)
    headers = {"Cache-Control": KEEP if "v" in request.query_params else ASK_AGAIN}
    # The middleware compresses other answers each time they are sent.
    if (
        not operation
        and accepts_gzip(request.headers)
        and len(body) >= request.app.state.settings.compress_over_bytes
    ):
        return Response(_compressed(path), media_type=JSON, headers={**headers, "Content-Encoding": "gzip"})
    return Response(body, media_type=JSON, headers=headers)


@lru_cache(maxsize=1)  # the root path is a setting of the server
def _description(path: str) -> bytes:
    text = DESCRIPTION_FILE.read_bytes()
    if not path:
        return text
    # The addresses in the description begin where a proxy serves the application.
    servers = json.dumps({"servers": [{"url": path}]}, ensure_ascii=False, separators=(",", ":"))
    return text.removesuffix(b"}") + b"," + servers.removeprefix("{").encode()


_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


@lru_cache(maxsize=16)
def _description_of(operation: str, path: str) -> bytes:
    """Return the description of one operation, without schemas that it does not use."""
    described = json.loads(_description(path))
    paths = {
        at: {method: each}
        for at, methods in described["paths"].items()
        for method, each in methods.items()
        if each["operationId"] == operation
    }
    components = described["components"]
    schemas = components["schemas"]
    used: dict[str, object] = {}
    # Responses that operations share, such as 401, are few and refer to schemas as well.
    remaining = [json.dumps(paths), json.dumps(components.get("responses", {}))]
    while remaining:
        for name in _REFERENCE.findall(remaining.pop()):
            if name not in used:
                used[name] = schemas[name]
                remaining.append(json.dumps(schemas[name]))
    # Swagger UI lists every tag, and the operation would be below all the empty ones.
    used_tags = {tag for methods in paths.values() for each in methods.values() for tag in each["tags"]}
    tags = [tag for tag in described["tags"] if tag["name"] in used_tags]
    kept = {**described, "paths": paths, "tags": tags, "components": {**components, "schemas": used}}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()


@lru_cache(maxsize=1)
def _compressed(path: str) -> bytes:
    return gzip.compress(_description(path), mtime=0)
