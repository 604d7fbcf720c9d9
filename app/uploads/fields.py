"""The boxes of the forms about uploads, with what was typed in them and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner_core.inputs import KIND_TITLES

Options = tuple[tuple[str, str], ...]
KINDS: Options = tuple(KIND_TITLES.items())


@dataclass(frozen=True, slots=True)
class Box:
    """One box, as the macros of forms show it."""

    name: str
    label: str
    kind: str
    value: str = ""
    error: str = ""
    unit: str = ""
    hint: str = ""
    options: Options = ()
    required: bool = False


def about_boxes(typed: Mapping[str, str], wrong: Mapping[str, str], *, detected: str = "") -> tuple[Box, ...]:
    """What a person may say about a file: kind, time of observation, zone."""
    title = dict(KINDS).get(detected)
    as_found = f"as detected: {title}" if title else "detect it"
    return (
        Box(
            "kind", "What it is", "choice", typed.get("kind", ""), wrong.get("kind", ""),
            options=(("", as_found), *KINDS),
        ),
        *when_boxes(typed, wrong),
    )  # fmt: skip


def when_boxes(typed: Mapping[str, str], wrong: Mapping[str, str]) -> tuple[Box, ...]:
    """When a display was taken, and in which zone."""
    return (
        Box(
            "observed_at", "Observed at", "text", typed.get("observed_at", ""), wrong.get("observed_at", ""),
            hint="Displays only: when the command was entered, such as 2026-11-21T09:30.",
        ),
        Box(
            "zone", "Time zone", "text", typed.get("zone", ""), wrong.get("zone", ""),
            hint="Of that time, and of times in a file that does not say: +01:00 or Europe/Berlin.",
        ),
    )  # fmt: skip
