"""The journal of a restore, and the exchange of files and folders that can be repeated or undone after any interruption.

Phases:

- `staging`: the archive is being unpacked next to the data; nothing was changed. Undo removes what was unpacked.
- `prepared`: everything is unpacked and verified, and the data is being exchanged. Both directions are possible.
- `cleaning`: the restore is complete; only the old data remains to be removed.

Each change of phase is on disk before the work of the phase begins.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.backup.errors import RestoreRefused
from app.data_folder import JOURNAL
from app.disk import synchronize

NEW, OLD = ".restore-new", ".restore-old"
MADE = f".{JOURNAL}.new"
"""The name of the journal while it is being written."""


class Phase(StrEnum):
    """The phase of a restore."""

    STAGING = "staging"
    PREPARED = "prepared"
    CLEANING = "cleaning"


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder that is exchanged."""

    target: str
    has_new: bool
    """Whether the archive has it. If not, the present one is only set aside."""
    had_old: bool
    """Whether it existed when the exchange began."""

    @classmethod
    def of(cls, target: Path, *, has_new: bool = True) -> Item:
        """Return the item for a path as it is now."""
        return cls(str(target), has_new, os.path.lexists(target))

    @property
    def path(self) -> Path:
        """The path of the file or folder."""
        return Path(self.target)

    @property
    def new(self) -> Path:
        """The path under which it is unpacked: in the same folder, because only there a rename is atomic."""
        return self.path.with_name(f"{self.path.name}{NEW}")

    @property
    def old(self) -> Path:
        """The path under which the present one is set aside."""
        return self.path.with_name(f"{self.path.name}{OLD}")

    def exchange(self) -> None:
        """Set the present one aside and put the new one in its place; may be repeated."""
        if self.had_old and not os.path.lexists(self.old) and (not self.has_new or self.new.exists()):
            _rename(self.path, self.old)
        if self.has_new and self.new.exists():
            _rename(self.new, self.path)

    def undo(self) -> None:
        """Return to the present one; may be repeated."""
        has_old = os.path.lexists(self.old)
        if has_old or not self.had_old:
            if self.has_new and not self.new.exists() and os.path.lexists(self.path):
                _rename(self.path, self.new)
            if has_old:
                _rename(self.old, self.path)
        remove(self.new)

    def clean(self) -> None:
        """Remove what was set aside."""
        remove(self.old)
        remove(self.new)


@dataclass(frozen=True, slots=True)
class Journal:
    """The state of a restore."""

    phase: Phase
    restore_id: str
    archive: str
    begun_at: str
    database: str
    """The URL of the database without its password."""
    revision: str
    """Revision of the archive; empty while it is not known."""
    staging: str
    """The folder with the unpacked rows."""
    items: tuple[Item, ...]
    changes_server: bool
    """Whether the tables of a database server are exchanged as well."""
    revokes_tokens: bool = False
    """Whether all API tokens of the archive are revoked."""

    def at(self, phase: Phase, **changes: Any) -> Journal:  # noqa: ANN401 - any field
        """Return the journal in another phase."""
        return replace(self, phase=phase, **changes)


def read(data_dir: Path) -> Journal | None:
    """Return the journal of an interrupted restore, or None.

    Raises:
        RestoreRefused: The journal cannot be read.
    """
    path = data_dir / JOURNAL
    try:
        found = json.loads(path.read_bytes())
        items = tuple(Item(**each) for each in found.pop("items"))
        return Journal(**{**found, "items": items, "phase": Phase(found["phase"])})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError):
        message = f"The journal of a restore, {str(path)!r}, cannot be read. It may have been written by another version of cfplan."
        raise RestoreRefused(message) from None


def write(data_dir: Path, journal: Journal) -> None:
    """Write the journal so that it is either the previous one or complete."""
    path, made = data_dir / JOURNAL, data_dir / MADE
    with made.open("w", encoding="utf-8") as file:
        json.dump(asdict(journal), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)
    synchronize(data_dir)


def delete(data_dir: Path) -> None:
    """Remove the journal: the restore has ended."""
    for name in (MADE, JOURNAL):
        (data_dir / name).unlink(missing_ok=True)
    synchronize(data_dir)


def exchange(items: Sequence[Item]) -> None:
    """Exchange all items."""
    for item in items:
        item.exchange()


def undo(items: Sequence[Item]) -> None:
    """Undo the exchange of all items, in the reverse order."""
    for item in reversed(items):
        item.undo()


def remove(path: Path) -> None:
    """Remove a file or folder if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _rename(source: Path, target: Path) -> None:
    source.rename(target)
    synchronize(target.parent)
