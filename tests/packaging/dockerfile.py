"""Reads the Dockerfile as its build would: instructions, words, paths."""

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
        """The words that are no --option of the instruction itself."""
        return [word for word in shlex.split(self.value) if not word.startswith("--")]

    @property
    def argv(self) -> list[str]:
        """The exec form: a JSON array, possibly behind CMD and options as in HEALTHCHECK."""
        found = re.search(r"\[.*\]", self.value)
        parsed = json.loads(found.group()) if found else None
        assert isinstance(parsed, list), f"{self.name} is not in exec form: {self.value}"
        return [str(word) for word in parsed]


def read_dockerfile(path: Path) -> list[Instruction]:
    """Read all instructions; comments left out."""
    parser = DockerfileParser(fileobj=io.BytesIO(path.read_bytes()))
    return [
        Instruction(part["instruction"], part["value"])
        for part in parser.structure
        if part["instruction"] != "COMMENT"
    ]


def last(instructions: list[Instruction], name: str) -> Instruction:
    """The instruction of this name that counts: the last one."""
    return [instruction for instruction in instructions if instruction.name == name][-1]


def environment(instructions: list[Instruction]) -> dict[str, str]:
    """All variables set by ENV."""
    return dict(
        word.split("=", 1)
        for instruction in instructions
        if instruction.name == "ENV"
        for word in instruction.words
    )
