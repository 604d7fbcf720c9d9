"""Texts read without changing a byte, and the example of a running system."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from planner_core.errors import FieldProblem, InputInvalid
from planner_core.running.merge import LARGEST_POLICY_CHARACTERS

LARGEST_FILE_BYTES: Final = LARGEST_POLICY_CHARACTERS
MOST_TEXTS: Final = 50
WHAT: Final = "The input"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_EBCDIC_BLANK: Final = b"\x40\x40\x40"


class RunningExample(NamedTuple):
    """A fictitious running system: its policy, displays and definitions."""

    policy: str
    displays: str
    definitions: str

    @property
    def current(self) -> str:
        """All texts of the example, joined."""
        return "\n".join(self)


@cache
def running_example() -> RunningExample:
    """Return the example of a running system."""
    folder = resources.files("app") / "examples" / "running"
    return RunningExample(
        *(
            (folder / f"{name}.txt").read_text(encoding="utf-8")
            for name in ("policy", "displays", "definitions")
        )
    )


def text_of(data: bytes, name: str = "") -> str:
    """Decode bytes so that they can be restored: UTF-8, with other bytes as surrogates.

    Raises:
        InputInvalid: The text is UTF-16 or EBCDIC, which cannot be read, or is too long.
    """
    of = f"the file {name!r} " if name else "it "
    if len(data) > LARGEST_FILE_BYTES:
        invalid("", f"{of}is larger than {LARGEST_FILE_BYTES} bytes: enter only the relevant part")
    if data.startswith(_UTF_16):
        invalid("", f"{of}is UTF-16: save it as UTF-8")
    # 0x40 is the blank of EBCDIC and @ in ASCII: a text with three of them but no two ASCII blanks is not an ASCII
    # policy.
    if _EBCDIC_BLANK in data and b"  " not in data and b"\n" not in data:
        invalid("", f"{of}looks like EBCDIC: transfer it as text")
    # Comments of a policy may be in any code page; surrogates keep their bytes, so the merge can write them back.
    return data.decode("utf-8", errors="surrogateescape")


def printable(text: str) -> str:
    """Return a text for a page, with a question mark for each byte that is not UTF-8."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def bytes_of(text: str) -> bytes:
    """Return the bytes that a text was decoded from."""
    return text.encode("utf-8", errors="surrogateescape")


def read_bytes(name: str) -> bytes:
    """Read a file, or standard input for `-`.

    Raises:
        InputInvalid: The file cannot be read, or is too large.
    """
    shown = "standard input" if name == "-" else f"the file {name!r}"
    try:
        if name == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        invalid("", f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}")
    if len(data) > LARGEST_FILE_BYTES:
        invalid("", f"{shown} is larger than {LARGEST_FILE_BYTES} bytes")
    return data


def read_text(name: str) -> str:
    """Read the text of a file, or of standard input for `-`."""
    return text_of(read_bytes(name), name)


def invalid(field: str, message: str) -> NoReturn:
    """Raise an error for a field."""
    raise InputInvalid(WHAT, (FieldProblem(field, message),)) from None
