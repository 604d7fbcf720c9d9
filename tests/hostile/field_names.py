"""Names of form fields that no page of cfplan sends."""

from __future__ import annotations

NAMES_OF_NO_FIELD = {
    "deep": "/1" * 200_000,
    "deep without numbers": "/a" * 200_000,
    "long number": f"/structures/{'9' * 100_000}/name",
    "superscript": "/structures/\N{SUPERSCRIPT TWO}/name",
}
