"""Request bodies with a document, which the core checks later, and flags in the address."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.texts.documents import yaml_as_json
from app.web.security.body import accept_document
from planner_core.units import MIB

JSON = "application/json"
YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
"""Media types of YAML: RFC 9512 registers the first and lists the others as its former names."""
LARGEST_YAML_BYTES = 4 * MIB
"""A plan of 62 structures with 512 short queue definitions each is 2.5 MiB. The slowest text of this length takes 3 s of CPU."""
_ACCEPTED = {"accept": f"{JSON}, {YAML[0]}"}
FLAGS = {"true": True, "1": True, "false": False, "0": False}


async def document_body(request: Request) -> bytes:
    """Return the body of a JSON or YAML request as JSON text.

    Raises:
        DocumentInvalid: The body is not YAML.
    """
    headers = request.headers
    sent_as, _, parameters = headers.get("content-type", "").partition(";")
    media_type = sent_as.strip().lower()
    if media_type != JSON and media_type not in YAML:
        sent = f", not as {sent_as.strip()[:100]!r}" if media_type else ""
        detail = f"Send the document as {JSON} or {YAML[0]}{sent}, and set the header, such as Content-Type: {JSON}."
        raise HTTPException(415, detail, headers=_ACCEPTED)
    charset = parameters.lower().replace(" ", "").replace('"', "").removeprefix("charset=")
    if charset not in ("", "utf-8", "utf8"):
        raise HTTPException(415, "Send the document in UTF-8.", headers=_ACCEPTED)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "Send the document uncompressed, without Content-Encoding.")
    accept_document(request)
    body = await request.body()
    if media_type == JSON:
        return body
    if len(body) > LARGEST_YAML_BYTES:
        detail = (
            f"The YAML body is larger than {LARGEST_YAML_BYTES // MIB} MiB. Send a larger document as {JSON}."
        )
        raise HTTPException(413, detail)
    return await run_in_threadpool(yaml_as_json, body)


async def _small_body(request: Request) -> bytes:
    return await request.body()


async def _document_form(request: Request) -> bytes:
    accept_document(request)
    return await request.body()


BodyDep = Annotated[bytes, Depends(_small_body)]
"""The body of a posted form with a few fields."""
DocumentFormDep = Annotated[bytes, Depends(_document_form)]
"""The body of a posted form with a plan."""
DocumentBody = Annotated[bytes, Depends(document_body)]
"""The body of a request, as JSON text."""


def flag(request: Request, name: str) -> bool:
    """Return a parameter that is true or false; a missing parameter is false."""
    text = request.query_params.get(name, "false")
    try:
        return FLAGS[text.lower()]
    except KeyError:
        fault = {"type": "bool_parsing", "loc": ("query", name), "msg": "must be true or false"}
        raise RequestValidationError([fault]) from None
