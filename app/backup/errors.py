"""Errors of backups and restores."""

from __future__ import annotations

from planner_core.errors import PlannerError


class BackupFailed(PlannerError):
    """No backup was made; the message gives the reason."""


class ArchiveInvalid(PlannerError):
    """The archive is damaged, incomplete, or not a backup that this version can restore."""


class RestoreRefused(PlannerError):
    """The restore cannot begin or continue; the message says what to do."""
