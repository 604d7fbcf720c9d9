"""Files that come with the application, to begin with."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple


class ExampleFile(NamedTuple):
    """A YAML file in a folder of app/examples, and what it shows."""

    folder: str
    name: str
    title: str
    about: str

    @property
    def text(self) -> str:
        """The file as it stands, remarks included."""
        return text_of(self.folder, f"{self.name}.yaml")


def text_of(folder: str, file: str) -> str:
    """A file in a folder of app/examples as it stands."""
    return (resources.files("app") / "examples" / folder / file).read_text(encoding="utf-8")
