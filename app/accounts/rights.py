"""The rights that each route needs: the one declaration, keyed by method and path template.

A route without an entry answers no one. Reading, and calculations that store nothing, need a viewer; plans, scenarios
and CFCC levels need a planner to change them; uploads, nightly runs and the map of queue-sharing groups an operator;
users an administrator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.errors import Forbidden
from app.actor import ActorKind, Role, current_actor

PUBLIC: Final = "public"
Right: TypeAlias = Role | Literal["public"]
"""The role that a route needs at least, or PUBLIC if it also answers requests without sign-in."""

_TABLE: Mapping[Right, str] = {
    PUBLIC: """
        GET /healthz
        GET /readyz
        GET /sign-in
        POST /sign-in
        GET /sign-in/oidc
        GET /sign-in/oidc/again
        GET /sign-in/oidc/callback
        GET /sign-in/oidc/sign-out
        GET /assets/plotly/plotly.min.js
        MOUNT /assets/swagger-ui
        MOUNT /static
    """,
    Role.VIEWER: """
        GET /
        GET /metrics
        GET /account
        GET /account/password
        POST /account/password
        POST /account/sessions/end
        POST /account/tokens
        POST /account/tokens/revoke
        GET /sign-in/confirm
        POST /sign-in/confirm
        POST /sign-out

        GET /api/v1/account
        GET /api/v1/account/tokens
        POST /api/v1/account/tokens
        DELETE /api/v1/account/tokens/{number}

        POST /api/v1/size
        GET /api/v1/schema
        POST /api/v1/policy
        POST /api/v1/job
        POST /api/v1/mqsc
        POST /api/v1/setxcf
        POST /api/v1/runbook
        POST /api/v1/workflow
        GET /api/v1/plans
        GET /api/v1/deleted-plans
        GET /api/v1/plans/{name}
        GET /api/v1/plans/{name}/versions
        GET /api/v1/plans/{name}/versions/{number}
        GET /api/v1/plans/{name}/versions/{number}/approval
        GET /api/v1/plans/{name}/diff
        GET /api/v1/plans/{name}/document
        GET /api/v1/plans/{name}/policy
        GET /api/v1/plans/{name}/versions/{number}/policy
        GET /api/v1/plans/{name}/job
        GET /api/v1/plans/{name}/versions/{number}/job
        GET /api/v1/plans/{name}/mqsc
        GET /api/v1/plans/{name}/versions/{number}/mqsc
        GET /api/v1/plans/{name}/setxcf
        GET /api/v1/plans/{name}/versions/{number}/setxcf
        GET /api/v1/plans/{name}/runbook
        GET /api/v1/plans/{name}/versions/{number}/runbook
        GET /api/v1/plans/{name}/workflow
        GET /api/v1/plans/{name}/versions/{number}/workflow
        GET /api/v1/plans/{name}/scenarios
        GET /api/v1/plans/{name}/scenarios/compare
        GET /api/v1/plans/{name}/scenarios/{scenario}
        GET /api/v1/plans/{name}/scenarios/{scenario}/report
        GET /api/v1/uploads
        GET /api/v1/uploads/{number}
        GET /api/v1/uploads/{number}/report
        GET /api/v1/upload-files
        GET /api/v1/collection-kit
        GET /api/v1/collection-kit/archive
        GET /api/v1/missing-data
        GET /api/v1/qsg-map
        GET /api/v1/jobs/{number}
        GET /api/v1/jobs/{number}/log
        GET /api/v1/jobs/{number}/events
        GET /api/v1/usage/structures
        GET /api/v1/usage/health
        GET /api/v1/usage/structures/{qsg}/{structure}
        GET /api/v1/usage/structures/{qsg}/{structure}/queues
        GET /api/v1/usage/structures/{qsg}/{structure}/health
        GET /api/v1/usage/structures/{qsg}/{structure}/queue
        POST /api/v1/usage/plan-document
        GET /api/v1/curves
        GET /api/v1/curves/{version}
        GET /api/v1/curves/{version}/points
        GET /api/v1/sizing-points
        GET /api/v1/sizing-points/fit
        GET /api/v1/sizing-points/advice
        GET /api/v1/cf-levels
        GET /api/v1/forecasts
        GET /api/v1/forecasts/{qsg}/{structure}
        GET /api/v1/nightly-runs
        GET /api/v1/nightly-runs/{number}
        GET /api/v1/night/report
        GET /api/v1/night/report.json
        GET /api/v1/night/report.md
        GET /api/v1/fleet
        GET /api/v1/notices
        POST /api/v1/events/simulate
        POST /api/v1/events/read
        POST /api/v1/events/advise
        POST /api/v1/events/rates
        POST /api/v1/cluster/decide
        POST /api/v1/cluster/load
        POST /api/v1/cluster/explain
        POST /api/v1/whatif/filling
        POST /api/v1/whatif/survival
        POST /api/v1/whatif/thresholds
        POST /api/v1/whatif/recovery
        POST /api/v1/whatif/smds-job
        POST /api/v1/whatif/cf-loss
        POST /api/v1/whatif/upgrade
        POST /api/v1/lint
        POST /api/v1/merge
        POST /api/v1/diff
        POST /api/v1/plan-from-running
        POST /api/v1/other-structures
        POST /api/v1/import/structures
        POST /api/v1/import/queues
        GET /api/v1/search
        GET /api/v1/reference
        GET /api/v1/reference/{table_id}
        GET /api/docs
        GET /api/try
        GET /openapi.json

        GET /fleet.csv
        GET /calculator
        GET /quick/{kind}
        GET /calculator/explanations
        GET /calculator/{kind}
        POST /plan-preview
        GET /plans
        GET /plans.csv
        GET /plans/{name}
        GET /plans/{name}/versions/{number}
        GET /plans/{name}/versions/{number}/structures/{structure}
        GET /plans/{name}/versions/{number}/structures/{structure}/explanations
        GET /plans/{name}/versions/{number}/structures/{structure}/filling
        GET /plans/{name}/versions/{number}/structures/{structure}/survival
        GET /plans/{name}/versions/{number}/structures/{structure}/thresholds
        GET /plans/{name}/versions/{number}/print
        GET /plans/{name}/versions/{number}/files/{file}
        GET /plans/{name}/compare
        GET /plans/{name}/advice
        GET /plans/{name}/history
        GET /plans/{name}/what-if
        GET /plans/{name}/scenarios
        GET /plans/{name}/scenarios.csv
        GET /plans/{name}/scenarios/compare
        GET /plans/{name}/scenarios/{scenario}
        GET /plans/{name}/scenarios/{scenario}/report
        GET /export-plans
        GET /deleted-plans
        GET /sheet
        GET /what-runs
        GET /lint
        POST /lint
        GET /import
        POST /import
        GET /import/{kind}.csv
        GET /merge
        POST /merge
        GET /running
        POST /running
        GET /plan-from-running
        POST /plan-from-running
        GET /uploads
        GET /uploads/{upload_id}
        GET /upload-files
        GET /collection-kit
        GET /qsg-map
        GET /usage
        GET /usage.csv
        GET /usage/health
        GET /usage/health.csv
        GET /usage/{qsg}/{structure}
        GET /usage/{qsg}/{structure}/usage.csv
        GET /usage/{qsg}/{structure}/health.csv
        GET /usage/{qsg}/{structure}/queues.csv
        GET /usage/{qsg}/{structure}/queue
        GET /usage/{qsg}/{structure}/queue.csv
        GET /curves
        GET /curves.csv
        GET /curves/{version}
        GET /curves/{version}/points.csv
        GET /sizing-points
        GET /sizing-points.csv
        GET /sizing-points/template.csv
        GET /sizing-points/fit
        GET /sizing-points/advice.txt
        GET /cf-levels
        GET /forecasts
        GET /forecasts.csv
        GET /forecasts/{qsg}/{structure}
        GET /forecasts/{qsg}/{structure}/forecast.csv
        GET /nights
        GET /notices
        GET /nights.csv
        GET /nights/{run_id}
        GET /events/simulate
        POST /events/simulate
        GET /events/read
        POST /events/read
        GET /whatif
        GET /whatif/survival
        GET /whatif/thresholds
        GET /whatif/filling
        GET /whatif/cf-loss
        POST /whatif/cf-loss
        GET /whatif/upgrade
        POST /whatif/upgrade
        GET /whatif/recovery
        POST /whatif/recovery
        GET /whatif/smds
        POST /whatif/smds
        GET /cluster/decide
        POST /cluster/decide
        GET /cluster/load
        POST /cluster/load
        GET /cluster/explain
        POST /cluster/explain
        GET /search
        GET /reference
        GET /reference/{table_id}
        GET /docs
        GET /docs/{slug:path}
        GET /style
    """,
    Role.PLANNER: """
        PUT /api/v1/plans/{name}
        DELETE /api/v1/plans/{name}
        POST /api/v1/plans/{name}/restore
        POST /api/v1/plans/{name}/versions/{number}/approval
        DELETE /api/v1/plans/{name}/versions/{number}/approval
        POST /api/v1/plans/{name}/scenarios
        PUT /api/v1/plans/{name}/scenarios/{scenario}
        DELETE /api/v1/plans/{name}/scenarios/{scenario}
        POST /api/v1/sizing-points
        POST /api/v1/sizing-points/fit
        DELETE /api/v1/sizing-points/{number}
        PUT /api/v1/cf-levels/{coupling_facility}
        DELETE /api/v1/cf-levels/{coupling_facility}

        GET /new-plan
        POST /new-plan
        GET /plans/{name}/edit
        POST /plans/{name}/edit
        POST /plans/{name}/take-over
        POST /plans/{name}/delete
        POST /plans/{name}/versions/{number}/approve
        POST /plans/{name}/versions/{number}/withdraw-approval
        POST /plans/{name}/restore
        POST /plans/{name}/rename
        POST /plans/{name}/acknowledge
        POST /plans/{name}/withdraw
        GET /plans/{name}/scenarios/new
        POST /plans/{name}/scenarios/new
        GET /plans/{name}/scenarios/{scenario}/edit
        POST /plans/{name}/scenarios/{scenario}/edit
        POST /plans/{name}/scenarios/{scenario}/delete
        GET /import-plans
        POST /import-plans
        GET /usage/{qsg}/plan
        POST /usage/{qsg}/plan
        GET /usage/{qsg}/plan/into/{name}
        POST /usage/{qsg}/plan/into/{name}
        GET /sizing-points/add
        POST /sizing-points
        POST /sizing-points/one
        POST /sizing-points/remove
        POST /sizing-points/fit
        POST /cf-levels
        POST /cf-levels/remove
    """,
    Role.OPERATOR: """
        POST /api/v1/uploads
        POST /api/v1/uploads/{number}/ingest
        DELETE /api/v1/uploads/{number}
        POST /api/v1/upload-files/{sha256}
        DELETE /api/v1/upload-files/{sha256}
        PUT /api/v1/qsg-map/{system_id}/{queue_manager}
        DELETE /api/v1/qsg-map/{system_id}/{queue_manager}
        POST /api/v1/nightly-runs
        GET /api/v1/connections
        GET /api/v1/policy-drifts
        GET /api/v1/dds-pollers

        GET /connections
        GET /new-upload
        POST /uploads
        POST /uploads/{upload_id}/ingest
        POST /uploads/retry
        POST /uploads/{upload_id}/delete
        POST /upload-files/register
        POST /upload-files/remove
        POST /qsg-map
        POST /qsg-map/remove
        POST /nights
        POST /simulated-data
        POST /simulated-data/remove
    """,
    Role.ADMINISTRATOR: """
        GET /audit
        GET /audit.csv
        GET /api/v1/audit
        GET /api/v1/audit/export

        GET /users
        GET /users.csv
        POST /users
        GET /users/{name}
        POST /users/{name}

        GET /api/v1/users
        POST /api/v1/users
        GET /api/v1/users/{name}
        PATCH /api/v1/users/{name}
    """,
}


def _by_route() -> Mapping[str, Right]:
    found: dict[str, Right] = {}
    for right, routes in _TABLE.items():
        for route in filter(None, map(str.strip, routes.splitlines())):
            if route in found:
                message = f"{route} has two entries"
                raise ValueError(message)
            found[route] = right
    return MappingProxyType(found)


RIGHTS: Final = _by_route()
"""The right of each route, by its method and path template, such as `GET /plans/{name}`; MOUNT is a folder of files."""
_PUBLIC_PATHS: Final = frozenset(
    route.split()[1] for route, right in RIGHTS.items() if right == PUBLIC and not route.startswith("MOUNT")
)
_PUBLIC_FOLDERS: Final = tuple(
    f"{route.split()[1]}/" for route, right in RIGHTS.items() if right == PUBLIC and route.startswith("MOUNT")
)


def is_public(path: str) -> bool:
    """Return whether an address answers requests without sign-in. Public addresses have no parameters."""
    return path in _PUBLIC_PATHS or path.startswith(_PUBLIC_FOLDERS)


def key_of(route: BaseRoute) -> tuple[str, ...]:
    """Return the keys of a route in RIGHTS, one for each of its methods."""
    if isinstance(route, Mount):
        return (f"MOUNT {route.path}",)
    if isinstance(route, Route):
        return tuple(f"{method} {route.path}" for method in sorted(route.methods or ()) if method != "HEAD")
    return (f"{type(route).__name__} {getattr(route, 'path', '')}",)


class Guard:
    """The application of a route, for actors who have the right."""

    __slots__ = ("app", "needed")

    def __init__(self, app: ASGIApp, needed: Right | None) -> None:
        self.app = app
        self.needed = needed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or raise Forbidden."""
        role = current_actor().role
        # Roles are compared directly, because this is done for every request.
        if self.needed == PUBLIC or (role is not None and self.needed is not None and role >= self.needed):
            await self.app(scope, receive, send)
            return
        raise _refusal(self.needed)


def guarded(routes: Iterable[BaseRoute]) -> list[BaseRoute]:
    """Return the routes, each of which now checks the right of the actor. Guarded routes stay as they are."""
    found = list(routes)
    for route in found:
        # All applications of a process share their routes.
        if isinstance(route, Route | Mount) and not isinstance(route.app, Guard):
            rights = {RIGHTS.get(key) for key in key_of(route)}
            route.app = Guard(route.app, rights.pop() if len(rights) == 1 else None)
    return found


def _refusal(needed: Right | None) -> Forbidden:
    actor = current_actor()
    if not isinstance(needed, Role):
        return Forbidden("This address has no entry in the table of rights, so it answers no one.")
    what = "The scope of this token" if actor.kind == ActorKind.TOKEN else "Your role"
    has = f", {actor.role.label}," if actor.role else ""
    return Forbidden(
        f"This needs the role {needed.label}. {what}{has} does not include it. An administrator can change roles.",
        needed,
    )
