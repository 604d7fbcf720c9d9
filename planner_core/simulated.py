"""The rule that distinguishes simulated data from measured data.

The simulator names its queue-sharing group SIM and a digit, and its files `simulated-...`. The history stores both with
every row.
"""

from __future__ import annotations

import re
from typing import Final

FILE_PREFIX: Final = "simulated-"
MAP_FILE: Final = f"{FILE_PREFIX}qsg-map.json"
TRUTH_FILE: Final = "truth.json"
"""The files in the folder of a simulation with the map of its queue managers, and with its true values."""
SYSPLEX: Final = "SIMPLEX"
QSG: Final = "SIM1"
WORD: Final = "simulated"
"""The label of simulated data on every page and report."""
_QSG = re.compile(r"SIM[0-9]")


def has_simulated_name(qsg: str | None) -> bool:
    """Return whether a group has a name that the simulator uses, for callers that know only the group.

    >>> has_simulated_name("SIM1"), has_simulated_name("SIMS"), has_simulated_name(None)
    (True, False, False)
    """
    return qsg is not None and _QSG.fullmatch(qsg) is not None


def is_simulated(qsg: str | None, file_name: str | None) -> bool:
    """Return whether a row of this group from this file is simulated: both names must be the simulator's.

    For a row without a group (RMF's, until the group is known) the file decides.

    >>> is_simulated("SIM1", "simulated-2026-01-05.smf"), is_simulated("SIM1", "night.smf")
    (True, False)
    """
    # Neither name alone is proof: a site may have a group named SIM1, and may name a file as it likes.
    of_simulator = file_name is not None and file_name.startswith(FILE_PREFIX)
    return of_simulator and (qsg is None or has_simulated_name(qsg))
