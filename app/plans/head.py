"""The head of the pages of a plan: its totals, its coupling facilities as bars, and the tabs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from app.plans.charts import facilities_chart
from app.plans.result_view import facility_lines
from app.plans.stored import StoredVersion
from app.web.charts import BarChart, Origin
from app.web.field_values import digits_in
from app.web.rendering import grouped
from planner_core import CORE_VERSION

SIZES, FINDINGS, POLICY, QUEUES = "sizes", "findings", "policy", "queues"
TABS: Mapping[str, str] = {
    SIZES: "Sizes",
    FINDINGS: "Findings",
    POLICY: "Policy and commands",
    QUEUES: "Queues",
    "what-if": "What if",
    "history": "History",
}
"""Titles of the tabs, in order. The last two are about the plan, not about one version, and have paths of their own."""
_PARTS = {FINDINGS: "reason-", POLICY: "h-outputs text-"}
_OF_THE_PLAN = ("what-if", "history")
OUTCOMES = {
    "created": "Saved.",
    "changed": "Saved as a new version.",
    "identical": "Nothing changed, so there is no new version.",
    "restored": "Restored, with all its versions.",
    "imported": "Imported.",
    "renamed": "Renamed.",
    "approved": "Approved; the texts for z/OS are available.",
    "approval-withdrawn": "Approval withdrawn.",
    "acknowledged": "{} acknowledged; the reason is part of the plan.",
    "withdrawn": "{} open again; the acknowledgment was withdrawn.",
}
"""Confirmations by the outcome in the address; the braces are replaced by the number of findings."""


@dataclass(frozen=True, slots=True)
class PlanTab:
    """A tab of the pages of a plan."""

    key: str
    title: str
    href: str
    is_current: bool
    note: str = ""
    """The number of open errors and warnings, on the tab of the findings."""
    parts: str = ""
    """Beginnings of the ids in the tab that were on the page of the plan before it had tabs; links still use them."""


@dataclass(frozen=True, slots=True)
class RefusedAction:
    """A refused request from the page of a plan, with everything that the user entered."""

    words: str = ""
    name_error: str = ""
    new_name: str | None = None
    finding: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanHead:
    """The head of the pages of a plan, above the contents of each tab."""

    version: StoredVersion
    at: str
    """Path of the pages of this version."""
    tabs: tuple[PlanTab, ...]
    outcome: str
    """Confirmation of the last request; empty if there is none."""
    is_saved: bool
    """Whether the last request saved a version, so that the page offers the next steps."""
    refused: RefusedAction
    """The last request, if it was refused."""
    initsize_kib: int
    size_kib: int
    structures: int
    open_findings: Mapping[str, int]
    """Open findings by severity."""
    chart: BarChart | None
    """The coupling facilities as bars; None if the plan has none."""
    is_other_core: bool
    """Whether another version of the core computed the figures."""
    core_now: str
    """The installed version of the core."""

    def tab(self, key: str, query: str = "") -> str:
        """Return the path of a tab of this version, with further parameters such as `code=CODE`."""
        path = next(each.href for each in self.tabs if each.key == key)
        return f"{path}{'&' if '?' in path else '?'}{query}" if query else path


def path_of(version: StoredVersion) -> str:
    """Return the path of the pages of a version."""
    return f"/plans/{version.name}/versions/{version.number}"


def origin_of(version: StoredVersion, structure: str = "") -> Origin:
    """Return the plan and the date of a version for saved pictures, and the structure of one about a structure."""
    return Origin(
        f"{structure} in plan {version.name}" if structure else f"plan {version.name}",
        f"version {version.number} of {version.created_at:%Y-%m-%d}",
        f"the stored result, calculated by cfplan {version.core_version}",
    )


def _findings(request: Request | None) -> str:
    """Return the number of findings that the last request changed, in words."""
    number = digits_in(request.query_params.get("findings", "")) if request is not None else None
    if number is None:
        return "Findings"
    return f"{grouped(number)} {'finding' if number == 1 else 'findings'}"


def plan_head(
    version: StoredVersion,
    current: str,
    *,
    request: Request | None = None,
    refused: RefusedAction | None = None,
) -> PlanHead:
    """Return the head of a page about a version, with the key of its tab."""
    counts = Counter(each.severity for each in version.findings if not each.acknowledged)
    totals = version.result["totals"]
    saved = request.query_params.get("saved", "") if request is not None else ""
    return PlanHead(
        version=version,
        at=path_of(version),
        tabs=_tabs(version, current, errors=counts["error"], warnings=counts["warning"]),
        outcome=OUTCOMES.get(saved, "").format(_findings(request)),
        is_saved=saved in ("created", "changed"),
        refused=refused or RefusedAction(),
        initsize_kib=totals["initsize_kib"],
        size_kib=totals["size_kib"],
        structures=len(version.result["structures"]),
        open_findings={severity: counts[severity] for severity in ("error", "warning", "info")},
        chart=facilities_chart(facility_lines(version), version.result["structures"], origin_of(version)),
        is_other_core=version.core_version != CORE_VERSION,
        core_now=CORE_VERSION,
    )


def _tabs(version: StoredVersion, current: str, *, errors: int, warnings: int) -> tuple[PlanTab, ...]:
    plan = f"/plans/{version.name}"
    base = plan if version.is_latest else path_of(version)
    counted = ((errors, "error"), (warnings, "warning"))
    note = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted if count)
    return tuple(
        PlanTab(
            key,
            title,
            f"{plan}/{key}" if key in _OF_THE_PLAN else base if key == SIZES else f"{base}?tab={key}",
            is_current=key == current,
            note=note if key == FINDINGS else "",
            parts=_PARTS.get(key, ""),
        )
        for key, title in TABS.items()
    )
