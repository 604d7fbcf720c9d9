"""The plan document in a request: media type checked, bytes read once and left to the core to judge."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

JSON = "application/json"


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
