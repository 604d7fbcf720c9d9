"""Plotly's script for pages with charts, from the installed package and not from another site.

The script is 4.8 MB in size. It is compressed once, at the first request; browsers cache it until the version changes.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from app.web.router import Router
from app.web.static_files import ASK_AGAIN, KEEP

PACKAGE = "plotly"
"""The package that contains the script; its Python code is not used."""
PATH = "/assets/plotly/plotly.min.js"
LEVEL = 6

router = Router(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ChartScript:
    """The script for a page: its address, and identifiers of styles that it must not add to the page."""

    address: str
    guards: tuple[str, ...]


def of_page() -> ChartScript:
    """Return the script for the context of a page."""
    return ChartScript(address(), guards())


def address() -> str:
    """Return the address of the script, with its version."""
    return f"{PATH}?v={version(PACKAGE)}"


def script_path() -> Path:
    """Return the path of the script in the installed package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        message = f"the package {PACKAGE} is not installed: run make setup"
        raise RuntimeError(message)
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


@cache
def guards() -> tuple[str, ...]:
    """Return identifiers under which the script looks for its styles before it adds them to the page.

    The policy of the pages forbids inline styles, and none of these styles is needed, because they belong to maps. If
    an element with the identifier exists, the script adds nothing.
    """
    found = re.findall(
        rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)\{[^}]{0,40}createElement\("style"\)',
        script_path().read_bytes(),
    )
    return tuple(dict.fromkeys(each.decode() for each in found))


@cache
def _compressed() -> bytes:
    # Without a timestamp, so that the bytes depend only on the version in the address.
    return gzip.compress(script_path().read_bytes(), LEVEL, mtime=0)


@router.get(PATH)
def plotly(request: Request) -> Response:
    """Return the script, compressed for clients that accept gzip."""
    headers = {"cache-control": KEEP if request.query_params.get("v") else ASK_AGAIN}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        return Response(_compressed(), media_type="text/javascript", headers=headers)
    return Response(script_path().read_bytes(), media_type="text/javascript", headers=headers)
