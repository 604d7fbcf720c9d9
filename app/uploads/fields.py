"""The fields of the forms about uploads."""

from __future__ import annotations

from collections.abc import Mapping

from app.web.forms import FormField, Options, filled
from planner_core.inputs import KIND_TITLES

KINDS: Options = tuple(KIND_TITLES.items())
TIMES = (
    FormField(
        "observed_at",
        "Observed at",
        hint="For displays only: the time when the command was entered, for example 2026-11-21T09:30.",
    ),
    FormField(
        "zone",
        "Time zone",
        hint="Applies to that time, and to times in the file that have no time zone: +01:00 or Europe/Berlin.",
    ),
)
"""The fields for the time of a display and its zone."""


def about_fields(
    typed: Mapping[str, str], wrong: Mapping[str, str], *, detected: str = ""
) -> tuple[FormField, ...]:
    """Return the fields that describe a file: kind, time of observation, time zone."""
    title = dict(KINDS).get(detected)
    as_found = f"as detected: {title}" if title else "detect automatically"
    kind = FormField("kind", "Kind of data", "choice", options=(("", as_found), *KINDS))
    return filled((kind, *TIMES), typed, wrong)
