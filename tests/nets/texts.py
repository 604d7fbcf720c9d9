"""The text files of a snapshot: their names, what is replaced in them, and how many there are of each kind."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

LONGEST_NAME = 110
_STATIC_VERSION = re.compile(r"(/static/[^\"'?\s]+\?v=)[0-9a-f]+")
_DURATION = re.compile(r"\b(in|after) [0-9]+(\.[0-9]+)? s\b")
_SECONDS = re.compile(r'("seconds": ?\{)[^{}]*\}')
_REFERENCE = re.compile(r"\b((?:reference|Reference)[: ]+(?:<[a-z]+>)?)[0-9a-f]{12}\b")
_COMMIT = re.compile(r"\b([0-9]{8}T[0-9]{6}\.[0-9]{6}Z)-[0-9a-f]{8}\b")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^"{}\[\],:\s]+|\s+')


def normalized(text: str, folders: dict[str, str]) -> str:
    """Replace what differs between two runs of the same program: nothing else."""
    for folder, name in folders.items():
        for form in (folder, quote(folder, safe="")):
            text = text.replace(form, name)
    text = _STATIC_VERSION.sub(r"\1VERSION", text)
    text = _SECONDS.sub(r"\1}", text)
    text = _COMMIT.sub(r"\1-COMMIT", text)
    text = _DURATION.sub(r"\1 N s", text)
    return _REFERENCE.sub(r"\1REFERENCE", text)


def readable_json(text: str) -> str:
    """JSON without white space, one member a line; every token stays as it was written."""
    tokens = _JSON_TOKEN.findall(text)
    if any(token.isspace() for token in tokens) or "".join(tokens) != text:
        return text
    found: list[str] = []
    depth = 0
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if token in ("{", "["):
            depth += 1
            found.append(token if following in ("}", "]") else f"{token}\n{' ' * depth}")
        elif token in ("}", "]"):
            depth -= 1
            found.append(token if found and found[-1] in ("{", "[") else f"\n{' ' * depth}{token}")
        elif token == ",":
            found.append(f",\n{' ' * depth}")
        else:
            found.append(token)
    return "".join(found)


def sorted_json(value: object) -> str:
    """JSON in one fixed form."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def file_name(label: str) -> str:
    """A readable file name, different for different labels."""
    readable = re.sub(r"[^A-Za-z0-9.=]+", "-", label).strip("-.") or "root"
    if readable == label and len(label) <= LONGEST_NAME:
        return readable
    mark = hashlib.sha256(label.encode()).hexdigest()[:8]
    return f"{readable[:LONGEST_NAME]}.{mark}"


class Texts:
    """A folder of text files by kind."""

    def __init__(self, folder: Path, folders: dict[str, str]) -> None:
        self._folder = folder
        self._folders = folders
        self._counts: Counter[str] = Counter()
        self._remarks: list[str] = []

    def add(self, kind: str, label: str, text: str) -> None:
        """Write one text; a label occurs once in a kind."""
        path = self._folder / kind / f"{file_name(label)}.txt"
        if path.exists():
            msg = f"There are two texts {label!r} in {kind}."
            raise ValueError(msg)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(normalized(text, self._folders), "utf-8", newline="")
        self._counts[kind] += 1

    def remark(self, text: str) -> None:
        """Add a line to the index, such as an address that was not requested."""
        self._remarks.append(text)

    def write_index(self) -> str:
        """Write how many texts there are of each kind."""
        lines = [f"{count:6} {kind}" for kind, count in sorted(self._counts.items())]
        text = "\n".join([*lines, f"{self._counts.total():6} texts", "", *sorted(self._remarks)]) + "\n"
        (self._folder / "INDEX.txt").write_text(text, "utf-8")
        return text
