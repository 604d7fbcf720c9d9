"""The hash chain over the entries of the audit trail.

The digest of an entry covers its contents and the digest of the entry before it. An entry that is changed, removed or
inserted later therefore breaks the chain, unless all entries after it are rewritten too. A digest that was noted outside
the database reveals that as well.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import Final

from app.audit.models import AuditEntry

GENESIS: Final = "0" * 64
"""The digest before the first entry."""


def digest_of(entry: AuditEntry, previous: str) -> str:
    """Return the digest of an entry that follows one with the digest `previous`."""
    contents = [
        entry.id,
        entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        entry.actor,
        entry.actor_kind,
        entry.user_id,
        entry.token_id,
        entry.address,
        entry.action,
        entry.object_kind,
        entry.object_id,
        entry.object_name,
        entry.version,
        entry.details,
    ]
    text = json.dumps([previous, *contents], separators=(",", ":"))  # one line of ASCII
    return hashlib.sha256(text.encode("ascii")).hexdigest()
