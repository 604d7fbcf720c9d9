"""The cookie with the secret of a session."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

SECURE_NAME = "__Host-cfplan-session"
"""With this prefix, browsers accept the cookie only over TLS, for this host only, and never from another host."""
PLAIN_NAME = "cfplan-session"
"""Without TLS, which is for loopback: browsers refuse the prefix there."""

SECURE_BROWSER_NAME = "__Host-cfplan-oidc"
"""The cookie that binds a sign-in at an OpenID provider to the browser in which it began."""
PLAIN_BROWSER_NAME = "cfplan-oidc"


def is_tls(scope: Scope) -> bool:
    """Return whether the client uses TLS, also up to a trusted proxy."""
    return scope.get("scheme") == "https"


def session_secret(scope: Scope) -> str:
    """Return the secret in the cookie of a request; empty if there is none."""
    return _cookie(scope, SECURE_NAME if is_tls(scope) else PLAIN_NAME)


def browser_secret(scope: Scope) -> str:
    """Return the secret of the sign-ins that have begun in a browser; empty if there is none."""
    return _cookie(scope, SECURE_BROWSER_NAME if is_tls(scope) else PLAIN_BROWSER_NAME)


def _cookie(scope: Scope, cookie: str) -> str:
    wanted = cookie.encode()
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


def set_browser(response: Response, scope: Scope, secret: str, *, seconds: int) -> None:
    """Send the secret of the sign-ins that have begun in a browser."""
    response.set_cookie(
        SECURE_BROWSER_NAME if is_tls(scope) else PLAIN_BROWSER_NAME, secret, max_age=seconds,
        secure=is_tls(scope), httponly=True, samesite="lax", path="/",
    )  # fmt: skip


def remove_browser(response: Response, scope: Scope) -> None:
    """Let the browser forget the secret of its sign-ins."""
    response.delete_cookie(
        SECURE_BROWSER_NAME if is_tls(scope) else PLAIN_BROWSER_NAME,
        secure=is_tls(scope), httponly=True, samesite="lax", path="/",
    )  # fmt: skip
