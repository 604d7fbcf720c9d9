"""The contents of a message: text for mail, and JSON for a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any, Final

from app.notices.models import Notice, NoticeMessage
from planner_core.findings import SEVERITIES
from planner_core.wire import JsonObject

_ORDER: Final[tuple[str, ...]] = SEVERITIES
VERSION: Final = 1
"""The version of the JSON document, raised by a change that existing members do not survive."""


@dataclass(frozen=True, slots=True)
class NoticePart:
    """A notice in a message."""

    id: int
    kind: str
    severity: str
    qsg: str
    structure: str
    title: str
    text: str
    source: str
    path: str
    figures: JsonObject
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """A message, independent of the channel."""

    token: str
    created_at: datetime
    parts: Sequence[NoticePart]
    """Errors first."""

    @property
    def subject(self) -> str:
        """The title of its only notice, or the number of its notices."""
        first = _line(self.parts[0].title)
        return (
            f"cfplan: {first}" if len(self.parts) == 1 else f"cfplan: {len(self.parts)} notices: {first}, ..."
        )

    @property
    def key(self) -> str:
        """The identifier that stays the same for all attempts."""
        return f"cfplan-{self.token}"


def message_of(message: NoticeMessage, notices: Sequence[Notice]) -> Message:
    """Return a message that can be used after its session ends."""
    names = NoticePart.__slots__
    parts = [NoticePart(**{name: getattr(each, name) for name in names}) for each in notices]
    return Message(
        message.token,
        message.created_at,
        sorted(parts, key=lambda part: (_ORDER.index(part.severity), part.id)),
    )


def test_message(token: str, now: datetime) -> Message:
    """Return the message of `cfplan notices test`."""
    part = NoticePart(
        id=0, kind="test", severity="info", qsg="", structure="", title="Test of notices",
        text="This message was sent by `cfplan notices test`. Notices of this cfplan reach you.",
        source="A command, not a measurement.", path="/notices", figures={}, created_at=now,
    )  # fmt: skip
    return Message(token, now, [part])


def mail_of(message: Message, *, sender: str, recipients: Sequence[str], base_url: str) -> EmailMessage:
    """Return a message as mail. Its Message-ID and its date are the same for every attempt."""
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = message.subject
    mail["From"] = sender
    mail["To"] = ", ".join(recipients)
    mail["Date"] = format_datetime(message.created_at)
    mail["Message-ID"] = f"<{message.key}@{sender.rpartition('@')[2]}>"
    # RFC 3834: holiday notices and the like are not sent in reply.
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content("\n\n".join([*(_paragraph(each, base_url) for each in message.parts), _end(base_url)]))
    return mail


def document_of(message: Message, *, base_url: str) -> dict[str, Any]:
    """Return a message as the JSON document for a webhook."""
    return {
        "version": VERSION,
        "id": message.key,
        "created_at": message.created_at.isoformat(),
        "subject": message.subject,
        "text": "\n\n".join(_paragraph(each, base_url) for each in message.parts),
        "notices": [
            {
                "id": each.id,
                "kind": each.kind,
                "severity": each.severity,
                "qsg": each.qsg or None,
                "structure": each.structure or None,
                "title": each.title,
                "text": each.text,
                "source": each.source,
                "figures": each.figures,
                "href": f"{base_url}{each.path}",
                "created_at": each.created_at.isoformat(),
            }
            for each in message.parts
        ],
    }


def _paragraph(part: NoticePart, base_url: str) -> str:
    lines = [_line(part.title), part.text, f"Source: {part.source}"]
    if base_url:
        lines.append(f"Details: {base_url}{part.path}")
    else:
        lines.append(f"Details: the page {part.path} of cfplan")
    return "\n".join(lines)


def _end(base_url: str) -> str:
    where = f"{base_url}/notices" if base_url else "the page /notices of cfplan"
    return f"-- \nAll notices: {where}"


def _line(text: str) -> str:
    """Return a text as one line, as headers require."""
    return " ".join(text.split())
