"""The state of the usage history in a folder: damage to its log that data may have been lost to.

The application reads no Delta tables; it looks only at names in the folder of the history, and at the last log entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.settings import Settings
from planner_core.contracts.ingest import SET_ASIDE_SUFFIX, is_torn_entry, set_aside_message

LOG = "_delta_log"


def damage_of(settings: Settings) -> Sequence[str]:
    """Return sentences about damage to the usage history; none for a history in an object store.

    A damaged last entry is reported while it is in the log, and after it was set aside until its file is removed.
    """
    if "://" in settings.history:
        return ()
    folder = Path(settings.history)
    found = [
        f"{set_aside_message(path.name)} Then remove the file {path.name} from the folder of the history to end this message."
        for path in sorted(folder.glob(f"*{SET_ASIDE_SUFFIX}"))
    ]
    last = max((folder / LOG).glob("*.json"), default=None)
    if last is not None and _is_damaged(last):
        found.append(
            f"The last entry in the log of the usage history ({last.name}) is damaged, so the history cannot be read. The "
            "next upload sets the entry aside; the data of one earlier upload may then be missing. Upload again the files that "
            "were read last before the damage."
        )
    return tuple(found)


def _is_damaged(entry: Path) -> bool:
    try:
        return is_torn_entry(entry.read_bytes())
    except OSError:  # removed meanwhile, or not readable for this user
        return False
