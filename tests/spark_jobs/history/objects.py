"""A stand-in for an object store in memory, with the part of S3 that delta-rs uses.

Objects appear completely or not at all; a conditional PUT (`If-None-Match: *`) fails if the object exists. Signatures of requests are not checked.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

ROOT = Path(__file__).parents[3]
BUCKET = "usage"
MOST_KEYS = 5
"""Small page size of listings, so that tests cover several pages."""


class Store:
    """The stored objects, and the number of requests of each kind."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.lock = threading.Lock()
        self.requests: dict[str, int] = {}
        self._uploads = itertools.count()

    def count(self, method: str) -> None:
        """Count a request."""
        with self.lock:
            self.requests[method] = self.requests.get(method, 0) + 1

    def begin(self) -> str:
        """Start a multipart upload."""
        with self.lock:
            name = f"upload-{next(self._uploads)}"
            self.parts[name] = {}
            return name


class Handler(BaseHTTPRequestHandler):
    """Answer requests for one bucket."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536
    store: Store

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _key(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        return unquote(parts.path).removeprefix(f"/{BUCKET}").lstrip("/"), query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _error(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def do_HEAD(self) -> None:
        """Return whether an object exists."""
        self._get()

    def do_GET(self) -> None:
        """Return an object, or a page of names."""
        _, query = self._key()
        if self.path == "/requests":
            self._answer(200, json.dumps(self.store.requests).encode())
        elif "list-type" in query:
            self.store.count("LIST")
            self._list(query)
        else:
            self._get()

    def _get(self) -> None:
        self.store.count("GET")
        key, _ = self._key()
        data = self.store.objects.get(key)
        if data is None:
            self._error(404, "NoSuchKey")
            return
        headers = {"ETag": _etag(data), "Last-Modified": formatdate(0, usegmt=True)}
        wanted = self.headers.get("Range")
        if self.command == "HEAD" or not wanted:
            if self.command == "HEAD":
                self.send_response(200)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
            else:
                self._answer(200, data, **headers)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first) if first else len(data) - int(last)
        end = min(int(last) + 1 if last and first else len(data), len(data))
        self._answer(
            206, data[start:end], **headers, **{"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
        )

    def _list(self, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = max(query.get("continuation-token", ""), query.get("start-after", ""))
        names = sorted(key for key in self.store.objects if key.startswith(prefix))
        items: list[tuple[str, str]] = []
        for name in names:
            cut = name.find(delimiter, len(prefix)) if delimiter else -1
            item = ("prefix", name[: cut + 1]) if cut >= 0 else ("object", name)
            if name > after and item not in items and not (item[0] == "prefix" and after.startswith(item[1])):
                items.append(item)
        page, rest = items[:MOST_KEYS], items[MOST_KEYS:]
        rows = [f"<IsTruncated>{'true' if rest else 'false'}</IsTruncated><Name>{BUCKET}</Name>"]
        if rest:
            rows.append(f"<NextContinuationToken>{escape(page[-1][1])}</NextContinuationToken>")
        for kind, name in page:
            if kind == "prefix":
                rows.append(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>")
                continue
            data = self.store.objects[name]
            rows.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{len(data)}</Size><ETag>{escape(_etag(data))}</ETag>"
                "<LastModified>2026-11-20T00:00:00.000Z</LastModified></Contents>"
            )
        self._answer(200, f"<ListBucketResult>{''.join(rows)}</ListBucketResult>".encode())

    def do_PUT(self) -> None:
        """Store an object, or a part of one."""
        key, query = self._key()
        body = self._body()
        self.store.count("PUT")
        if "uploadId" in query:
            self.store.parts[query["uploadId"]][int(query["partNumber"])] = body
            self._answer(200, ETag=_etag(body))
        elif "x-amz-copy-source" in self.headers:
            self._error(501, "NotImplemented")
        else:
            if self.headers.get("If-None-Match") == "*":
                self.store.count("PUT if absent")
            with self.store.lock:
                is_there = key in self.store.objects
                if is_there and self.headers.get("If-None-Match") == "*":
                    self._error(412, "PreconditionFailed")
                    return
                self.store.objects[key] = body
            self._answer(200, ETag=_etag(body))

    def do_POST(self) -> None:
        """Start or complete a multipart upload, or delete several objects."""
        key, query = self._key()
        body = self._body()
        if "uploads" in query:
            name = self.store.begin()
            self._answer(
                200,
                f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode(),
            )
        elif "uploadId" in query:
            parts = self.store.parts.pop(query["uploadId"])
            data = b"".join(parts[number] for number in sorted(parts))
            self.store.objects[key] = data
            self._answer(
                200,
                f"<CompleteMultipartUploadResult><ETag>{escape(_etag(data))}</ETag></CompleteMultipartUploadResult>".encode(),
            )
        elif "delete" in query:
            names = [unescape(name) for name in re.findall(r"<Key>(.*?)</Key>", body.decode())]
            for name in names:
                self.store.objects.pop(name, None)
            rows = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
            self._answer(200, f"<DeleteResult>{rows}</DeleteResult>".encode())
        else:
            self._error(501, "NotImplemented")

    def do_DELETE(self) -> None:
        """Delete an object, or abort a multipart upload."""
        key, query = self._key()
        if "uploadId" in query:
            self.store.parts.pop(query["uploadId"], None)
        else:
            self.store.objects.pop(key, None)
        self._answer(204)


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """Serve on a free port of this machine in a separate process, and yield the environment for delta-rs.

    A separate process is necessary because delta-rs holds Python's lock while it waits for some answers.
    """
    command = [sys.executable, "-m", "tests.spark_jobs.history.objects"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true",
            }
        finally:
            server.communicate("")


def main() -> None:
    """Serve until standard input is closed."""
    handler = type("HandlerOfStore", (Handler,), {"store": Store()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
