"""The texts for z/OS of a stored version, arranged for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from app.plans import service
from app.plans.errors import ApprovalMissing, StoredOutputRefused
from app.plans.head import path_of
from app.plans.release import Release
from app.plans.stored import StoredText, StoredVersion
from app.sizing.calculator.answer import SHOWN_OUTPUTS, OutputTextView

MOST_SHOWN_CHARACTERS = 60_000
"""Maximum number of characters of a text on the page; the file contains the complete text."""
OUTPUTS: Mapping[str, tuple[str, str]] = {
    **SHOWN_OUTPUTS,
    "job": (
        "Complete job",
        "IXCMIAPU with the complete policy; it needs a policy name and the CFs' hardware fields.",
    ),
    "workflow": (
        "z/OSMF workflow",
        "The steps of the change for the Workflows task of z/OSMF. Not yet verified against a real z/OSMF.",
    ),
}


def texts_of(
    session: Session,
    stored: StoredVersion,
    kinds: Sequence[str] = tuple(OUTPUTS),
    *,
    cut: bool,
    release: Release,
) -> tuple[OutputTextView, ...]:
    """Return texts for z/OS in this order, or the reasons why there are none; `cut` shortens very long texts.

    The audit trail records which texts the page shows, because they can be copied from it.
    """
    found: dict[str, StoredText | StoredOutputRefused | ApprovalMissing] = {
        **service.get_texts(session, stored, kinds)
    }
    try:
        release.check(session, stored.name, stored)
    except ApprovalMissing as error:
        found = {
            kind: text if isinstance(text, StoredOutputRefused) else error for kind, text in found.items()
        }
    given = {kind: text.text for kind, text in found.items() if isinstance(text, StoredText)}
    release.record_version(stored.name, stored, given, is_shown=True)
    return tuple(_text(stored, kind, found[kind], cut=cut) for kind in kinds)


def _text(
    stored: StoredVersion, kind: str, output: StoredText | StoredOutputRefused | ApprovalMissing, *, cut: bool
) -> OutputTextView:
    title, about = OUTPUTS[kind]
    href = f"{path_of(stored)}/files/{kind}"
    if not isinstance(output, StoredText):
        return OutputTextView(kind, title, about, "", "", href, is_cut=False, refusal=str(output))
    # Browsers become slow with texts of megabytes; the file is complete.
    is_cut = cut and len(output.text) > MOST_SHOWN_CHARACTERS
    text = output.text[: output.text.rfind("\n", 0, MOST_SHOWN_CHARACTERS) + 1] if is_cut else output.text
    return OutputTextView(kind, title, about, text, output.filename, href, is_cut=is_cut, refusal="")
