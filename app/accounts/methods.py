"""Ways to sign in other than a password, as the sign-in page offers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

from app.accounts.addresses import returning
from app.settings import Settings

if TYPE_CHECKING:
    from app.accounts.oidc_provider import Provider

OIDC = "/sign-in/oidc"
OIDC_AGAIN = "/sign-in/oidc/again"
OIDC_CALLBACK = "/sign-in/oidc/callback"
OIDC_SIGN_OUT = "/sign-in/oidc/sign-out"


@dataclass(frozen=True, slots=True)
class SignInMethod:
    """A link on the sign-in page."""

    title: str
    path: str


def methods_of(
    request: Request, to: str, *, is_confirmation: bool, has_signed_out: bool
) -> tuple[SignInMethod, ...]:
    """Return the links for an installation; `to` is the page that follows."""
    settings: Settings = request.app.state.settings
    if "oidc" not in settings.authentication:
        return ()
    found = [SignInMethod(settings.oidc_title, returning(OIDC_AGAIN if is_confirmation else OIDC, to))]
    provider: Provider = request.app.state.oidc_provider
    if has_signed_out and provider.is_known_to_sign_out:
        # Otherwise, the next user of this browser would be signed in again without a password.
        found.append(SignInMethod("Sign out of your directory as well", OIDC_SIGN_OUT))
    return tuple(found)
