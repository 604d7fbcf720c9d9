"""The SMF records that cfplan reads, and the choices of `python -m spark_jobs.smf decode`, which `cfplan smf decode` starts."""

from __future__ import annotations

from collections.abc import Mapping

SECTIONS = ("qest", "qesd", "qqst", "qcct", "wq", "r744")
"""Sections of SMF records that can be decoded."""
RECORDS: Mapping[str, tuple[str, ...]] = {
    "qest": ("115-2",),
    "qesd": ("115-2",),
    "qqst": ("115-216",),
    "qcct": ("115-231",),
    "wq": ("116-1", "116-2"),
    "r744": ("74-4",),
}
"""The records of each section: type and subtype. A collection kit asks for exactly these."""
OUTPUTS = ("csv", "jsonl")
