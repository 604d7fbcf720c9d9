"""Errors of accounts. Their messages are for users; `problem` is the type of the problem in REST."""

from __future__ import annotations

from app.actor import Role
from app.problem_types import (
    ACCOUNTS_OFF,
    CONFIRMATION_REQUIRED,
    FORBIDDEN,
    PASSWORD_CHANGE_REQUIRED,
    PROVIDER_UNAVAILABLE,
    SERVICE_BUSY,
    SIGN_IN_FAILED,
    TOO_MANY_ATTEMPTS,
    TRUSTED_HEADER_REFUSED,
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


class ProviderFailed(PlannerError):
    """The OpenID provider does not answer, or not as OpenID Connect requires."""

    problem = PROVIDER_UNAVAILABLE

    def __init__(self, *, log: str) -> None:
        """Store the reason, which is for the operator only."""
        self.log = log
        super().__init__(
            "The service that checks your sign-in does not answer as it should. Try again later. If you have a password "
            "for cfplan, you can use it meanwhile. Operators: the log states the reason."
        )


class ProviderRefused(PlannerError):
    """The OpenID provider or the check of its answer refuses a sign-in."""

    problem = SIGN_IN_FAILED

    def __init__(self, message: str, *, log: str) -> None:
        """Store the message for the user, and the reason for the operator."""
        self.log = log
        super().__init__(message)


class NoRole(PlannerError):
    """A user of another directory has no role here, or is disabled."""

    problem = SIGN_IN_FAILED

    def __init__(self, message: str, *, user: str = "", reason: str = "no role") -> None:
        """Store the message, the name of the user here if there is one, and the reason for the audit trail."""
        super().__init__(message)
        self.user = user
        self.reason = reason


class TrustedHeaderRefused(PlannerError):
    """A request has the header with the user, and may not have it, or not in this form."""

    problem = TRUSTED_HEADER_REFUSED
