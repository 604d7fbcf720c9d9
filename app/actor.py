"""Who acts: the user, token, command or process for which the current code runs.

A request sets its actor once, when it is authenticated; commands and jobs set theirs when they start. Code that stores
an author or an entry of the audit trail reads it here, so that no service passes it on.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum, StrEnum

LONGEST_ACTOR = 200
"""Characters of an actor's name in the database."""


class Role(IntEnum):
    """The rights of a user. Each role includes those before it."""

    VIEWER = 1
    PLANNER = 2
    OPERATOR = 3
    ADMINISTRATOR = 4

    @property
    def label(self) -> str:
        """Return the name that commands, settings and answers use."""
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Role:
        """Return the role with a label.

        Raises:
            KeyError: There is no such role.
        """
        return cls[label.upper()]


ROLE_LABELS = tuple(role.label for role in Role)
"""The labels of all roles, lowest first."""


class ActorKind(StrEnum):
    """How the actor came to act."""

    LOCAL = "local"
    """The one user of an installation without sign-in."""
    USER = "user"
    TOKEN = "token"  # noqa: S105 - not a secret
    ANONYMOUS = "anonymous"
    COMMAND = "command"
    SERVICE = "service"
    """The service itself, such as its nightly run."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, with what rights and from where."""

    name: str
    """The name that is stored: that of the user, also for a token of the user; at most LONGEST_ACTOR characters."""
    kind: ActorKind
    role: Role | None
    """The rights of this request: for a token, not more than its scope and its user's role. None: none."""
    address: str | None = None
    """The network address of the client."""
    user_id: int | None = None
    token_id: int | None = None
    session_id: int | None = None

    def may(self, needed: Role) -> bool:
        """Return whether the actor has at least the rights of a role."""
        return self.role is not None and self.role >= needed


SERVICE = Actor("service", ActorKind.SERVICE, Role.ADMINISTRATOR)
LOCAL = Actor("local", ActorKind.LOCAL, Role.ADMINISTRATOR)
ANONYMOUS = Actor("anonymous", ActorKind.ANONYMOUS, None)

_CURRENT: ContextVar[Actor] = ContextVar("cfplan_actor", default=SERVICE)


def current_actor() -> Actor:
    """Return the actor of the current request, command or job; threads of a request have the same one."""
    return _CURRENT.get()


@contextmanager
def acting_as(actor: Actor) -> Iterator[None]:
    """Run the block for an actor."""
    token = _CURRENT.set(actor)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def command_actor() -> Actor:
    """Return the actor of a command: the user of the operating system who runs it."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # no entry in the password database, as in some containers
        name = "unknown"
    return Actor(f"command:{name}"[:LONGEST_ACTOR], ActorKind.COMMAND, Role.ADMINISTRATOR)
