"""Read the Dockerfile as a build does: instructions, words and paths."""

from __future__ import annotations

import io
import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dockerfile_parse import DockerfileParser

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    """One instruction with its continuation lines joined."""

    name: str
    value: str

    @property
    def words(self) -> list[str]:
        """Return the words that are not options of the instruction itself."""
        return [word for word in shlex.split(self.value) if not word.startswith("--")]

    @property
    def argv(self) -> list[str]:
        """Return the exec form: a JSON array, possibly after CMD and options as in HEALTHCHECK."""
        found = re.search(r"\[.*\]", self.value)
        parsed = json.loads(found.group()) if found else None
        assert isinstance(parsed, list), f"{self.name} is not in exec form: {self.value}"
        return [str(word) for word in parsed]


def read_dockerfile(path: Path) -> list[Instruction]:
    """Return all instructions without comments."""
    parser = DockerfileParser(fileobj=io.BytesIO(path.read_bytes()))
    return [
        Instruction(part["instruction"], part["value"])
        for part in parser.structure
        if part["instruction"] != "COMMENT"
    ]


def last(instructions: list[Instruction], name: str) -> Instruction:
    """Return the last instruction with this name, which is the effective one."""
    return [instruction for instruction in instructions if instruction.name == name][-1]


def environment(instructions: list[Instruction]) -> dict[str, str]:
    """Return all variables set by ENV."""
    return dict(
        word.split("=", 1)
        for instruction in instructions
        if instruction.name == "ENV"
        for word in instruction.words
    )
