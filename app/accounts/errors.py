"""Errors of accounts. Their messages are for users; `problem` is the type of the problem in REST."""

from __future__ import annotations

from app.actor import Role
from app.problem_types import (
    ACCOUNTS_OFF,
    CONFIRMATION_REQUIRED,
    FORBIDDEN,
    PASSWORD_CHANGE_REQUIRED,
    SERVICE_BUSY,
    TOO_MANY_ATTEMPTS,
    UNAUTHORIZED,
)
from planner_core.errors import PlannerError


class AccountsOff(PlannerError):
    """The installation has no accounts, because it does not authenticate its users."""

    problem = ACCOUNTS_OFF

    def __init__(self) -> None:
        super().__init__(
            "This service works without sign-in, so it has no accounts. Its operator can turn them on with "
            "CFPLAN_AUTHENTICATION=accounts."
        )


class NotAuthenticated(PlannerError):
    """The request needs a user, and does not show who sends it."""

    problem = UNAUTHORIZED


class SignInRefused(PlannerError):
    """The name or the password is not correct, or the user is disabled. The message never says which."""

    problem = UNAUTHORIZED

    def __init__(self) -> None:
        super().__init__("The user name or the password is not correct.")


class TooManyAttempts(PlannerError):
    """Too many attempts failed from the same address."""

    problem = TOO_MANY_ATTEMPTS

    def __init__(self, retry_after_s: int) -> None:
        """Store the number of seconds after which the next attempt is accepted."""
        self.headers = {"retry-after": str(retry_after_s)}
        minutes = -(-retry_after_s // 60)
        super().__init__(
            f"Too many failed attempts from your network address. Try again in {minutes} "
            f"{'minute' if minutes == 1 else 'minutes'}."
        )


class Busy(PlannerError):
    """Too many passwords are being checked at this moment."""

    problem = SERVICE_BUSY

    def __init__(self) -> None:
        self.headers = {"retry-after": "5"}
        super().__init__("Too many users are signing in at this moment. Try again in a few seconds.")


class Forbidden(PlannerError):
    """The role of the user, or the scope of the token, does not permit the request."""

    problem = FORBIDDEN

    def __init__(self, message: str, needed: Role | None = None) -> None:
        """Store the role that the request needs; None if no role would be enough."""
        self.needed = needed
        super().__init__(message)


class ConfirmationRequired(PlannerError):
    """The request is sensitive, and the user signed in too long ago."""

    problem = CONFIRMATION_REQUIRED

    def __init__(self) -> None:
        super().__init__(
            "This change needs a recent sign-in. Confirm your sign-in at /sign-in/confirm, then repeat the request."
        )


class PasswordChangeRequired(PlannerError):
    """The user has to replace the password that an administrator set."""

    problem = PASSWORD_CHANGE_REQUIRED

    def __init__(self) -> None:
        super().__init__("An administrator set your password. Choose a new one at /account/password first.")
