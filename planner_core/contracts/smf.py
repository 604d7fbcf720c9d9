"""The choices of `python -m spark_jobs.smf decode`, which `cfplan smf decode` starts."""

from __future__ import annotations

SECTIONS = ("qest", "qesd", "qqst", "qcct", "wq", "r744")
"""Sections of SMF records that can be decoded."""
OUTPUTS = ("csv", "jsonl")
