"""Read the files of pins in requirements/."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES = ("build", "web", "spark", "mcp", "dev")

_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Pin:
    """One line of a file of pins."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the normalized name of the package."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """Return the version."""
        return next(iter(self.requirement.specifier)).version

    @property
    def applies_here(self) -> bool:
        """Return whether the pin is for this platform and version of Python."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def parse_pins(text: str) -> list[Pin]:
    """Read logical lines with a requirement, its marker and hashes; raise ValueError for any other line."""
    pins = []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        words, *options = re.split(r"\s+(?=--)", line.strip())
        unknown = [option for option in options if not _HASH.fullmatch(option)]
        if unknown or words.startswith("-") or "://" in line or "#" in line:
            message = f"not a pin: {line}"
            raise ValueError(message)
        pins.append(Pin(Requirement(words), tuple(options)))
    return pins


def read_pins(name: str) -> list[Pin]:
    """Read requirements/NAME.txt."""
    return parse_pins((ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8"))
