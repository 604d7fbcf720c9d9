"""An OpenID provider for tests that answers correctly, or incorrectly in one respect, and a browser that signs in there."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.serving import ANSWER_S, served

CLIENT_ID, CLIENT_SECRET = "cfplan-test", "the secret of + the client"
Json = dict[str, Any]


def unchanged(value: Json) -> Json:
    return value


@dataclass
class OpenIdProvider:
    """A provider whose answers tests can change before they are sent."""

    issuer: str = ""
    claims: Json = field(
        default_factory=lambda: {"sub": "8a1f", "preferred_username": "alice", "groups": ["mq-planners"]}
    )
    """Claims about the user who signs in."""
    metadata: Callable[[Json], Json] = unchanged
    encoding: str = ""
    """The encoding that the answer with the metadata states."""
    token: Callable[[Json], Json] = unchanged
    """Changes the claims of the ID token before they are signed."""
    answer: Callable[[Json], Json] = unchanged
    """Changes the answer of the token endpoint."""
    returned: Callable[[Json], Json] = unchanged
    """Changes the parameters with which the browser returns."""
    endless_token: Callable[[], AsyncIterator[bytes]] | None = None
    """Returns the body of the token endpoint, which never ends."""
    token_encoding: str = ""
    """The encoding that the answer of the token endpoint states."""
    userinfo: Callable[[Json], Json] = unchanged
    header: Json = field(default_factory=lambda: {"alg": "RS256"})
    key: RSAKey | ECKey = field(
        default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
    )
    signing_key: Any = None
    """The key that signs; None: the published one."""
    claims_in_token: bool = True
    published: list[Any] = field(default_factory=list)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    """Paths of all requests, in order."""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/userinfo", self._userinfo),
            ]
        )

    def sign(self, claims: Json) -> str:
        key = self.signing_key or self.key
        header = dict(self.header)
        if header["alg"] == "none":
            parts = (httpx.Response(200, json=each).content for each in (header, claims))
            return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."
        if getattr(key, "kid", None):
            header.setdefault("kid", key.kid)
        return jwt.encode(header, claims, key, algorithms=[header["alg"]])

    async def _metadata(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        return JSONResponse(
            self.metadata(
                {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "userinfo_endpoint": f"{self.issuer}/userinfo",
                    "end_session_endpoint": f"{self.issuer}/logout",
                    "id_token_signing_alg_values_supported": ["RS256", "ES256"],
                }
            ),
            headers={"content-encoding": self.encoding} if self.encoding else {},
        )

    async def _keys(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        return JSONResponse(KeySet(self.published or [self.key]).as_dict(private=False))

    async def _authorize(self, request: Request) -> Response:
        given = request.query_params
        assert given["response_type"] == "code"
        assert given["client_id"] == CLIENT_ID
        assert given["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = dict(given)
        back = self.returned({"code": code, "state": given["state"]})
        return RedirectResponse(f"{given['redirect_uri']}?{urlencode(back)}", 303)

    async def _token(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        if self.endless_token is not None:
            return StreamingResponse(self.endless_token(), media_type="application/json")
        form = await request.form()
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {expected}":
            return JSONResponse({"error": "invalid_client"}, 401)
        # A code is accepted once, and only with the verifier of the same sign-in.
        asked = self.codes.pop(str(form["code"]), None)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return JSONResponse({"error": "invalid_grant", "error_description": "secret-detail"}, 400)
        now = int(time.time())
        more = self.claims if self.claims_in_token else {"sub": self.claims["sub"]}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **more,
        }
        return JSONResponse(
            self.answer(
                {
                    "access_token": "the-access-token", "token_type": "Bearer", "expires_in": 300,
                    "id_token": self.sign(self.token(claims)),
                }
            ),
            headers={"content-encoding": self.token_encoding} if self.token_encoding else {},
        )  # fmt: skip

    async def _userinfo(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        assert request.headers["authorization"] == "Bearer the-access-token"
        return JSONResponse(self.userinfo(dict(self.claims)))


def symmetric_key(text: str) -> OctKey:
    return OctKey.import_key(text)


@contextmanager
def running(provider: OpenIdProvider) -> Iterator[OpenIdProvider]:
    with served(provider.app()) as address:  # type: ignore[arg-type]
        provider.issuer = address
        yield provider


@dataclass
class Browser:
    """A browser at the service: cookies are kept for each site, and redirections are followed one by one."""

    service: str
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    def get(self, address: str) -> httpx.Response:
        address = address if address.startswith("http") else self.service + address
        site = urlsplit(address).netloc
        if site not in self.clients:
            self.clients[site] = httpx.Client(
                verify=False,  # noqa: S501 - by http only; reading the trusted authorities takes long
                timeout=ANSWER_S,
                follow_redirects=False,
                headers={"accept": "text/html"},
            )
        return self.clients[site].get(address)

    def post(self, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - those of httpx
        self.get("/healthz")
        return self.clients[urlsplit(self.service).netloc].post(self.service + path, **options)

    def to_callback(self, start: str = "/sign-in/oidc") -> str:
        """Begin at the service, sign in at the provider, and return the address to which it sends the browser back."""
        begun = self.get(start)
        assert begun.status_code == 303, begun.text
        back = self.get(begun.headers["location"])
        assert back.status_code == 303, back.text
        return str(back.headers["location"])

    def sign_in(self, start: str = "/sign-in/oidc") -> httpx.Response:
        """Sign in, and return the answer of the service to the browser that returns from the provider."""
        return self.get(self.to_callback(start))

    def account(self) -> Json | None:
        """The signed-in user, or None."""
        answer = self.get("/api/v1/account")
        return answer.json() if answer.status_code == 200 else None

    def signed_in(self) -> Json:
        """The signed-in user."""
        found = self.account()
        assert found is not None, "no one is signed in"
        return found

    def close(self) -> None:
        for client in self.clients.values():
            client.close()


def changed(address: str, **parameters: str | None) -> str:
    """Return an address with other parameters; None removes one."""
    parts = urlsplit(address)
    given = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    given |= {name: value for name, value in parameters.items() if value is not None}
    kept = {name: value for name, value in given.items() if parameters.get(name, "") is not None}
    return parts._replace(query=urlencode(kept)).geturl()
