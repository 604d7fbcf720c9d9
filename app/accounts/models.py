"""The tables of accounts: users, their sessions and API tokens, and failed attempts to sign in.

No table contains a secret: passwords are stored as argon2id hashes; the long random secrets of sessions and tokens as
SHA-256 hashes.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import KEY, Base, Timestamp

LONGEST_USER_NAME = 64
LONGEST_TOKEN_NAME = 80
LONGEST_ADDRESS = 45
"""Characters of an IPv6 address that contains an IPv4 address."""
LONGEST_CLIENT = 200
LONGEST_ISSUER, LONGEST_SUBJECT = 500, 255
LONGEST_REDIRECT, LONGEST_RETURN = 500, 2000


class User(Base):
    """A user. Users are disabled, not deleted, so that their names in histories remain theirs."""

    __tablename__ = "users"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    name: Mapped[str] = mapped_column(String(LONGEST_USER_NAME), unique=True)
    """In lower case."""
    role: Mapped[str] = mapped_column(String(13))
    """The label of a `Role`."""
    password_hash: Mapped[str | None] = mapped_column(String(200))
    """None: the user cannot sign in with a password, but by another method."""
    must_change_password: Mapped[bool]
    """Whether the password was set by an administrator, and only allows the user to choose another one."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    password_changed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_sign_in_at: Mapped[datetime | None] = mapped_column(Timestamp)
    disabled_at: Mapped[datetime | None] = mapped_column(Timestamp)


class UserSession(Base):
    """A browser in which a user is signed in. The row is removed when the session ends."""

    __tablename__ = "user_sessions"
    __table_args__ = (
        Index("ix_user_sessions_user_id", "user_id"),
        Index("ix_user_sessions_expires_at", "expires_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    method: Mapped[str] = mapped_column(String(10))
    """How the user signed in: one of the methods in CFPLAN_AUTHENTICATION."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    confirmed_at: Mapped[datetime] = mapped_column(Timestamp)
    """Time of the sign-in, or of its last confirmation with the password."""
    last_used_at: Mapped[datetime] = mapped_column(Timestamp)
    """Time of a recent request; it is not written for every request."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    """Time at which the session ends even if it is in use."""
    address: Mapped[str] = mapped_column(String(LONGEST_ADDRESS))
    client: Mapped[str] = mapped_column(String(LONGEST_CLIENT))
    """The browser's own description of itself."""


class ApiToken(Base):
    """A token with which a script acts for a user. The row remains when the token is revoked."""

    __tablename__ = "api_tokens"
    __table_args__ = (Index("ix_api_tokens_user_id", "user_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(LONGEST_TOKEN_NAME))
    scope: Mapped[str] = mapped_column(String(13))
    """The label of the highest `Role` that the token permits."""
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ExternalIdentity(Base):
    """A user as another directory knows them: an OpenID provider, or a trusted proxy."""

    __tablename__ = "external_identities"
    __table_args__ = (
        UniqueConstraint("issuer", "subject"),
        Index("ix_external_identities_user_id", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    issuer: Mapped[str] = mapped_column(String(LONGEST_ISSUER))
    subject: Mapped[str] = mapped_column(String(LONGEST_SUBJECT))
    """The identifier at the issuer, which never changes, unlike names and addresses of mail."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class OidcSignIn(Base):
    """A sign-in that a browser has begun at the OpenID provider. The row is removed when the browser returns."""

    __tablename__ = "oidc_sign_ins"
    __table_args__ = (Index("ix_oidc_sign_ins_begun_at", "begun_at"),)

    state_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    browser_hash: Mapped[str] = mapped_column(String(64))
    """The hash of a secret in a cookie: only the browser that began the sign-in can finish it."""
    nonce: Mapped[str] = mapped_column(String(64))
    verifier: Mapped[str] = mapped_column(String(128))
    """The code verifier of PKCE, which is of use only together with the code that the browser brings."""
    redirect_uri: Mapped[str] = mapped_column(String(LONGEST_REDIRECT))
    return_to: Mapped[str] = mapped_column(String(LONGEST_RETURN))
    """Address of the page that follows."""
    begun_at: Mapped[datetime] = mapped_column(Timestamp)


class SignInAttempts(Base):
    """The failed attempts of one address, or of one address for one user name, within one period."""

    __tablename__ = "sign_in_attempts"
    __table_args__ = (Index("ix_sign_in_attempts_begun_at", "begun_at"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """A hash of what is counted: users sometimes type their password into the field for the name."""
    failures: Mapped[int] = mapped_column(Integer)
    begun_at: Mapped[datetime] = mapped_column(Timestamp)
