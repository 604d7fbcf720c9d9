"""Plotly's script for the pages with charts, out of the installed package: no other site is asked for it.

It has 4.8 MB. It is compressed once, when first asked for, and kept; browsers keep it for as long as the version stays.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.web.static_files import ASK_AGAIN, KEEP

PACKAGE = "plotly"
"""The package is used for the file it carries; its code is not."""
PATH = "/assets/plotly/plotly.min.js"
LEVEL = 6

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ChartScript:
    """The script for a page: its address, and identifiers of styles that it must not write into the page."""

    address: str
    guards: tuple[str, ...]


def of_page() -> ChartScript:
    """The script, for a page's context."""
    return ChartScript(address(), guards())


def address() -> str:
    """Where the script is served, with its version."""
    return f"{PATH}?v={version(PACKAGE)}"


def script_path() -> Path:
    """Where the installed package keeps the script."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        message = f"the package {PACKAGE} is not installed: run make setup"
        raise RuntimeError(message)
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


@cache
def guards() -> tuple[str, ...]:
    """Identifiers under which the script looks for styles that it would else write into the page.

    The pages' policy refuses styles in a page, and none of these is needed: they belong to maps. Where an element with
    the identifier is there already, the script writes nothing.
    """
    found = re.findall(
        rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)\{[^}]{0,40}createElement\("style"\)',
        script_path().read_bytes(),
    )
    return tuple(dict.fromkeys(each.decode() for each in found))


@cache
def _compressed() -> bytes:
    return gzip.compress(script_path().read_bytes(), LEVEL, mtime=0)


@router.get(PATH)
def plotly(request: Request) -> Response:
    """The script, compressed for clients that take it so."""
    headers = {"cache-control": KEEP if request.query_params.get("v") else ASK_AGAIN}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        return Response(_compressed(), media_type="text/javascript", headers=headers)
    return Response(script_path().read_bytes(), media_type="text/javascript", headers=headers)
