"""The cookie with the secret of a session."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

SECURE_NAME = "__Host-cfplan-session"
"""With this prefix, browsers accept the cookie only over TLS, for this host only, and never from another host."""
PLAIN_NAME = "cfplan-session"
"""Without TLS, which is for loopback: browsers refuse the prefix there."""


def is_tls(scope: Scope) -> bool:
    """Return whether the client uses TLS, also up to a trusted proxy."""
    return scope.get("scheme") == "https"


def session_secret(scope: Scope) -> str:
    """Return the secret in the cookie of a request; empty if there is none."""
    wanted = (SECURE_NAME if is_tls(scope) else PLAIN_NAME).encode()
    for header, value in scope["headers"]:
        if header == b"cookie" and wanted in value:
            for pair in value.split(b";"):
                name, _, secret = pair.strip().partition(b"=")
                if name == wanted:
                    return str(secret.decode("latin-1"))
    return ""


def set_session(response: Response, scope: Scope, secret: str) -> None:
    """Send the secret of a new session. The cookie has no expiry, so it ends with the browser at the latest."""
    response.set_cookie(
        SECURE_NAME if is_tls(scope) else PLAIN_NAME, secret,
        secure=is_tls(scope), httponly=True, samesite="lax", path="/",
    )  # fmt: skip


def remove_session(response: Response, scope: Scope) -> None:
    """Let the browser forget the session."""
    response.delete_cookie(
        SECURE_NAME if is_tls(scope) else PLAIN_NAME,
        secure=is_tls(scope), httponly=True, samesite="lax", path="/",
    )  # fmt: skip
