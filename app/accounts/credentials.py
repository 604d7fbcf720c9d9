"""Random secrets of sessions and tokens, and the hashes under which they are stored."""

from __future__ import annotations

import hashlib
import secrets

SECRET_BYTES = 32
TOKEN_PREFIX = "cfplan_"  # noqa: S105 - not a secret
"""Begins every API token, so that programs that look for secrets in files recognize it."""
LONGEST_SECRET = 100
"""Longer texts are not hashed, because no secret is that long."""
USUAL_TOKEN_DAYS = 90
"""Days for which a new token is valid, unless its user chooses another number."""


def new_session_secret() -> str:
    """Return a secret with 256 random bits."""
    return secrets.token_urlsafe(SECRET_BYTES)


def new_token() -> str:
    """Return an API token with 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def hash_of(secret: str) -> str:
    """Return the hash of a random secret: 64 hexadecimal digits.

    A fast hash is enough, because 256 random bits cannot be guessed, unlike a password.
    """
    return hashlib.sha256(secret.encode("utf-8", errors="surrogatepass")).hexdigest()
