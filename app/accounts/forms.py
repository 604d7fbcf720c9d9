"""Forms of accounts, and the small bodies in which browsers send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.accounts.credentials import USUAL_TOKEN_DAYS
from app.accounts.models import LONGEST_TOKEN_NAME
from app.accounts.tokens import SCOPES
from app.actor import ROLE_LABELS, Role
from app.web.forms import FormField, read_pairs

LARGEST_BYTES = 16_384
"""Bytes of a form: anyone can send the form for signing in, so it must be cheap to read."""
MOST_PARAMETERS = 20
ROLE_TEXTS: Mapping[str, str] = {
    "viewer": "Viewer: read everything, calculate",
    "planner": "Planner: also change plans and scenarios",
    "operator": "Operator: also upload data, start nightly runs",
    "administrator": "Administrator: also manage users",
}


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BYTES:
            raise HTTPException(413, f"The form is larger than {LARGEST_BYTES} bytes.")
    return dict(read_pairs(body, most=MOST_PARAMETERS))


FormDep = Annotated[dict[str, str], Depends(_form)]
"""The texts of a posted form by the names of its fields."""


def user_fields() -> tuple[FormField, ...]:
    """Return the fields of a new user."""
    return (
        FormField("name", "User name", "text", required=True, hint="Such as anna or anna@example.com."),
        role_field(Role.PLANNER.label),
    )


def role_field(role: str) -> FormField:
    """Return the field for the role of a user."""
    return FormField(
        "role",
        "Role",
        "choice",
        value=role,
        options=tuple((label, ROLE_TEXTS[label]) for label in ROLE_LABELS),
    )


def token_fields(role: Role, *, most_days: int) -> tuple[FormField, ...]:
    """Return the fields of a new token of a user with this role."""
    scopes = tuple((each.label, ROLE_TEXTS[each.label]) for each in SCOPES if each <= role)
    return (
        FormField(
            "name", "Name", "text", required=True,
            hint=f"The script or program that uses it; at most {LONGEST_TOKEN_NAME} characters.",
        ),
        FormField("scope", "Scope", "choice", value=Role.VIEWER.label, options=scopes),
        FormField(
            "days", "Valid for", "whole", value=str(min(USUAL_TOKEN_DAYS, most_days)), unit="days",
            hint=f"At most {most_days}.", required=True,
        ),
    )  # fmt: skip
