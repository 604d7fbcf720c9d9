"""A stand-in for curl 7.82 and newer, with the options that the documentation uses."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import httpx

FAILED = 22


def main() -> int:
    """Send one request."""
    parser = argparse.ArgumentParser(prog="curl", allow_abbrev=False)
    parser.add_argument("--json")
    parser.add_argument("--request")
    for option in ("silent", "include", "fail-with-body", "remote-name", "remote-header-name"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("url")
    given = parser.parse_args()
    headers, body = {"accept": "*/*"}, None
    if given.json is not None:
        headers = {"accept": "application/json", "content-type": "application/json"}
        body = Path(given.json[1:]).read_bytes() if given.json.startswith("@") else given.json.encode()
    answer = httpx.request(
        given.request or ("GET" if body is None else "POST"), given.url, content=body, headers=headers
    )
    named = re.search(r'filename="([^"/]+)"', answer.headers.get("content-disposition", ""))
    if given.remote_name and named:
        Path(named[1]).write_bytes(answer.content)
        return 0
    out = sys.stdout.buffer
    if given.include:
        out.write(f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}\r\n".encode())
        out.write(
            "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode() + b"\r\n"
        )
    out.write(answer.content)
    return FAILED if given.fail_with_body and answer.is_error else 0


if __name__ == "__main__":
    sys.exit(main())
