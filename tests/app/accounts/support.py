"""Applications with accounts, and requests of users and their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from fastapi import FastAPI

from app.accounts import tokens, users
from app.accounts.authentication import Accounts
from app.accounts.models import User
from app.accounts.sessions import Client
from app.accounts.sign_in import sign_in
from app.clock import utc_now
from app.main import create_app
from app.settings import Settings
from tests.app.web.support import Answer, call

PASSWORD = "purple-tree lantern 77"
OTHER_PASSWORD = "slow river, green boat"
ROLES = ("viewer", "planner", "operator", "administrator")
COOKIE = "cfplan-session"
FORM = "application/x-www-form-urlencoded"


def app_with_accounts(folder: Path, **settings: object) -> FastAPI:
    """Return an application whose users must sign in."""
    given = {"authentication": "accounts", "data_dir": folder / "data", **settings}
    return create_app(Settings.model_validate(given))


def accounts_of(app: FastAPI) -> Accounts:
    found: Accounts = app.state.accounts
    return found


def add_user(
    app: FastAPI, name: str, role: str, *, password: str = PASSWORD, must_change: bool = False
) -> int:
    """Store a user and return the id."""
    new_hash = accounts_of(app).passwords.hash(password)
    with app.state.database.session(writes=True) as session:
        return users.add(
            session, name, role, password_hash=new_hash, must_change=must_change, now=utc_now()
        ).id


def add_token(app: FastAPI, name: str, scope: str, *, days: int = 30) -> str:
    """Store a token of a user and return its secret."""
    with app.state.database.session(writes=True) as session:
        user = users.get(session, name)
        return tokens.create(
            session, user, name="a script", scope=scope, days=days, most_days=365, now=utc_now()
        ).secret


def user_row(app: FastAPI, name: str) -> User:
    with app.state.database.session(writes=False) as session:
        return users.get(session, name)


@dataclass
class Browser:
    """A browser with its session, or without one."""

    app: FastAPI
    secret: str = ""
    agent: str = "Firefox"
    more: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, **headers: str) -> Answer:
        return self.send("GET", address, headers=headers)

    def post(self, address: str, **fields: str) -> Answer:
        return self.send("POST", address, body=urlencode(fields).encode(), headers={"content-type": FORM})

    def send(
        self, method: str, address: str, *, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        given = {
            "accept": "text/html",
            "user-agent": self.agent,
            **({"cookie": f"{COOKIE}={self.secret}"} if self.secret else {}),
            **self.more,
            **{name.replace("_", "-"): value for name, value in (headers or {}).items()},
        }
        answer = call(self.app, method, address, headers=given, chunks=[body])
        for name, value in answer.header_list:
            if name == "set-cookie" and value.startswith(f"{COOKIE}="):
                self.secret = value.split(";")[0].partition("=")[2].strip('"')
        return answer

    def sign_in(self, name: str, password: str = PASSWORD, to: str = "") -> Answer:
        return self.post("/sign-in", name=name, password=password, next=to)


def signed_in(app: FastAPI, name: str) -> Browser:
    """Return a browser in which a user has signed in."""
    accounts = accounts_of(app)
    found = sign_in(
        app.state.database, accounts.passwords, name, PASSWORD,
        client=Client("127.0.0.1", "Firefox"), lifetimes=accounts.lifetimes,
    )  # fmt: skip
    return Browser(app, found.secret)


def bearer(secret: str) -> dict[str, str]:
    """Return the header that sends a token."""
    return {"authorization": f"Bearer {secret}"}
