"""Read displays of coupling facilities: D XCF,CF (IXC361I) and D CF (IXL150I).

The format of IXC361I is that of z/OS MVS System Messages. The format of IXL150I is from memory: only its labels are
used, and its CFLEVEL is the level of the coupling facility control code (CFCC level), not MQ's CFLEVEL.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace

from planner_core.errors import SizeSyntax
from planner_core.names import CF_PATTERN
from planner_core.texts.console import lines
from planner_core.units import parse_size


@dataclass(frozen=True, slots=True)
class FacilityDisplay:
    """A coupling facility in displays; values that they do not show are None."""

    line: int
    name: str
    type: str | None = None
    mfg: str | None = None
    plant: str | None = None
    sequence: str | None = None
    partition: str | None = None
    cpcid: str | None = None
    site: str | None = None
    size_bytes: int | None = None
    cfcc_level: int | None = None
    is_volatile: bool | None = None
    dumpspace_bytes: int | None = None


_HARDWARE = (
    r"(?P<type>[A-Z0-9]{6})\.(?P<mfg>[A-Z0-9]{1,3})\.(?P<plant>[A-Z0-9]{1,2})\.(?P<sequence>[A-Z0-9]{12})"
)
_SUMMARY = re.compile(rf"[ \t]*(?P<name>{CF_PATTERN})[ \t]+{_HARDWARE}(?:[ \t]+(?P<site>SITE[12]))?\b.*")
_PARTITION = re.compile(r"PARTITION\s*:\s*(?P<partition>[0-9A-F]{1,2})\b")
_CPCID = re.compile(r"CPCID\s*:\s*(?P<cpcid>[0-9A-F]{2})\b")
_HEAD = re.compile(rf"COUPLING FACILITY[ \t]+{_HARDWARE}")
_NAMED = re.compile(rf"[ \t]*NAMED[ \t]+(?P<name>{CF_PATTERN})[ \t]*")
_TOTAL = re.compile(r"TOTAL SPACE\s*:\s*(?P<size>[0-9]{1,12}\s*[KMGT])\b")
_LEVEL = re.compile(r"\bCFLEVEL\s*:\s*(?P<level>[0-9]{1,2})\b")
_VOLATILE = re.compile(r"\bVOLATILE\s*:\s*(?P<is>YES|NO)\b")


def read_facilities(text: str) -> tuple[FacilityDisplay, ...]:
    """Return the coupling facilities in a text, each once, in order. Never raises."""
    found: dict[str, FacilityDisplay] = {}
    current: str | None = None
    hardware: dict[str, str] = {}
    for line in lines(text):
        if summary := _SUMMARY.fullmatch(line.text):
            current = summary["name"]
            known = found.get(current, FacilityDisplay(line.number, current))
            said = {key: value for key, value in summary.groupdict().items() if value and key != "name"}
            # D XCF,CF and D CF show different values of one coupling facility.
            found[current] = replace(known, **said)  # type: ignore[arg-type]
        elif head := _HEAD.search(line.text):
            # IXL150I shows the hardware before the name.
            current, hardware = None, dict(head.groupdict())
        elif named := _NAMED.fullmatch(line.text):
            current = named["name"]
            known = found.get(current, FacilityDisplay(line.number, current))
            found[current] = replace(known, **hardware)  # type: ignore[arg-type]
            hardware = {}
        for pattern in (_PARTITION, _CPCID):
            if match := pattern.search(line.text):
                if current is None:
                    hardware |= match.groupdict()
                else:
                    found[current] = replace(found[current], **match.groupdict())  # type: ignore[arg-type]
        if current is not None:
            found[current] = _more(found[current], line.text)
    return tuple(found.values())


def _more(known: FacilityDisplay, text: str) -> FacilityDisplay:
    """Return the coupling facility with the space, level and volatility that a line of D CF shows."""
    if match := _TOTAL.search(text):
        with contextlib.suppress(SizeSyntax):
            known = replace(known, size_bytes=parse_size(" ".join(match["size"].split())))
    if match := _LEVEL.search(text):
        known = replace(known, cfcc_level=int(match["level"]))
    if match := _VOLATILE.search(text):
        known = replace(known, is_volatile=match["is"] == "YES")
    return known
