"""Questions as pages list them. Commands import this module, so it must not import any web module."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuestionLink:
    """A question, the page that answers it, and the page that explains it.

    The path of a question about one structure is appended to the structure's address.
    """

    path: str
    title: str
    about: str
    docs: str
    command: str
    is_of_structure: bool = False
