"""Errors of policies on z/OSMF."""

from __future__ import annotations

from app.problem_types import INPUT_REFUSED
from planner_core.errors import PlannerError


class PolicyNotFound(PlannerError):
    """The server has no such policy, or does not say which one is active."""

    problem = INPUT_REFUSED


class UnitNotVerified(PlannerError):
    """The unit of sizes is not known, or was not verified for this server."""

    problem = INPUT_REFUSED


class ApplyRefused(PlannerError):
    """A policy cannot be applied under this name, or must not be activated."""

    problem = INPUT_REFUSED


class NothingToCompare(PlannerError):
    """There is neither an applied policy nor a plan to compare the active policy with."""

    problem = INPUT_REFUSED
