"""Rules for new passwords, their hashes, and attempts on both databases."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest

from app.accounts import attempts, users
from app.accounts.attempts import MOST_OF_USER
from app.accounts.errors import SignInRefused, TooManyAttempts
from app.accounts.passwords import AT_ONCE, Passwords, check_password
from app.accounts.sessions import Client, Lifetimes, find, list_of
from app.accounts.sign_in import sign_in
from app.clock import utc_now
from app.database.engine import Database
from app.settings import Settings

COMMON = "This password is easy to guess."
HERE = Client("192.0.2.7", "Firefox")
LIFETIMES = Lifetimes(timedelta(minutes=60), timedelta(hours=12))


@pytest.fixture(scope="module")
def passwords() -> Passwords:
    return Passwords(memory_kib=64, passes=1)


@pytest.mark.parametrize(
    "password",
    [
        "purple-tree lantern 77",
        "Kettle9 window brook",
        "ich mag keine langen Meetings",
        "vG7#kq!2Lw0zPx",
        "日本語の長いパスワードです",
        "x7 " * 3 + "under the old oak",
    ],
)
def test_long_uncommon_password_is_accepted(password: str) -> None:
    assert check_password(password, user_name="anna") == ""


@pytest.mark.parametrize(
    ("password", "rule"),
    [
        ("elevenchars", "Choose a password of at least 12 characters, such as four words."),
        ("", "Choose a password of at least 12 characters, such as four words."),
        ("x" * 257, "Choose a password of at most 256 characters."),
        ("aaaaaaaaaaaa", COMMON),
        ("abababababab", COMMON),
        ("123456789012", COMMON),
        ("qwertyuiop12", COMMON),
        ("abcdefghijklm", COMMON),
        ("1q2w3e4r5t6y", COMMON),
        ("Password2026!", COMMON),
        ("P@ssw0rd1234", COMMON),
        ("passwordpassword", COMMON),
        ("Welcome12345!", COMMON),
        ("cfplan-admin-2026", COMMON),
        ("CorrectHorseBatteryStaple", COMMON),
        ("anna.schmidt1234", COMMON),
        ("Anna.Schmidt!!!!", COMMON),
    ],
)
def test_guessable_password_is_refused_with_the_rule(password: str, rule: str) -> None:
    assert check_password(password, user_name="anna.schmidt@example.com").startswith(rule)


def test_hashes_are_argon2id_with_own_salts_and_the_costs_of_the_settings() -> None:
    made = Passwords.of(Settings(password_memory_kib=7168, password_passes=2))
    one, other = made.hash("purple-tree lantern 77"), made.hash("purple-tree lantern 77")
    assert one.startswith("$argon2id$v=19$m=7168,t=2,p=1$")
    assert one != other
    assert made.is_correct("purple-tree lantern 77", one)
    assert not made.is_correct("purple-tree lantern 78", one)


def test_default_costs_are_those_of_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PASSWORD_MEMORY_KIB", "PASSWORD_PASSES"):
        monkeypatch.delenv(f"CFPLAN_{name}")
    settings = Settings()
    assert (settings.password_memory_kib, settings.password_passes) == (65_536, 3)


def test_equivalent_spellings_of_unicode_are_the_same_password(passwords: Passwords) -> None:
    stored = passwords.hash("caf\N{LATIN SMALL LETTER E WITH ACUTE} am Fluss")
    assert passwords.is_correct("cafe\N{COMBINING ACUTE ACCENT} am Fluss", stored)


@pytest.mark.parametrize("stored", [None, "", "not a hash", "$argon2id$v=19$m=64"])
def test_password_is_never_correct_without_a_valid_hash(passwords: Passwords, stored: str | None) -> None:
    assert not passwords.is_correct("no user has this password", stored)


def test_few_hashes_are_calculated_at_once(passwords: Passwords, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = Counter[str](), 0
    lock = threading.Lock()
    enough = threading.Event()

    def slow(_password: str) -> str:
        nonlocal most
        with lock:
            running["now"] += 1
            most = max(most, running["now"])
            if most == AT_ONCE:
                enough.set()
        enough.wait(30)
        with lock:
            running["now"] -= 1
        return "hash"

    monkeypatch.setattr(type(passwords._hasher), "hash", lambda _, password: slow(password))
    threads = [threading.Thread(target=passwords.hash, args=("x",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == AT_ONCE


# ---- on SQLite and PostgreSQL ---------------------------------------------------------------------------------------


@pytest.fixture
def anna(database: Database, passwords: Passwords) -> Database:
    with database.session(writes=True) as session:
        users.add(
            session, "anna", "planner", password_hash=passwords.hash("purple-tree lantern 77"), now=utc_now()
        )
    return database


def test_sign_in_starts_a_session_on_each_database(anna: Database, passwords: Passwords) -> None:
    found = sign_in(anna, passwords, "Anna", "purple-tree lantern 77", client=HERE, lifetimes=LIFETIMES)
    with anna.session(writes=False) as session:
        known = find(session, found.secret, address="192.0.2.7", lifetimes=LIFETIMES, now=utc_now())
        assert known is not None
        assert (known.actor.name, known.actor.role and known.actor.role.label) == ("anna", "planner")
        (own,) = list_of(session, known.actor, lifetimes=LIFETIMES, now=utc_now())
        assert (own.address, own.client, own.is_current) == ("192.0.2.7", "Firefox", True)
        assert find(session, "another secret", address=None, lifetimes=LIFETIMES, now=utc_now()) is None


def test_simultaneous_attempts_cannot_exceed_the_limit(anna: Database) -> None:
    outcomes: list[str] = []

    def attempt() -> None:
        try:
            with anna.session(writes=True) as session:
                attempts.begin(session, "anna", "192.0.2.7", utc_now())
            outcomes.append("counted")
        except TooManyAttempts:
            outcomes.append("refused")

    threads = [threading.Thread(target=attempt) for _ in range(MOST_OF_USER + 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Counter(outcomes) == {"counted": MOST_OF_USER, "refused": 6}


def test_password_changed_during_the_check_does_not_start_a_session(
    anna: Database, passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_correct = passwords.is_correct

    def changed_meanwhile(password: str, stored: str | None) -> bool:
        found = is_correct(password, stored)
        with anna.session(writes=True) as session:
            user = users.get(session, "anna")
            users.set_password(
                session, user, "another hash", must_change=False, keep_session=None, now=utc_now()
            )
        return found

    monkeypatch.setattr(passwords, "is_correct", changed_meanwhile)
    with pytest.raises(SignInRefused):
        sign_in(anna, passwords, "anna", "purple-tree lantern 77", client=HERE, lifetimes=LIFETIMES)


def test_two_users_cannot_have_one_name(anna: Database) -> None:
    from app.errors import NameTaken

    with pytest.raises(NameTaken), anna.session(writes=True) as session:
        users.add(session, " ANNA ", "viewer", password_hash=None, now=utc_now())
