"""The audit trail as the answer to a request."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi.responses import StreamingResponse

from app.audit.export import csv_lines
from app.audit.service import Entry


def csv_response(entries: Iterable[Entry]) -> StreamingResponse:
    """Return entries as a CSV file that is sent while it is read."""
    headers = {"content-disposition": 'attachment; filename="cfplan-audit.csv"'}
    return StreamingResponse(csv_lines(entries), media_type="text/csv", headers=headers)
