"""What is read from a request: the plan document's bytes, left to the core to judge, and flags in the address."""

from __future__ import annotations

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

JSON = "application/json"
FLAGS = {"true": True, "1": True, "false": False, "0": False}


async def document_body(request: Request) -> bytes:
    """Take the body of a request that says it is JSON."""
    headers = request.headers
    media_type, _, parameters = headers.get("content-type", "").partition(";")
    if media_type.strip().lower() != JSON:
        sent = f"not as {media_type.strip()[:100]!r}" if media_type.strip() else "and say so"
        detail = f"Send the plan document as {JSON}, {sent}: the header is Content-Type: {JSON}."
        raise HTTPException(415, detail, headers={"accept": JSON})
    charset = parameters.lower().replace(" ", "").replace('"', "").removeprefix("charset=")
    if charset not in ("", "utf-8", "utf8"):
        raise HTTPException(415, "Send the plan document in UTF-8.", headers={"accept": JSON})
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "Send the plan document as it is, without Content-Encoding.")
    return await request.body()


def flag(request: Request, name: str) -> bool:
    """A parameter that is true or false; false when it is absent."""
    text = request.query_params.get(name, "false")
    try:
        return FLAGS[text.lower()]
    except KeyError:
        fault = {"type": "bool_parsing", "loc": ("query", name), "msg": "must be true or false"}
        raise RequestValidationError([fault]) from None
