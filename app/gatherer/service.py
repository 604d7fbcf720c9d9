"""Fetching 74-4 records: one request that only reads, and one upload of its answer.

The upload, its entries in the audit trail and the use of the connection are one transaction, so a kill at any instant leaves all
of them or none. The answer is read by the job of the upload like any other file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from app import logs
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.connections.client import Client, Reply, open_client
from app.connections.declared import GathererConnection, connection_named
from app.connections.errors import ConnectionFailed, ConnectionUnknown
from app.connections.uses import record_use
from app.database.engine import Database
from app.errors import FieldsInvalid
from app.settings import Settings
from app.uploads import service as uploads
from app.uploads.files import Incoming
from app.uploads.service import UploadDetails
from app.zosmf.server import HEADERS
from planner_core.contracts.gatherer import DATA_SET_PARAMETER, SMF_PATH
from planner_core.errors import FieldProblem
from planner_core.inputs import PREVIEW_BYTES, KindUnknown, detect
from planner_core.wire import JsonObject

KIND: Final = "gatherer_json"
_LONGEST_NAME: Final = 44
"""Characters of a data set name (z/OS DFSMS Using Data Sets)."""
_QUALIFIERS = re.compile(r"[A-Z#$@][A-Z0-9#$@-]{0,7}(?:\.[A-Z#$@][A-Z0-9#$@-]{0,7})*")
_LONGEST_FAULT: Final = 180


@dataclass(frozen=True, slots=True)
class Fetched:
    """The upload that was made of an answer."""

    upload_id: int
    is_new: bool
    size_bytes: int

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        size = f"{self.size_bytes:,} bytes"
        if self.is_new:
            return (
                f"Upload {self.upload_id} created with {size}; the service reads it into the usage history."
            )
        return f"The answer has the same {size} as upload {self.upload_id}; nothing new was stored."


def gatherer_connection(settings: Settings, name: str) -> GathererConnection:
    """Return a connection to the services of the Data Gatherer.

    Raises:
        ConnectionUnknown: There is none of this name and kind.
        ConnectionsInvalid: The file of connections cannot be read.
    """
    connection = connection_named(settings, name)
    if not isinstance(connection, GathererConnection):
        message = (
            f"Connection {name} has the kind {connection.kind}; fetching needs one of the kind gatherer."
        )
        raise ConnectionUnknown(message)
    return connection


def fetch(database: Database, settings: Settings, name: str, data_set: str) -> Fetched:
    """Request the 74-4 records of a data set, and make an upload of the answer.

    Args:
        database: The database of the uploads.
        settings: Settings with the file of connections and the data folder.
        name: The name of the connection.
        data_set: The name of an SMF data set.

    Raises:
        FieldsInvalid: This is not the name of a data set.
        ConnectionUnknown: There is no such connection.
        ConnectionFailed: The server does not answer, or not with records 74-4. Nothing is stored.
        UploadTooLarge: The answer is larger than an upload may be.
    """
    if not _QUALIFIERS.fullmatch(data_set) or len(data_set) > _LONGEST_NAME:
        message = f"{data_set[:60]!a} is not the name of a data set, such as SYS1.SMF.DAILY."
        raise FieldsInvalid(FieldProblem("data_set", message))
    connection = gatherer_connection(settings, name)
    called: JsonObject = {"method": "GET", "path": SMF_PATH, "data_set": data_set}
    try:
        with open_client(name, connection) as client:
            reply = _records(client, data_set)
    except ConnectionFailed as error:
        with database.session(writes=True) as session:
            failed = {**called, "status": error.status, "fault": error.fault[:_LONGEST_FAULT]}
            record(session, Action.CONNECTION_CALLED, AuditObject("connection", name), failed)
            record_use(session, name, str(error), succeeded=False)
        raise
    with Incoming(settings.data_dir, largest_bytes=settings.max_upload_bytes) as incoming:
        incoming.write(reply.body)
        staged = incoming.finish()
    try:
        with database.session(writes=True) as session:
            outcome = uploads.keep(
                session, staged, filename=f"{name}-{data_set}.json", said=UploadDetails(kind=KIND)
            )
            found = Fetched(outcome.upload.id, outcome.is_new, staged.size_bytes)
            answered: JsonObject = {**called, "status": reply.status, "upload": found.upload_id}
            record(session, Action.CONNECTION_CALLED, AuditObject("connection", name), answered)
            record_use(session, name, f"SMF 74-4: {found.sentence}", succeeded=True)
    finally:
        staged.discard()
    return found


def _records(client: Client, data_set: str) -> Reply:
    reply = client.get(SMF_PATH, params={DATA_SET_PARAMETER: data_set}, headers=HEADERS)
    try:
        kind = detect(reply.body[:PREVIEW_BYTES]).kind
    except KindUnknown:
        kind = None
    if kind != KIND:
        content_type = logs.printable(reply.content_type[:_LONGEST_FAULT]) or "no type"
        raise ConnectionFailed(
            client.name, "GET", SMF_PATH,
            f"The answer ({content_type}, {len(reply.body):,} bytes) has no records of SMF type 74.",
            f"Check that {data_set} has records 74-4, and the address of the connection.", status=reply.status,
        )  # fmt: skip
    return reply
