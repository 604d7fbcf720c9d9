"""The reason for which another machine could not be reached, in words for a page."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Final

_INTERRUPTED: Final = "the connection was interrupted"


def reason_of(error: BaseException) -> str:
    """Return why a connection failed, without a period at the end and without the class of an exception.

    Libraries wrap the error of the operating system or of TLS, often in one without a message of its own. The innermost
    one knows the reason.
    """
    for each in reversed(list(_wrapped(error))):
        if isinstance(each, ssl.SSLCertVerificationError) and each.verify_message:
            return f"its certificate cannot be verified: {_small(each.verify_message)}"
        if isinstance(each, ssl.SSLError):
            fault = (getattr(each, "reason", None) or "").replace("_", " ").lower()
            return f"no encrypted connection was possible{f': {fault}' if fault else ''}"
        if isinstance(each, socket.gaierror):
            return "its name cannot be resolved"
        if isinstance(each, TimeoutError):
            return "no answer in time"
        if isinstance(each, OSError) and each.errno is not None and each.strerror:
            return _small(each.strerror)
    return _small(str(error)) or _INTERRUPTED


def is_untrusted(error: BaseException) -> bool:
    """Return whether a connection failed because of the certificate of the other side."""
    return any(isinstance(each, ssl.SSLCertVerificationError) for each in _wrapped(error))


def _wrapped(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    # An error raised again from one that was raised while it was handled has itself as a context.
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _small(text: str) -> str:
    """Return a message as the end of a sentence: abbreviations and names keep their capitals."""
    text = " ".join(text.split()).rstrip(" .")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
