"""Limits on failed attempts to sign in, counted in the database for all processes of the service.

Failures are counted for each network address, and for each address and user name. No count covers all addresses of a
user name, so no one can lock out a user from elsewhere.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.accounts.errors import TooManyAttempts
from app.accounts.models import SignInAttempts

PERIOD: Final = timedelta(minutes=15)
MOST_OF_USER: Final = 10
"""Failures of one address for one user name within a period."""
MOST_OF_ADDRESS: Final = 100
"""Failures of one address for all user names within a period: colleagues can share one address."""
MOST_BEGUN: Final = 300
"""Sign-ins at the OpenID provider that one address may begin within a period."""
IPV6_SITE_BITS: Final = 64
"""A client usually has this whole network, so its addresses are counted as one."""


def begin(session: Session, name: str, address: str | None, now: datetime) -> None:
    """Count an attempt as failed before the password is checked, so that simultaneous attempts cannot exceed the limit.

    Raises:
        TooManyAttempts: The address has failed too often. The transaction must be rolled back, so that nothing is counted.
    """
    _begin(session, {_key(address, name): MOST_OF_USER, _key(address): MOST_OF_ADDRESS}, now)


def begin_at_provider(session: Session, address: str | None, now: datetime) -> None:
    """Count a sign-in that begins at the OpenID provider, so that one client cannot begin as many as there may be in all.

    Raises:
        TooManyAttempts: The address has begun too many. The transaction must be rolled back.
    """
    _begin(session, {_key(address, "\0OpenID"): MOST_BEGUN}, now)


def _begin(session: Session, keys: Mapping[str, int], now: datetime) -> None:
    # Rows from the future remain when the clock is set back; they would refuse attempts until it gets there again.
    is_over = (SignInAttempts.begun_at <= now - PERIOD) | (SignInAttempts.begun_at >= now + PERIOD)
    session.execute(delete(SignInAttempts).where(is_over))
    _count(session, tuple(keys), now)
    rows = session.execute(select(SignInAttempts).where(SignInAttempts.key.in_(keys))).scalars().all()
    exceeded = [row for row in rows if row.failures > keys[row.key]]
    if exceeded:
        ends = max(row.begun_at for row in exceeded) + PERIOD
        raise TooManyAttempts(max(1, round((ends - now).total_seconds())))


def succeeded(session: Session, name: str, address: str | None) -> None:
    """Remove a successful attempt from the counts; the failures of the address for this name are forgotten."""
    session.execute(delete(SignInAttempts).where(SignInAttempts.key == _key(address, name)))
    session.execute(
        update(SignInAttempts)
        .where(SignInAttempts.key == _key(address))
        .values(failures=SignInAttempts.failures - 1)
    )


def _count(session: Session, keys: tuple[str, ...], now: datetime) -> None:
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    # In one order for all processes, so that two of them cannot wait for each other.
    rows = [{"key": key, "failures": 1, "begun_at": now} for key in sorted(keys)]
    statement = insert(SignInAttempts).values(rows)
    session.execute(
        statement.on_conflict_do_update(
            index_elements=[SignInAttempts.key], set_={"failures": SignInAttempts.failures + 1}
        )
    )


def _key(address: str | None, name: str | None = None) -> str:
    what = f"{_network(address)} {'' if name is None else name}"
    return hashlib.sha256(what.encode("utf-8", errors="surrogatepass")).hexdigest()


def _network(address: str | None) -> str:
    try:
        known = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"
    if known.version == 4:  # noqa: PLR2004
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, IPV6_SITE_BITS), strict=False))
