"""Changes of accounts that overlap with other changes, and with sign-ins, on both kinds of database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.accounts import context, users
from app.accounts.errors import NotAuthenticated, SignInRefused
from app.accounts.models import User, UserSession
from app.accounts.passwords import Passwords
from app.accounts.sessions import Client, Lifetimes
from app.accounts.sign_in import sign_in
from app.actor import Actor, Role
from app.clock import utc_now
from app.database.engine import Database
from app.errors import FieldsInvalid
from app.settings import Settings
from tests.app.accounts.support import OTHER_PASSWORD, PASSWORD, Browser, accounts_of, signed_in

HASHER = Passwords(memory_kib=64, passes=1)


def add(database: Database, name: str, role: str = "administrator") -> None:
    with database.session(writes=True) as session:
        users.add(session, name, role, password_hash=HASHER.hash(PASSWORD), now=utc_now())


def during(
    database: Database, change: Callable[[Session], object], other: Callable[[], object]
) -> Future[object]:
    """Begin a change, begin the other action in another thread, and then commit the change."""
    with ThreadPoolExecutor(1) as pool:
        with database.session(writes=True) as session:
            change(session)
            begun = pool.submit(other)
            wait([begun], timeout=1)  # it either waits for this transaction, or is wrong already
        return begun


def test_two_administrators_cannot_demote_each_other_at_once(database: Database) -> None:
    add(database, "anna")
    add(database, "bert")

    def demote(session: Session, name: str) -> None:
        users.set_role(session, users.get_to_change(session, name), "viewer")

    def demote_bert() -> None:
        with database.session(writes=True) as session:
            demote(session, "bert")

    second = during(database, lambda session: demote(session, "anna"), demote_bert)
    assert isinstance(second.exception(60), FieldsInvalid)
    with database.session(writes=False) as session:
        assert users.get(session, "bert").role == Role.ADMINISTRATOR.label


@pytest.mark.parametrize("change", ["disabled", "new password"])
def test_overlapping_sign_in_leaves_no_session(database: Database, change: str) -> None:
    add(database, "anna")
    add(database, "bert")

    def end(session: Session) -> None:
        user = users.get_to_change(session, "bert")
        if change == "disabled":
            users.disable(session, user, utc_now())
        else:
            new_hash = HASHER.hash(OTHER_PASSWORD)
            users.set_password(session, user, new_hash, must_change=True, keep_session=None, now=utc_now())

    class Overlapping(Passwords):
        def is_correct(self, password: str, stored: str | None) -> bool:
            with database.session(writes=True) as session:
                end(session)
            return super().is_correct(password, stored)

    with pytest.raises(SignInRefused):
        sign_in(
            database, Overlapping(memory_kib=64, passes=1), "bert", PASSWORD,
            client=Client("127.0.0.1"), lifetimes=Lifetimes.of(Settings()),
        )  # fmt: skip
    with database.session(writes=False) as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 0


def test_session_is_not_started_for_a_user_who_is_being_disabled(database: Database) -> None:
    add(database, "anna")
    add(database, "bert")

    def sign_in_bert() -> object:
        return sign_in(
            database, HASHER, "bert", PASSWORD, client=Client("127.0.0.1"), lifetimes=Lifetimes.of(Settings())
        )

    second = during(
        database,
        lambda session: users.disable(session, users.get_to_change(session, "bert"), utc_now()),
        sign_in_bert,
    )
    assert isinstance(second.exception(60), SignInRefused)
    with database.session(writes=False) as session:
        assert session.scalar(select(func.count()).select_from(UserSession)) == 0


def test_password_that_an_administrator_replaces_meanwhile_is_not_replaced_again(
    site: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in(site, "planner")
    checked_hash = users.checked_hash

    def replaced_meanwhile(passwords: Passwords, password: str, **more: str) -> str:
        with site.state.database.session(writes=True) as session:
            user = users.get_to_change(session, "planner")
            new_hash = accounts_of(site).passwords.hash(OTHER_PASSWORD)
            users.set_password(session, user, new_hash, must_change=True, keep_session=None, now=utc_now())
        return checked_hash(passwords, password, **more)

    monkeypatch.setattr(users, "checked_hash", replaced_meanwhile)
    new = "a password of the thief"
    answer = browser.post("/account/password", current=PASSWORD, new=new, again=new)
    assert answer.status in (401, 422)
    assert Browser(site).sign_in("planner", new).status == 422
    assert Browser(site).sign_in("planner", OTHER_PASSWORD).status == 303


def actor_of(site: FastAPI, browser: Browser) -> Actor:
    found = accounts_of(site).find_actor(secret=browser.secret, token="", address=None)
    assert found is not None
    return found.actor


def test_session_that_ends_during_a_request_changes_no_account(site: FastAPI) -> None:
    actor = actor_of(site, signed_in(site, "planner"))
    with site.state.database.session(writes=True) as session:
        assert isinstance(context.acting_user(session, actor), User)
        users.end_sessions(session, users.get(session, "planner"))
        with pytest.raises(NotAuthenticated):
            context.acting_user(session, actor)


def test_user_who_is_disabled_during_a_request_changes_no_account(site: FastAPI) -> None:
    actor = actor_of(site, signed_in(site, "planner"))
    with site.state.database.session(writes=True) as session:
        users.get(session, "planner").disabled_at = utc_now()
        session.flush()
        with pytest.raises(NotAuthenticated):
            context.acting_user(session, actor)
