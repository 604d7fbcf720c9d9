"""A stand-in for curl 7.82 and newer, with the options that the documentation uses."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import httpx

FAILED = 22


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="curl", allow_abbrev=False)
    body = parser.add_mutually_exclusive_group()
    body.add_argument("--json")
    body.add_argument("-T", "--upload-file")
    body.add_argument("--data-binary")
    parser.add_argument("-X", "--request")
    parser.add_argument("-H", "--header", action="append", default=[])
    parser.add_argument("-o", "--output")
    for short, option in (
        ("-s", "silent"),
        ("-S", "show-error"),
        ("-i", "include"),
        ("-O", "remote-name"),
        ("-J", "remote-header-name"),
    ):
        parser.add_argument(short, f"--{option}", action="store_true")
    parser.add_argument("--fail-with-body", action="store_true")
    parser.add_argument("url")
    return parser


def _read(named: str) -> bytes:
    return sys.stdin.buffer.read() if named == "-" else Path(named).read_bytes()


def _body(given: argparse.Namespace) -> tuple[str, dict[str, str], bytes | None]:
    """Return the method, headers and content that curl would send for these options."""
    if given.upload_file is not None:
        return "PUT", {}, _read(given.upload_file)
    text = given.json if given.json is not None else given.data_binary
    if text is None:
        return "GET", {}, None
    content = _read(text[1:]) if text.startswith("@") else text.encode()
    if given.json is not None:
        return "POST", {"accept": "application/json", "content-type": "application/json"}, content
    return "POST", {"content-type": "application/x-www-form-urlencoded"}, content


def main() -> int:
    """Send one request."""
    given = _parser().parse_args()
    method, headers, content = _body(given)
    headers = {"accept": "*/*"} | headers
    for header in given.header:
        name, _, value = header.partition(":")
        headers[name.strip().lower()] = value.strip()
    answer = httpx.request(given.request or method, given.url, content=content, headers=headers, timeout=60)
    failed = FAILED if given.fail_with_body and answer.is_error else 0
    named = re.search(r'filename="([^"/]+)"', answer.headers.get("content-disposition", ""))
    file = given.output or (named[1] if given.remote_name and named else None)
    if file is not None:
        Path(file).write_bytes(answer.content)
        return failed
    out = sys.stdout.buffer
    if given.include:
        out.write(f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}\r\n".encode())
        out.write(
            "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode() + b"\r\n"
        )
    out.write(answer.content)
    return failed


if __name__ == "__main__":
    sys.exit(main())
