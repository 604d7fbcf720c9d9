"""The OpenID provider: its addresses and keys, the exchange of a code for an ID token, and the check of that token.

Authlib builds the requests and checks the claims, joserfc the signature. Tokens exist only during a call: they are neither
stored nor logged. Everything here blocks until the provider answers, so it runs in a thread and without a transaction.
Only installations that use OpenID Connect import this module: the libraries take a sixth of a second.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from authlib.common.errors import AuthlibBaseError
from authlib.common.urls import add_params_to_uri
from authlib.deprecate import AuthlibDeprecationWarning
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

with warnings.catch_warnings():
    # Authlib prefers httpx2, which the service does not need.
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import OAuth2Client

if TYPE_CHECKING:
    import httpx
else:
    # The package that Authlib's client is built on: httpx2 where it is installed, as for assistants, or else httpx. Both
    # have the same interface, but not the same classes.
    httpx = import_module(
        next(base.__module__ for base in OAuth2Client.__bases__ if base.__name__ == "Client").partition(".")[
            0
        ]
    )

from app import encodings
from app.accounts.directory import Claims, claim_of
from app.accounts.errors import ProviderFailed, ProviderRefused
from app.network_deadlines import EndableConnection
from app.settings import Settings, is_secure_address, secret_of

TIMEOUT: Final = httpx.Timeout(10, connect=5)
"""Seconds for each step of a request to the provider, such as waiting for the next part of the answer."""
ANSWER_S: Final = 10
"""Seconds after which a request is given up if its headers or content still arrive part by part."""
KEPT_S: Final = 3600
"""Time after which addresses and keys of the provider are read again."""
MOST_ANSWER_BYTES: Final = 2**20
LEEWAY_S: Final = 60
"""Accepted difference between the clocks of the provider and of this machine."""
ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Accepted signatures: those that only the provider can make. HS256 uses the client's secret, and `none` nothing."""
_KEY_TYPES: Final = frozenset({"RSA", "EC", "OKP"})
_OF_THE_TRANSFER: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that no longer apply to the content of an answer that was read."""
_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_MORE_ENDPOINTS: Final = ("userinfo_endpoint", "end_session_endpoint")


@dataclass(frozen=True, slots=True)
class _Metadata:
    """The configuration that the provider publishes, and when it was read."""

    values: Mapping[str, Any]
    keys: KeySet
    read_at: float


class _BoundedClient(OAuth2Client):
    """A client that limits every answer, also those to requests of Authlib, which reads tokens without a limit."""

    def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:  # noqa: ANN401 - those of httpx
        """Send a request, and return its answer, which is complete.

        Raises:
            ProviderFailed: The answer is too large, takes too long, or has an encoding without a bound.
        """
        address, network = request.url.copy_with(query=None), EndableConnection()
        request.extensions = {**request.extensions, "trace": network.observe}
        with network.ended_after(ANSWER_S) as is_over:
            try:
                answer = super().send(request, stream=True, **options)
                try:
                    found = self._content(answer, address, is_over)
                finally:
                    answer.close()
            except httpx.HTTPError as error:
                if is_over() and not isinstance(error, httpx.TimeoutException):
                    raise _too_slow(address) from None
                raise
        headers = [each for each in answer.headers.multi_items() if each[0] not in _OF_THE_TRANSFER]
        return httpx.Response(answer.status_code, headers=headers, content=found, request=request)

    def _content(self, answer: httpx.Response, address: httpx.URL, is_over: Callable[[], bool]) -> bytes:
        if not encodings.is_bounded(answer.headers.get("content-encoding", "")):
            raise ProviderFailed(log=f"{address} answers with an encoding that was not asked for")
        found = bytearray()
        for part in answer.iter_bytes():
            found += part
            if len(found) > MOST_ANSWER_BYTES:
                raise ProviderFailed(log=f"{address} answers with more than {MOST_ANSWER_BYTES} bytes")
            if is_over():
                raise _too_slow(address)
        return bytes(found)


def _too_slow(address: httpx.URL) -> ProviderFailed:
    return ProviderFailed(log=f"the answer of {address} was not complete after {ANSWER_S} seconds")


@dataclass(slots=True)
class Provider:
    """The OpenID provider of the settings. It is contacted when the first user signs in, not before."""

    settings: Settings
    transport: httpx.BaseTransport | None = None
    _metadata: _Metadata | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def authorization_address(
        self, redirect_uri: str, *, state: str, nonce: str, verifier: str, again: bool
    ) -> str:
        """Return the address at which the user signs in; `again` asks for it even if the user has signed in there.

        Raises:
            ProviderFailed: The provider does not answer, or not as OpenID Connect requires.
        """
        metadata = self._current()
        more = {"prompt": "login"} if again else {}
        with self._client() as client:
            client.redirect_uri = redirect_uri
            address, _ = client.create_authorization_url(
                metadata.values["authorization_endpoint"],
                state=state, nonce=nonce, code_verifier=verifier, **more,
            )  # fmt: skip
        return str(address)

    def check_sender(self, stated_issuer: str | None) -> None:
        """Check that the answer in the browser comes from this provider and not from another one (RFC 9207).

        Raises:
            ProviderRefused: Another issuer is named, or none although the provider always names itself.
            ProviderFailed: The provider does not answer.
        """
        if stated_issuer is None and not self._current().values.get(
            "authorization_response_iss_parameter_supported"
        ):
            return
        if stated_issuer != self.settings.oidc_issuer:
            raise ProviderRefused(_REFUSED, log="the answer names another issuer, or none")

    def identify(self, code: str, redirect_uri: str, *, nonce: str, verifier: str) -> Claims:
        """Exchange a code for the claims about the user, which the provider has signed.

        Raises:
            ProviderFailed: The provider does not answer, or not as OpenID Connect requires.
            ProviderRefused: The provider refuses the code, or the ID token is not valid for this sign-in.
        """
        metadata = self._current()
        with self._client() as client:
            token = self._exchange(client, metadata, code, redirect_uri, verifier)
            claims = self._checked(metadata, token, nonce)
            return self._completed(client, metadata, claims)

    @property
    def is_known_to_sign_out(self) -> bool:
        """Whether the provider has stated where users sign out; it is not contacted for this."""
        return self._metadata is not None and bool(self._metadata.values.get("end_session_endpoint"))

    def sign_out_address(self, return_to: str) -> str | None:
        """Return the address at which the user can sign out of the provider; None if it has none or does not answer."""
        try:
            endpoint = self._current().values.get("end_session_endpoint")
        except ProviderFailed:
            return None
        if not endpoint:
            return None
        # Without id_token_hint, because no token is stored: the provider asks the user for confirmation.
        given = {"client_id": self.settings.oidc_client_id, "post_logout_redirect_uri": return_to}
        return str(add_params_to_uri(endpoint, given))

    def _client(self) -> OAuth2Client:
        secret = client_secret(self.settings)
        return _BoundedClient(
            client_id=self.settings.oidc_client_id,
            client_secret=secret or None,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope=self.settings.oidc_scopes,
            code_challenge_method="S256",
            headers={"accept-encoding": encodings.ACCEPTED},
            timeout=TIMEOUT,
            transport=self.transport,
            verify=_certificates(),
        )

    # ---- addresses and keys --------------------------------------------------------------------------------------

    def _current(self) -> _Metadata:
        found = self._metadata
        if found is not None and time.monotonic() < found.read_at + KEPT_S:
            return found
        with self._lock:
            if self._metadata is found:
                self._metadata = self._read()
            assert self._metadata is not None  # noqa: S101 - just read, by this thread or another
            return self._metadata

    def _read(self) -> _Metadata:
        with self._client() as client:
            values = _json(_get(client, self.settings.oidc_issuer.rstrip("/") + _WELL_KNOWN))
            # Otherwise, a provider could pass off its users as those of another one.
            if values.get("issuer") != self.settings.oidc_issuer:
                raise ProviderFailed(log=f"the provider states the issuer {values.get('issuer')!r}")
            for name in (*_ENDPOINTS, *_MORE_ENDPOINTS):
                address = values.get(name)
                if address is None and name in _MORE_ENDPOINTS:
                    continue
                if not isinstance(address, str) or not is_secure_address(address):
                    raise ProviderFailed(log=f"{name} is missing or does not use https")
            methods = values.get("code_challenge_methods_supported")
            if isinstance(methods, list) and "S256" not in methods:
                raise ProviderFailed(log="the provider does not support PKCE with S256")
            return _Metadata(values, self._read_keys(client, values), time.monotonic())

    def _read_keys(self, client: OAuth2Client, values: Mapping[str, Any]) -> KeySet:
        stated = _json(_get(client, values["jwks_uri"])).get("keys")
        # Keys for other purposes, or of kinds that joserfc does not know, must not prevent the use of the others.
        usable = [
            key
            for key in (stated if isinstance(stated, list) else ())
            if isinstance(key, dict) and key.get("kty") in _KEY_TYPES and key.get("use", "sig") == "sig"
        ]
        try:
            return KeySet.import_key_set({"keys": usable})
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise ProviderFailed(log=f"the keys cannot be read: {error}") from None

    def _renew_keys(self, client: OAuth2Client, metadata: _Metadata) -> KeySet:
        keys = self._read_keys(client, metadata.values)
        self._metadata = _Metadata(metadata.values, keys, metadata.read_at)
        return keys

    # ---- the ID token --------------------------------------------------------------------------------------------

    def _exchange(
        self, client: OAuth2Client, metadata: _Metadata, code: str, redirect_uri: str, verifier: str
    ) -> Mapping[str, Any]:
        methods = metadata.values.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if client.client_secret and "client_secret_basic" not in methods and "client_secret_post" in methods:
            client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105 - not a secret
        try:
            token = client.fetch_token(
                metadata.values["token_endpoint"],
                grant_type="authorization_code", code=code, redirect_uri=redirect_uri, code_verifier=verifier,
            )  # fmt: skip
        except AuthlibBaseError as error:
            raise ProviderRefused(_REFUSED, log=f"the token endpoint answers {error.error!r}") from None
        except (httpx.HTTPError, ValueError) as error:
            raise ProviderFailed(log=f"the token endpoint: {type(error).__name__}") from None
        if not isinstance(token, Mapping) or not isinstance(token.get("id_token"), str):
            raise ProviderFailed(log="the token endpoint sends no ID token")
        return token

    def _checked(self, metadata: _Metadata, token: Mapping[str, Any], nonce: str) -> Claims:
        """Check signature, issuer, audience, times and nonce of an ID token."""
        supported = metadata.values.get("id_token_signing_alg_values_supported") or ["RS256"]
        registry = JWSRegistry(
            algorithms=sorted(ALGORITHMS.intersection(supported)), strict_check_header=False
        )
        try:
            try:
                decoded = jwt.decode(token["id_token"], metadata.keys, registry=registry)
            except InvalidKeyIdError:  # the provider has new keys
                with self._client() as client:
                    keys = self._renew_keys(client, metadata)
                decoded = jwt.decode(token["id_token"], keys, registry=registry)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self.settings.oidc_issuer},
                    "aud": {"essential": True, "value": self.settings.oidc_client_id},
                    "sub": {"essential": True},
                },
                {
                    "nonce": nonce,
                    "client_id": self.settings.oidc_client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(leeway=LEEWAY_S)
        # The reason without the token: joserfc's messages name claims and algorithms only.
        except (AuthlibBaseError, JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderRefused(
                _REFUSED, log=f"the ID token is not valid: {type(error).__name__}: {error}"
            ) from None
        return dict(claims)

    def _completed(self, client: OAuth2Client, metadata: _Metadata, claims: Claims) -> Claims:
        """Add the claims of the UserInfo endpoint if the ID token lacks the name or the groups."""
        wanted = (self.settings.oidc_name_claim, self.settings.oidc_groups_claim)
        endpoint = metadata.values.get("userinfo_endpoint")
        if endpoint is None or all(claim_of(claims, name) is not None for name in wanted):
            return claims
        more = _json(_get(client, endpoint, with_token=True))
        # Otherwise, the claims of another user could be put in.
        if more.get("sub") != claims["sub"]:
            raise ProviderRefused(_REFUSED, log="the UserInfo endpoint answers for another user")
        return {**more, **claims}


_REFUSED: Final = "The sign-in could not be confirmed. Start it again; it must be finished within ten minutes, in the same browser."


def client_secret(settings: Settings) -> str:
    """Return the secret of the service at the provider; empty if it has none.

    Raises:
        SettingsInvalid: The file with the secret cannot be read, or is empty.
    """
    return secret_of(settings, "oidc_client_secret")


def _certificates() -> ssl.SSLContext:
    """Return the trusted authorities of this machine, or those in SSL_CERT_FILE; reading them takes a while."""
    return ssl.create_default_context()


def _get(client: OAuth2Client, address: str, *, with_token: bool = False) -> bytes:
    """Return the body of an answer of the provider."""
    try:
        answer = client.request(
            "GET", address, withhold_token=not with_token, headers={"accept": "application/json"}
        )
        content: bytes = answer.raise_for_status().content
    except (httpx.HTTPError, httpx.InvalidURL, AuthlibBaseError) as error:
        raise ProviderFailed(log=f"{address}: {type(error).__name__}: {error}") from None
    return content


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderFailed(log="the answer is not a JSON object")
    return found
