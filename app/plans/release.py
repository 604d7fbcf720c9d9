"""The release of texts for z/OS: a text is given only if the approval that may be required exists, and it is recorded.

Requests that only read have no transaction that writes. So the entry of the audit trail is stored in one of its own before
the answer is sent: a text whose release cannot be recorded is not given. If the same person gets the same text in the same way
again within `REPEATED`, for example by reloading a page, no further entry is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record, sha256_of, was_recorded
from app.clock import utc_now
from app.database.engine import Database
from app.plans import approval
from app.plans.stored import StoredOutput, StoredVersion
from app.plans.trail import PLAN
from app.settings import Settings
from app.web.head_requests import is_head

REPEATED = timedelta(minutes=10)
"""For this long after an entry, releasing the same text to the same person writes no further entry."""


@dataclass(frozen=True, slots=True)
class Release:
    """The rules by which texts leave the service."""

    database: Database
    needs_approval: bool
    gives_text: bool = True
    """Whether the answer contains the text; the answer to a HEAD request does not."""

    @classmethod
    def of(cls, database: Database, settings: Settings) -> Release:
        """Return the rules that the settings define."""
        return cls(database, settings.approval)

    def check(self, session: Session, name: str, version: StoredVersion | StoredOutput) -> None:
        """Check that the texts of a version may be given.

        Raises:
            ApprovalMissing: The version needs an approval and has none.
        """
        if self.needs_approval:
            approval.require_approved(session, version.plan_id, name, version.number)

    def record_version(
        self,
        name: str,
        version: StoredVersion | StoredOutput,
        texts: Mapping[str, str],
        *,
        is_shown: bool = False,
    ) -> None:
        """Record that texts of a version are given, by kind, before they are sent; `is_shown` means on a page."""
        about = AuditObject(PLAN, name, id=version.plan_id, version=version.number)
        self.record(about, texts, is_shown=is_shown)

    def record(
        self,
        about: AuditObject,
        texts: Mapping[str, str],
        *,
        is_shown: bool = False,
        session: Session | None = None,
    ) -> None:
        """Record that texts are given, by kind, before they are sent.

        Args:
            about: The plan or document of the texts.
            texts: The texts by kind.
            is_shown: Whether a page shows them.
            session: The session of a request that writes, whose lock another transaction would wait for; None uses a
                transaction of its own.
        """
        if not texts or not self.gives_text:
            return
        action = Action.TEXT_SHOWN if is_shown else Action.TEXT_DOWNLOADED
        entries = [
            {"kind": kind, "characters": len(text), "sha256": sha256_of(text)} for kind, text in texts.items()
        ]
        since = utc_now() - REPEATED
        with self.database.session(writes=False) if session is None else nullcontext(session) as reader:
            new = [each for each in entries if not was_recorded(reader, action, about, each, since=since)]
        if not new:
            return
        with self.database.session(writes=True) if session is None else nullcontext(session) as writer:
            for details in new:
                record(writer, action, about, details)


DOCUMENT = "plan document"
"""The kind of a document that was sent with the request, as the object of an entry."""


def release_of(request: Request) -> Release:
    """Return the rules for the answer to a request."""
    state = request.app.state
    return Release(state.database, state.settings.approval, gives_text=not is_head(request.scope))


ReleaseDep = Annotated[Release, Depends(release_of)]
