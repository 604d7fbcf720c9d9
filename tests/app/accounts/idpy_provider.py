"""An OpenID provider made of idpyoidc, the successor of a certified implementation, as a separate process.

It prints its issuer, reads the redirect address of its one client from standard input, and serves. Everyone is signed in as the user alice, without a form. idpyoidc
shares no code with Authlib, with which the service signs in, so that an error of one does not hide the same of the other.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

import uvicorn
from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.oauth2.add_on.pkce import CC_METHOD
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "cfplan-idpy", "a secret of thirty-two characters"
USER = {
    "sub": "alice",
    "preferred_username": "alice",
    "groups": ["mq-operators"],
    "email": "alice@example.com",
}
KEYS = [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]


_S256 = CC_METHOD["S256"]


def configuration(issuer: str) -> dict[str, Any]:
    """Return the configuration of a provider with one client, which must use PKCE."""
    oidc = "idpyoidc.server.oidc"
    return {
        "issuer": issuer,
        "httpc_params": {"verify": False, "timeout": 4},
        "key_conf": {"key_defs": KEYS, "uri_path": "jwks.json"},
        "preference": {"subject_types_supported": ["public"]},
        "token_handler_args": {
            "key_conf": {"key_defs": [{"type": "oct", "bytes": 24, "use": ["enc"], "kid": "code"}]},
            "code": {"lifetime": 600, "kwargs": {"crypt_conf": {"kwargs": {"keys": {"key_defs": [
                {"type": "OCT", "use": ["enc"], "kid": "password"}, {"type": "OCT", "use": ["enc"], "kid": "salt"},
            ]}, "iterations": 1}}}},
            "token": {"class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600, "aud": [issuer]}},
            "refresh": {"class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600}},
            "id_token": {"class": "idpyoidc.server.token.id_token.IDToken", "kwargs": {}},
        },
        "endpoint": {
            "provider_config": {
                "path": ".well-known/openid-configuration",
                "class": f"{oidc}.provider_config.ProviderConfiguration", "kwargs": {},
            },
            "authorization": {
                "path": "authorization", "class": f"{oidc}.authorization.Authorization",
                "kwargs": {"response_types_supported": ["code"], "response_modes_supported": ["query"]},
            },
            "token": {
                "path": "token", "class": f"{oidc}.token.Token",
                "kwargs": {"client_authn_method": ["client_secret_basic"]},
            },
            "userinfo": {"path": "userinfo", "class": f"{oidc}.userinfo.UserInfo", "kwargs": {}},
        },
        "userinfo": {"class": "idpyoidc.server.user_info.UserInfo", "kwargs": {"db": {"alice": USER}}},
        "scopes_to_claims": {"openid": ["sub"], "profile": ["preferred_username", "groups"], "email": ["email"]},
        "authentication": {
            "anon": {
                "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified",
                "class": "idpyoidc.server.user_authn.user.NoAuthn", "kwargs": {"user": "alice"},
            }
        },
        "add_on": {
            "pkce": {
                "function": "idpyoidc.server.oauth2.add_on.pkce.add_support",
                "kwargs": {"essential": True, "code_challenge_methods": {"S256": _S256}},
            }
        },
    }  # fmt: skip


class Provider:
    """The provider over HTTP."""

    def __init__(self, issuer: str, redirect_uri: str) -> None:
        conf = configuration(issuer)
        self.server = Server(OPConfiguration(conf, base_path=os.getcwd()), cwd=os.getcwd())  # noqa: PTH109
        self.server.context.cdb[CLIENT_ID] = {
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "redirect_uris": [(redirect_uri, {})],
            "client_salt": "salted",
            "token_endpoint_auth_method": "client_secret_basic",
            "response_types_supported": ["code"],
            "allowed_scopes": ["openid", "profile", "email"],
        }
        self.server.keyjar.add_symmetric(CLIENT_ID, CLIENT_SECRET)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/jwks.json", self.keys),
                Route("/.well-known/openid-configuration", self.endpoint("provider_config")),
                Route("/authorization", self.endpoint("authorization")),
                Route("/token", self.endpoint("token"), methods=["POST"]),
                Route("/userinfo", self.endpoint("userinfo"), methods=["GET", "POST"]),
            ]
        )

    async def keys(self, _: Request) -> Response:
        return Response(self.server.keyjar.export_jwks_as_json(), media_type="application/json")

    def endpoint(self, name: str) -> Any:  # noqa: ANN401 - a handler
        async def handle(request: Request) -> Response:
            endpoint = self.server.endpoint[name]
            given = dict(await request.form()) if request.method == "POST" else dict(request.query_params)
            http_info = {
                "headers": dict(request.headers), "method": request.method, "url": str(request.url),
                "cookie": [],
            }  # fmt: skip
            parsed = endpoint.parse_request(given or "", http_info=http_info)
            if "error" in parsed:
                return Response(json.dumps(parsed.to_dict()), 400, media_type="application/json")
            args = endpoint.process_request(parsed, http_info=http_info)
            if "error" in args:
                return Response(json.dumps({"error": args["error"]}), 400, media_type="application/json")
            info = endpoint.do_response(request=parsed, **args)
            if name == "authorization":
                return RedirectResponse(info["response"], 303)
            kinds = [value for key, value in info.get("http_headers", []) if key.lower() == "content-type"]
            if kinds and "json" in kinds[0]:
                return Response(info["response"], media_type="application/json")
            return HTMLResponse(str(info["response"]))

        return handle


def main() -> None:
    """Serve until the process is ended."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(issuer, flush=True)
        app = Provider(issuer, sys.stdin.readline().strip()).app()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
