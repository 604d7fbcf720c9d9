"""Reasons of failed connections are words, whatever library wraps the error of the operating system."""

from __future__ import annotations

import errno
import smtplib
import socket
import ssl

import httpx
import pytest

from app.network_errors import is_untrusted, reason_of


def wrapped(error: Exception, *causes: BaseException) -> Exception:
    """Return an error that was raised because of others."""
    outer: BaseException = error
    for cause in causes:
        outer.__cause__ = cause
        outer = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "connection refused"),
        (wrapped(httpx.ReadError(""), ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")), "connection reset by peer"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "its name cannot be resolved"),
        (wrapped(httpx.ReadTimeout(""), TimeoutError("timed out")), "no answer in time"),
        (wrapped(smtplib.SMTPServerDisconnected("Connection unexpectedly closed: timed out"), TimeoutError("timed out")), "no answer in time"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"), "no encrypted connection was possible"),
        (smtplib.SMTPNotSupportedError("STARTTLS extension not supported by server."), "STARTTLS extension not supported by server"),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), "server disconnected without sending a response"),
        (httpx.ReadError(""), "the connection was interrupted"),
    ],
)  # fmt: skip
def test_reason_is_the_innermost_error_without_its_class(error: Exception, words: str) -> None:
    assert reason_of(error) == words
    assert not is_untrusted(error)


def test_untrusted_certificate_is_recognized_inside_of_another_error() -> None:
    inner = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED]")
    inner.verify_message = "Hostname mismatch, certificate is not valid for 'mail.example.com'."
    error = wrapped(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]"), inner)
    assert is_untrusted(error)
    assert reason_of(error) == (
        "its certificate cannot be verified: hostname mismatch, certificate is not valid for 'mail.example.com'"
    )


def test_errors_that_have_each_other_as_reason_have_an_end() -> None:
    outer, inner = httpx.ReadError(""), ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
    outer.__cause__, inner.__context__ = inner, outer
    assert reason_of(outer) == "connection reset by peer"
    assert not is_untrusted(outer)
