"""Passwords: argon2id hashes, and the rules for new passwords."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from app.accounts.common_passwords import is_common
from app.accounts.errors import Busy

if TYPE_CHECKING:
    from app.settings import Settings

Result = TypeVar("Result")

AT_ONCE = 2
"""Hashes that a process calculates at the same time: each needs a core, and the memory in CFPLAN_PASSWORD_MEMORY_KIB."""
MOST_WAITING = 8
"""Further threads that may wait for their turn; they are missing for other requests, which share 40."""
LANES = 1
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 256
"""Characters of a password. Without an upper limit, clients could send megabytes to be hashed."""


class Passwords:
    """Hashes and checks passwords, a few at a time."""

    def __init__(self, *, memory_kib: int, passes: int) -> None:
        """Store the costs of a hash: KiB of memory, and the number of passes over it."""
        self._hasher = PasswordHasher(
            time_cost=passes, memory_cost=memory_kib, parallelism=LANES, type=Type.ID
        )
        self._turns = BoundedSemaphore(AT_ONCE)
        self._places = BoundedSemaphore(AT_ONCE + MOST_WAITING)
        self._unknown: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> Passwords:
        """Return the hasher that the settings describe."""
        return cls(memory_kib=settings.password_memory_kib, passes=settings.password_passes)

    def hash(self, password: str) -> str:
        """Return the hash of a password, with its salt and costs.

        Raises:
            Busy: Too many other hashes are being calculated.
        """
        return self._in_turn(lambda: self._hasher.hash(_normal(password)))

    def is_correct(self, password: str, stored: str | None) -> bool:
        """Return whether a password has the stored hash.

        Without a stored hash, the answer is no and takes as long, so that response times do not show which users exist.

        Raises:
            Busy: Too many other hashes are being calculated.
        """
        return self._in_turn(lambda: self._verify(_normal(password), stored))

    def is_outdated(self, stored: str) -> bool:
        """Return whether a hash was made with other costs than new ones."""
        return self._hasher.check_needs_rehash(stored)

    def _verify(self, password: str, stored: str | None) -> bool:
        if self._unknown is None:
            self._unknown = self._hasher.hash("no user has this password")
        try:
            return self._hasher.verify(stored or self._unknown, password) and bool(stored)
        except (VerificationError, InvalidHashError):
            return False

    def _in_turn(self, work: Callable[[], Result]) -> Result:
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            with self._turns:
                return work()
        finally:
            self._places.release()


def _normal(password: str) -> str:
    """Return a password in the one form that Unicode's equivalent spellings have in common (NFKC)."""
    return unicodedata.normalize("NFKC", password)


def check_password(password: str, *, user_name: str) -> str:
    """Return the rule that a new password breaks, as a sentence; empty if it meets all of them.

    There are no rules about kinds of characters and no expiry, which lead to weaker passwords (NIST SP 800-63B).
    """
    normal = _normal(password)
    if len(normal) < SHORTEST_PASSWORD:
        return f"Choose a password of at least {SHORTEST_PASSWORD} characters, such as four words."
    if len(normal) > LONGEST_PASSWORD:
        return f"Choose a password of at most {LONGEST_PASSWORD} characters."
    if is_common(normal, known=(user_name, user_name.partition("@")[0])):
        return (
            "This password is easy to guess. Avoid common words, sequences, repetitions and your user name."
        )
    return ""
