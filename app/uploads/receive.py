"""Write a request body to disk piece by piece: the file itself, or a form with files and fields.

The framework would write the files of a form to the folder for temporary files, which may be in memory, and copy them
afterwards. Here each byte is written once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.uploads.errors import upload_invalid
from app.uploads.files import Incoming, StagedUpload
from planner_core.errors import FieldProblem

PIECE_BYTES = 2**20
"""Number of bytes written and hashed at a time, in a thread; the service can answer other requests in between."""
LONGEST_FIELD_BYTES = 1_000
MOST_FIELDS = 100
MOST_FILES = 1_000
TEXT_FIELD = "text"
"""Name of the field of pasted text, which is treated as a file."""
PASTED = "pasted text"


@dataclass(slots=True)
class Form:
    """The fields of a request, and its files with the sender's names for them."""

    files: list[tuple[str, StagedUpload]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)

    def discard(self) -> None:
        """Remove the files that did not become uploads."""
        for _, received in self.files:
            received.discard()


async def receive_body(request: Request, *, data_dir: Path, largest_bytes: int, filename: str) -> Form:
    """Receive the body as one file."""
    with await run_in_threadpool(Incoming, data_dir, largest_bytes=largest_bytes) as incoming:
        async for piece in _pieces(request.stream()):
            await run_in_threadpool(incoming.write, piece)
        if not incoming.size_bytes:
            raise upload_invalid(FieldProblem("", "The request has no body. Send the file as the body."))
        received = await run_in_threadpool(incoming.finish)
    return Form(files=[(filename, received)])


async def receive_form(request: Request, *, data_dir: Path, largest_bytes: int) -> Form:
    """Receive a form: files and pasted text go to disk, other fields stay in memory.

    Raises:
        FieldsInvalid: The form is malformed.
    """
    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if not boundary:
        raise upload_invalid(FieldProblem("", "The form has no boundary between its parts."))
    with ExitStack() as stack:
        parts = _Parts(lambda: stack.enter_context(Incoming(data_dir, largest_bytes=largest_bytes)))
        try:
            parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": parts.begin,
                    "on_header_field": parts.header_name,
                    "on_header_value": parts.header_value,
                    "on_header_end": parts.header_end,
                    "on_headers_finished": parts.headers_finished,
                    "on_part_data": parts.data,
                    "on_part_end": parts.end,
                    "on_end": parts.finish,
                },
            )
            async for piece in _pieces(request.stream()):
                await run_in_threadpool(parser.write, piece)
            # A form that a lost connection cut off has no last boundary.
            if not parts.is_finished:
                raise upload_invalid(FieldProblem("", "The form is incomplete. Nothing was stored."))
        except FormParserError as error:
            parts.form.discard()
            raise upload_invalid(FieldProblem("", f"The form cannot be read: {error}.")) from None
        # A cancelled request raises CancelledError, which is not a subclass of Exception.
        except BaseException:
            parts.form.discard()
            raise
    return parts.form


async def _pieces(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the same bytes in larger pieces; a thread for every 64 KB would take longer than writing them."""
    waiting = bytearray()
    async for chunk in stream:
        waiting += chunk
        if len(waiting) >= PIECE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


class _Parts:
    """Callbacks of the form parser."""

    def __init__(self, make: Callable[[], Incoming]) -> None:
        self._make = make
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._field = ""
        self._text: bytearray | None = None
        self._file: Incoming | None = None
        self._filename = ""
        self._file_count = 0
        self.form = Form()
        self.is_finished = False

    def begin(self) -> None:
        self._headers.clear()
        self._file = self._text = None

    def header_name(self, data: bytes, start: int, end: int) -> None:
        # The parser passes a name in two pieces if the data was split within it.
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        # Names of header fields are not case-sensitive (RFC 9110, 5.1).
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        filename = options.get(b"filename")
        if filename is not None or self._field == TEXT_FIELD:
            if self._file_count >= MOST_FILES:
                msg = f"more than {MOST_FILES} files"
                raise FormParserError(msg)
            self._file_count += 1
            self._filename = PASTED if filename is None else filename.decode("utf-8", "replace")
            self._file = self._make()
            return
        if len(self.form.fields) >= MOST_FIELDS:
            msg = f"more than {MOST_FIELDS} fields"
            raise FormParserError(msg)
        self._text = bytearray()

    def data(self, data: bytes, start: int, end: int) -> None:
        piece = memoryview(data)[start:end]
        if self._file is not None:
            self._file.write(piece)
        elif self._text is not None:
            self._text += piece
            # Fields are kept in memory, unlike files, so a long one could exhaust it.
            if len(self._text) > LONGEST_FIELD_BYTES:
                msg = f"the field {self._field[:40]} is longer than {LONGEST_FIELD_BYTES} bytes"
                raise FormParserError(msg)

    def end(self) -> None:
        if self._text is not None:
            self.form.fields[self._field] = self._text.decode("utf-8", "replace")
        if self._file is None:
            return
        # Each file is closed at its end, because a process may have only a limited number of files open.
        if self._file.size_bytes:
            self.form.files.append((self._filename, self._file.finish()))
        else:  # browsers send a field without a file as an empty file
            self._file.discard()

    def finish(self) -> None:
        self.is_finished = True
