"""The client of one connection: the only module that contacts other systems, apart from sign-in.

It contacts the host of its connection only, verifies its certificate, follows no redirects and uses no proxy. Requests
that only read are repeated after a pause if they fail; no other request is. An answer that is too slow, too large or cut
off is an error that names the connection, the method and the path.
"""

from __future__ import annotations

import json
import math
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from app import encodings, logs
from app.connections.credentials import Credentials, credentials_of
from app.connections.declared import AnyConnection, RequestLimits
from app.connections.errors import ConnectionFailed, ConnectionsInvalid
from app.network_deadlines import EndableConnection
from app.network_errors import is_untrusted, reason_of
from planner_core.bounds import is_too_deep

REPEATABLE: Final = frozenset({429, 502, 503, 504})
"""Statuses after which a request that only reads is repeated: the server asks for it, or a proxy did not reach it."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SHOWN: Final = 200
_FIRST_ERROR: Final = 400
_FIRST_REDIRECT: Final = 300
_ADVICE: Final[Mapping[int, str]] = {
    401: "Check the user and the password of the connection.",
    403: "Check the authority of the user of the connection.",
    404: "Check the address of the connection, and that the object exists.",
}
_CHECK_SIDES: Final = "Check the address, the network and the state of the server, then try again."


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer."""

    connection: str
    method: str
    path: str
    status: int
    content_type: str
    body: bytes = field(repr=False)

    def json(self) -> Any:  # noqa: ANN401 - any JSON value
        """Return the JSON of the answer.

        Raises:
            ConnectionFailed: It is not JSON.
        """
        try:
            found = json.loads(self.body, parse_constant=_refused, parse_float=_finite)
            # Half of a surrogate pair could be neither stored nor sent back.
            if _SURROGATE.search(self.body):
                json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise ConnectionFailed(
                self.connection, self.method, self.path,
                f"The answer (status {self.status}, {logs.printable(self.content_type[:_SHOWN]) or 'no type'}) is not JSON.",
                "Check that the address is that of the service itself and not of a proxy or a sign-in page.",
                status=self.status, is_uncertain=self.method != "GET",
            ) from None  # fmt: skip
        if is_too_deep(found):
            raise ConnectionFailed(
                self.connection, self.method, self.path, "The JSON of the answer is nested too deeply.",
                "Check the address of the connection.", status=self.status,
            )  # fmt: skip
        return found

    def text(self) -> str:
        """Return the answer as text; bytes that are not UTF-8 are replaced."""
        return self.body.decode("utf-8", "replace")


class Client:
    """A client; use it as a context manager, which closes its network connections."""

    def __init__(
        self,
        name: str,
        connection: AnyConnection,
        *,
        credentials: Credentials | None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare a client; nothing is contacted before the first request.

        Args:
            name: The name of the connection.
            connection: Its declaration.
            credentials: The user and the password for basic authentication, if any.
            sleep: Waits before the next attempt.
            clock: Returns seconds that only grow.

        Raises:
            ConnectionsInvalid: The CA file cannot be used.
        """
        self.name, self.connection = name, connection
        self._sleep, self._clock = sleep, clock
        self._http = httpx.Client(
            auth=None if credentials is None else httpx.BasicAuth(credentials.user, credentials.password),
            verify=_trusted(name, connection),
            timeout=connection.timeout_s,
            follow_redirects=False,
            # Proxies and .netrc of the environment would send requests, or credentials, elsewhere.
            trust_env=False,
        )
        self._network = EndableConnection()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(
        self, path: str, *, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Read; repeat the request after a pause if it fails.

        Raises:
            ConnectionFailed: All attempts failed, or the status is not that of a success.
        """
        pause = self.connection.pause_s
        for attempt in range(1, self.connection.attempts + 1):
            try:
                return self._once("GET", path, params=params, headers=headers)
            except ConnectionFailed as error:
                is_final = error.status is not None and error.status not in REPEATABLE
                if is_final or attempt == self.connection.attempts:
                    raise
            self._sleep(pause)
            pause *= 2
        message = "a connection has at least one attempt"
        raise AssertionError(message)

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        limits: RequestLimits | None = None,
    ) -> Reply:
        """Send a request that changes something, once: a failed one may have had an effect.

        Args:
            method: The method.
            path: The path after the address of the connection.
            params: Parameters of the address.
            body: The body, sent as JSON.
            headers: Further headers.
            limits: How long the request may take; by default as long as others of the connection.

        Raises:
            ConnectionFailed: It failed; `is_uncertain` if the change may have been carried out.
        """
        return self._once(method, path, params=params, headers=headers, body=body, limits=limits)

    def _once(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        body: object = None,
        limits: RequestLimits | None = None,
    ) -> Reply:
        used = limits or self.connection.limits
        with self._network.ended_after(used.total_s) as is_over:
            try:
                reply = self._answered(method, path, params=params, headers=headers, body=body, limits=used)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                is_cut = is_over() and not isinstance(error, httpx.TimeoutException)
                raise (
                    self._too_slow(method, path, used)
                    if is_cut
                    else self._failure_of(method, path, error, used)
                ) from None
        self._check_status(reply)
        return reply

    def _answered(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        body: object,
        limits: RequestLimits,
    ) -> Reply:
        end = self._clock() + limits.total_s
        with self._http.stream(
            method,
            self._address(path),
            params=params,
            json=body,
            headers={"accept": "application/json", "accept-encoding": encodings.ACCEPTED, **(headers or {})},
            timeout=httpx.Timeout(limits.step_s, connect=self._connecting_s(limits)),
            extensions={"trace": self._network.observe},
        ) as answer:
            if not encodings.is_bounded(answer.headers.get("content-encoding", "")):
                raise self._failure(
                    method,
                    path,
                    "The answer is compressed several times, or in a way that was not asked for.",
                )
            content = bytearray()
            for part in answer.iter_bytes():
                content += part
                if len(content) > self.connection.max_answer_bytes:
                    raise self._failure(
                        method,
                        path,
                        f"The answer has more than {self.connection.max_answer_bytes} bytes.",
                        "If answers of this size are expected, raise max_answer_bytes of the connection.",
                    )
                if self._clock() > end:
                    raise self._too_slow(method, path, limits)
            return Reply(
                self.name, method, path, answer.status_code, answer.headers.get("content-type", ""), bytes(content)
            )  # fmt: skip

    def _connecting_s(self, limits: RequestLimits) -> float:
        # A server that only answers slowly accepts connections as fast as others do.
        return min(self.connection.timeout_s, limits.total_s)

    def _too_slow(self, method: str, path: str, limits: RequestLimits) -> ConnectionFailed:
        return self._failure(
            method,
            path,
            f"The answer was not complete after {limits.total_s:g} seconds.",
            f"If the server is known to be slow, raise {limits.total_member} of the connection.",
        )

    def _failure_of(
        self, method: str, path: str, error: httpx.HTTPError | httpx.InvalidURL, limits: RequestLimits
    ) -> ConnectionFailed:
        """Return the failure that an error of the HTTP library means."""
        if isinstance(error, httpx.TimeoutException):
            is_connecting = isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
            seconds = self._connecting_s(limits) if is_connecting else limits.step_s
            member = "timeout_s" if is_connecting else limits.step_member
            return self._failure(
                method,
                path,
                f"No answer within {seconds:g} seconds.",
                f"Check that the server runs and is reachable; if it is known to be slow, raise {member} of the connection.",
                is_uncertain=method != "GET" and not is_connecting,
            )
        if isinstance(error, httpx.ConnectError):
            # The message of the TLS library names the certificate's fault; it contains no credential.
            return self._failure(
                method, path, f"No connection: {_reason(error)}.", _advice_of(error), is_uncertain=False
            )
        if isinstance(error, httpx.DecodingError):
            return self._failure(method, path, "The answer is compressed incorrectly.")
        if isinstance(error, httpx.RemoteProtocolError):
            return self._failure(method, path, "The answer was cut off, or is not HTTP.")
        return self._failure(method, path, f"The connection failed: {_reason(error)}.")

    def _failure(
        self,
        method: str,
        path: str,
        fault: str,
        advice: str = _CHECK_SIDES,
        *,
        is_uncertain: bool | None = None,
    ) -> ConnectionFailed:
        uncertain = method != "GET" if is_uncertain is None else is_uncertain
        return ConnectionFailed(self.name, method, path, fault, advice, is_uncertain=uncertain)

    def _address(self, path: str) -> str:
        address = f"{self.connection.address}{path}"
        # A path such as //elsewhere or @elsewhere would name another host.
        if not path.startswith("/") or urlsplit(address).netloc != self.connection.host:
            message = f"the path {path!r} leaves the connection {self.name}"
            raise ValueError(message)
        return address

    def _check_status(self, reply: Reply) -> None:
        if reply.status < _FIRST_REDIRECT:
            return
        if reply.status < _FIRST_ERROR:
            fault = f"The server answers with a redirect (status {reply.status}), which is not followed."
            advice = "Enter the final address as address of the connection."
        else:
            said = _excerpt(reply)
            fault = f"The server answers with status {reply.status}{f': {said}' if said else ''}."
            advice = _ADVICE.get(reply.status, "See the log of the server for the cause.")
        # A refusal has no effect; an error of the server or of a proxy leaves that open.
        is_uncertain = reply.method != "GET" and reply.status >= 500  # noqa: PLR2004 - errors of servers
        raise ConnectionFailed(
            reply.connection, reply.method, reply.path, fault, advice, status=reply.status, is_uncertain=is_uncertain
        )  # fmt: skip


def open_client(name: str, connection: AnyConnection) -> Client:
    """Return a client with the credentials of its connection.

    Raises:
        ConnectionsInvalid: The credentials or the CA file cannot be used.
    """
    return Client(name, connection, credentials=credentials_of(name, connection))


def _trusted(name: str, connection: AnyConnection) -> ssl.SSLContext:
    """Return the authorities to trust: those in the file of the connection only, or those of this machine."""
    if connection.ca_file is None:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cafile=connection.ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = (
            error.strerror
            if isinstance(error, OSError) and error.strerror
            else "it has no certificates in PEM"
        )
        message = f"Connection {name}: ca_file: {connection.ca_file} cannot be used: {reason}."
        raise ConnectionsInvalid(message) from None


def _reason(error: httpx.HTTPError | httpx.InvalidURL) -> str:
    return logs.printable(logs.without_secrets(reason_of(error)))[:_SHOWN].strip()


def _advice_of(error: httpx.ConnectError) -> str:
    if is_untrusted(error):
        return "Enter the authority that signed the server's certificate as ca_file of the connection, and use the name in the certificate as address."  # fmt: skip
    return _CHECK_SIDES


def _excerpt(reply: Reply) -> str:
    """Return the beginning of an error answer, on one line and without secrets."""
    text = " ".join(reply.body[: 4 * _SHOWN].decode("utf-8", "replace").split())
    return logs.printable(logs.without_secrets(text))[:_SHOWN].rstrip(" .")


def _refused(constant: str) -> float:
    # Python reads NaN and Infinity, which are not JSON and could not be sent back.
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _finite(text: str) -> float:
    found = float(text)
    return found if math.isfinite(found) else _refused(text)
