"""The files of one version of the usage history, found by the protocol of Delta's log without reading Parquet.

Files of the table never change, and the log names a file only after it was written. So the log is listed first: whatever
its entries up to the last one name exists already. Files that the history no longer needs stay on disk for a week.

If the log begins with its first entry, its actions give exactly the files of the version. Otherwise earlier entries are in
a checkpoint, a Parquet file; then all files are taken except those that later entries have removed. What is superfluous,
`maintain` deletes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from planner_core.contracts.ingest import is_torn_entry

LOG = "_delta_log"
_ENTRY = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint.*\.parquet")
_LAST_CHECKPOINT = "_last_checkpoint"


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of a Delta table in a folder."""

    folder: Path
    version: int
    log: tuple[Path, ...]
    """The entries and checkpoints of the log up to this version, and the pointer to the last checkpoint."""
    pointer: bytes | None
    """The content of the pointer to the last checkpoint, which may change after the version was chosen."""

    @property
    def pointer_path(self) -> Path:
        """The path of the pointer to the last checkpoint."""
        return self.folder / LOG / _LAST_CHECKPOINT

    def data_files(self) -> Iterator[Path]:
        """Yield the files that the version needs, and perhaps some that it does not need."""
        added, removed, is_whole = self._actions()
        if is_whole:
            for name in sorted(added):
                yield self.folder / name
            return
        nested = [each.parent for each in self.folder.rglob(LOG) if each.parent != self.folder]
        for path in sorted(self.folder.rglob("*.parquet")):
            own = path.relative_to(self.folder).as_posix()
            if LOG in path.parts or own in removed or any(path.is_relative_to(each) for each in nested):
                continue
            yield path

    def needs(self, path: Path) -> bool:
        """Return whether an entry of the log names the file as part of the version."""
        return path.relative_to(self.folder).as_posix() in self._actions()[0]

    def _actions(self) -> tuple[set[str], set[str], bool]:
        """Return the files that the entries have added and removed, and whether these are all entries."""
        added: set[str] = set()
        removed: set[str] = set()
        entries = [path for path in self.log if _ENTRY.fullmatch(path.name)]
        is_whole = bool(entries) and entries[0].name == f"{0:020}.json"
        for path in entries:
            for line in path.read_bytes().splitlines():
                action = json.loads(line)
                if "add" in action:
                    name = unquote(action["add"]["path"])
                    added.add(name)
                    removed.discard(name)
                elif "remove" in action:
                    name = unquote(action["remove"]["path"])
                    removed.add(name)
                    added.discard(name)
        return added, removed, is_whole


def table_version(folder: Path) -> TableVersion | None:
    """Return the current version of the table in a folder, or None if there is none."""
    log = folder / LOG
    try:
        # Before the log is listed: the checkpoint to which it points exists then.
        pointer = (log / _LAST_CHECKPOINT).read_bytes()
    except OSError:
        pointer = None
    if not log.is_dir():
        return None
    numbered = {
        path: int(found[1])
        for path in sorted(log.iterdir())
        if (found := _ENTRY.fullmatch(path.name) or _CHECKPOINT.fullmatch(path.name))
    }
    entries = [path for path in numbered if _ENTRY.fullmatch(path.name)]
    # A power failure can leave the last entry torn; it was never reported as stored, and the next upload sets it aside.
    while entries and is_torn_entry(entries[-1].read_bytes()):
        entries.pop()
    if not entries:
        return None
    version = numbered[entries[-1]]
    chosen = tuple(path for path, number in numbered.items() if number <= version)
    return TableVersion(folder, version, chosen, pointer)


def nested_tables(folder: Path) -> list[Path]:
    """Return the folders of other tables in the folder of a table: the daily statistics of nightly runs."""
    return sorted(log.parent for log in folder.glob(f"*/*/{LOG}"))
