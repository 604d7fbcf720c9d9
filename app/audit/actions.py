"""The actions that the audit trail records; docs/how-to/audit-trail.md describes the details of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Action(StrEnum):
    """The code of an action: what it concerns, and what was done to it. Codes are stored, so they never change."""

    PLAN_CREATED = "plan.created"
    PLAN_SAVED = "plan.saved"
    PLAN_RENAMED = "plan.renamed"
    PLAN_DELETED = "plan.deleted"
    PLAN_RESTORED = "plan.restored"
    PLAN_PURGED = "plan.purged"
    PLAN_APPROVED = "plan.approved"
    PLAN_APPROVAL_WITHDRAWN = "plan.approval-withdrawn"
    FINDING_ACKNOWLEDGED = "finding.acknowledged"
    FINDING_REOPENED = "finding.reopened"
    TEXT_DOWNLOADED = "text.downloaded"
    TEXT_SHOWN = "text.shown"
    SCENARIO_CREATED = "scenario.created"
    SCENARIO_SAVED = "scenario.saved"
    SCENARIO_DELETED = "scenario.deleted"
    UPLOAD_RECEIVED = "upload.received"
    UPLOAD_REREAD = "upload.reread"
    UPLOAD_DELETED = "upload.deleted"
    UPLOAD_REGISTERED = "upload.registered"
    UPLOAD_FILE_REMOVED = "upload.file-removed"
    GROUP_ASSIGNED = "group.assigned"
    GROUP_REMOVED = "group.removed"
    NIGHTLY_STARTED = "nightly.started"
    JOB_FINISHED = "job.finished"
    SIMULATION_STARTED = "simulation.started"
    SIMULATION_REMOVED = "simulation.removed"
    LEVEL_SET = "cfcc-level.set"
    LEVEL_REMOVED = "cfcc-level.removed"
    POINTS_ADDED = "sizing-points.added"
    POINT_REMOVED = "sizing-points.removed"
    CURVE_FITTED = "curve.fitted"
    HISTORY_REBUILT = "history.rebuilt"
    HISTORY_SHORTENED = "history.shortened"
    DATA_RESTORED = "data.restored"
    NOTICE_SENT = "notice.sent"
    NOTICE_FAILED = "notice.failed"
    USER_CREATED = "user.created"
    USER_CHANGED = "user.changed"
    USER_DISABLED = "user.disabled"
    USER_ENABLED = "user.enabled"
    PASSWORD_CHANGED = "user.password-changed"  # noqa: S105 - a code, not a secret
    SIGNED_IN = "session.signed-in"
    SIGN_IN_CONFIRMED = "session.confirmed"
    SIGN_IN_FAILED = "session.sign-in-failed"
    SIGNED_OUT = "session.signed-out"
    SESSIONS_ENDED = "session.ended"
    TOKEN_CREATED = "token.created"  # noqa: S105 - a code, not a secret
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - a code, not a secret
    CONNECTION_CALLED = "connection.called"
    CONNECTION_CHANGE_SENT = "connection.change-sent"
    CONNECTION_UNIT_VERIFIED = "connection.unit-verified"
    CONNECTION_POLICY_STATE = "connection.policy-state"
    CONNECTION_DRIFT_COMPARED = "connection.drift-compared"
    CONNECTION_POLLED = "connection.polled"


WORDS: Final[Mapping[Action, str]] = {
    Action.PLAN_CREATED: "Plan created",
    Action.PLAN_SAVED: "New version of a plan saved",
    Action.PLAN_RENAMED: "Plan renamed",
    Action.PLAN_DELETED: "Plan deleted",
    Action.PLAN_RESTORED: "Plan restored",
    Action.PLAN_PURGED: "Deleted plan removed permanently",
    Action.PLAN_APPROVED: "Version approved",
    Action.PLAN_APPROVAL_WITHDRAWN: "Approval withdrawn",
    Action.FINDING_ACKNOWLEDGED: "Finding acknowledged",
    Action.FINDING_REOPENED: "Acknowledgment withdrawn",
    Action.TEXT_DOWNLOADED: "Text for z/OS downloaded",
    Action.TEXT_SHOWN: "Text for z/OS shown",
    Action.SCENARIO_CREATED: "Scenario created",
    Action.SCENARIO_SAVED: "Scenario changed",
    Action.SCENARIO_DELETED: "Scenario deleted",
    Action.UPLOAD_RECEIVED: "File uploaded",
    Action.UPLOAD_REREAD: "Upload queued to be read",
    Action.UPLOAD_DELETED: "Upload deleted",
    Action.UPLOAD_REGISTERED: "Upload created for a file without one",
    Action.UPLOAD_FILE_REMOVED: "File of an upload removed",
    Action.GROUP_ASSIGNED: "Queue manager assigned to a group",
    Action.GROUP_REMOVED: "Queue manager removed from the map of groups",
    Action.NIGHTLY_STARTED: "Nightly run requested",
    Action.JOB_FINISHED: "Job finished",
    Action.SIMULATION_STARTED: "Simulated data requested",
    Action.SIMULATION_REMOVED: "Simulated data removed",
    Action.LEVEL_SET: "CFCC level set",
    Action.LEVEL_REMOVED: "CFCC level removed",
    Action.POINTS_ADDED: "Sizing points added",
    Action.POINT_REMOVED: "Sizing point removed",
    Action.CURVE_FITTED: "Curve fitted to sizing points",
    Action.HISTORY_REBUILT: "Hourly usage rebuilt from the usage history",
    Action.HISTORY_SHORTENED: "Old hourly usage removed",
    Action.DATA_RESTORED: "Data restored from a backup",
    Action.NOTICE_SENT: "Notices sent",
    Action.NOTICE_FAILED: "Notices given up",
    Action.USER_CREATED: "User created",
    Action.USER_CHANGED: "User changed",
    Action.USER_DISABLED: "User disabled",
    Action.USER_ENABLED: "User enabled",
    Action.PASSWORD_CHANGED: "Password changed",
    Action.SIGNED_IN: "Signed in",
    Action.SIGN_IN_CONFIRMED: "Sign-in confirmed",
    Action.SIGN_IN_FAILED: "Sign-in failed",
    Action.SIGNED_OUT: "Signed out",
    Action.SESSIONS_ENDED: "Sessions ended",
    Action.TOKEN_CREATED: "Token created",
    Action.TOKEN_REVOKED: "Token revoked",
    Action.CONNECTION_CALLED: "Other system called",
    Action.CONNECTION_CHANGE_SENT: "Change about to be sent to another system",
    Action.CONNECTION_UNIT_VERIFIED: "Unit of sizes verified",
    Action.CONNECTION_POLICY_STATE: "State of a policy on another system stored",
    Action.CONNECTION_DRIFT_COMPARED: "Active policy compared with what is expected",
    Action.CONNECTION_POLLED: "Data server of RMF polled by a command",
}
"""The actions in words, for pages."""
