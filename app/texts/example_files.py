"""Example files of the application."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple


class ExampleFile(NamedTuple):
    """A YAML file in a folder of app/examples, and its description."""

    folder: str
    name: str
    title: str
    about: str

    @property
    def text(self) -> str:
        """The text of the file, with comments."""
        return text_of(self.folder, f"{self.name}.yaml")


def text_of(folder: str, file: str) -> str:
    """Return the text of a file in a folder of app/examples."""
    return (resources.files("app") / "examples" / folder / file).read_text(encoding="utf-8")
