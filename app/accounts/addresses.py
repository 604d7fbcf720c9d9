"""Addresses to which a user returns after signing in."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

LONGEST_RETURN = 2_000
"""Characters of an address to which a user returns."""
START = "/"
_WITHOUT_RETURN = ("/sign-in", "/sign-out", "/api/v")


def own_address(text: str) -> str:
    """Return an address if it is a page of this service, and otherwise the start page.

    Anyone can put an address into a link to the sign-in page, so it must not lead to another site. Browsers read a
    backslash as a slash, and ignore tabs and line ends.

    >>> own_address("/plans?page=2")
    '/plans?page=2'
    >>> own_address("//example.com/plans")
    '/'
    """
    is_plain = text.isascii() and text.isprintable() and " " not in text and "\\" not in text
    if not is_plain or not text.startswith("/") or text.startswith("//") or len(text) > LONGEST_RETURN:
        return START
    parts = urlsplit(text)
    return START if parts.scheme or parts.netloc or text.startswith(_WITHOUT_RETURN) else text


def returning(path: str, to: str) -> str:
    """Return the address of a page that leads back to another page of the service.

    >>> returning("/sign-in", "/plans?page=2")
    '/sign-in?next=%2Fplans%3Fpage%3D2'
    """
    wanted = own_address(to)
    return path if wanted == START else f"{path}?{urlencode({'next': wanted})}"
