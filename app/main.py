"""Assemble the application for one set of settings."""

from __future__ import annotations

import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from fastapi import APIRouter, FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from app import calls, routers
from app.accounts import api as accounts
from app.accounts.authentication import Accounts, Authentication
from app.accounts.rights import RIGHTS, guarded
from app.audit import api as audit
from app.calls import Overseer
from app.clusters import api as cluster
from app.clusters import description as cluster_description
from app.collecting import api as collecting
from app.connections import api as connections
from app.data_folder import in_use
from app.database.damage import Damage, is_damaged
from app.database.engine import Database, database_of
from app.database.limits import OF_BACKGROUND, OF_REQUESTS
from app.database.session import write_turns
from app.dds import api as dds
from app.dds.poller import Poller
from app.documentation import api_docs
from app.events import api as events
from app.events import examples as events_examples
from app.fits import api as curves
from app.fits import points_api as points
from app.fleet import api as fleet
from app.forecasts import api as forecasts
from app.importing import api as importing
from app.importing import description as importing_description
from app.jobs import api as jobs
from app.jobs.leader import Leader
from app.jobs.watcher import Watcher
from app.monitoring import api as monitoring
from app.monitoring.observed import ObservedRequests, RouteOfRequest
from app.monitoring.workers import shared_folder
from app.nightly import api as night
from app.nightly.schedule import Schedule
from app.notices import api as notices
from app.notices.dispatcher import Dispatcher
from app.plans import api as plans
from app.plans import description as plans_description
from app.plans import service as plan_store
from app.reference import api as reference_api
from app.running import api as running
from app.running import description as running_description
from app.scenarios import api as scenarios
from app.scenarios import description as scenarios_description
from app.search import api as search
from app.settings import Settings
from app.sizing import api as sizing
from app.sizing import description as sizing_description
from app.uploads import api as uploads
from app.uploads import service as uploads_store
from app.usage import api as usage
from app.web import chart_script, openapi
from app.web import problems as errors
from app.web.compression import Compression
from app.web.head_requests import HeadAsGet
from app.web.rendering import STATIC_DIR
from app.web.running_requests import RunningRequests
from app.web.security.body import BodyLimits, BoundedBody
from app.web.security.headers import SecurityHeaders
from app.web.security.hosts import AllowedHosts
from app.web.security.proxies import ProxyHeaders
from app.web.security.same_origin import SameOrigin
from app.web.static_files import Files
from app.web.turns import PagesInTurn
from app.whatif import api as whatif
from app.zosmf import api as policies
from planner_core import CORE_VERSION

FORM_AROUND_FILE_BYTES = 2**20
"""Allowance for the fields and boundaries of a form around a file of the maximum size."""

logger = logging.getLogger("cfplan.serve")

_DESCRIPTIONS = (
    sizing_description,
    events_examples,
    cluster_description,
    running_description,
    importing_description,
    scenarios_description,
)
"""Descriptions of the features whose handlers read request bodies themselves."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Upgrade the schema before the first request, and close the database after the last."""
    # First, because connections to the database are counted.
    with monitoring.joined(), in_use(app.state.settings.data_dir, creates=True):
        # The folder is in use until the last request, so that no restore replaces the data of a running service.
        # With connections of its own, because the statements of a migration may take longer than any other may.
        patient = database_of(app.state.settings, damage=app.state.database.damage)
        # The session of this first transaction upgrades the schema.
        await run_in_threadpool(_remove_expired_plans, patient, app.state.settings)
        for database in (app.state.database, app.state.background_database):
            database.is_prepared_by(patient)
        patient.close()
        app.state.overseer.start()
        app.state.leader.start()
        yield
        await run_in_threadpool(app.state.leader.stop)
        app.state.overseer.stop()
        await run_in_threadpool(app.state.accounts.close)
        app.state.database.close()
        app.state.background_database.close()


def _clean_up(database: Database, settings: Settings) -> None:
    """Remove what has expired, from time to time while the service runs; each kind in its own transaction."""
    try:
        _remove_expired_plans(database, settings)
    finally:
        # One kind that can never be removed must not keep the other for ever.
        uploads_store.clean_up(database, settings)


def _remove_expired_plans(database: Database, settings: Settings) -> None:
    """Remove deleted plans whose time to be restored has passed."""
    try:
        with database.session(writes=True) as session:
            plan_store.purge_deleted(session, timedelta(days=settings.deleted_days))
    except DBAPIError as error:
        # What is not damaged can still be read; each request that needs damaged data says so.
        if not is_damaged(error):
            raise
        logger.error(
            "The database reports damaged data, so deleted plans are not removed: %s. Restore a backup.",
            error.orig,
        )


def keep_what_is_loaded() -> None:
    """Exempt modules and routes from garbage collection, in a process that only serves requests.

    They live as long as the process. A collection of their 200 000 objects takes a seventh of a second, which would
    delay the request that is running.
    """
    gc.collect()
    gc.freeze()


def create_app(settings: Settings | None = None) -> FastAPI:
    """Build the application. By default, the settings are read from the environment."""
    settings = settings or Settings()
    overseer = Overseer(settings.request_cpu_s)
    calls.install()
    app = FastAPI(
        title="cfplan",
        version=CORE_VERSION,
        # The routes themselves: after `include_router`, the first request of each application would build the validators
        # of all routes again, which takes half a second.
        routes=guarded(route for router in _routers() for route in router.routes),
        openapi_url=None,  # FastAPI would generate the description; `api_docs` sends a file
        docs_url=None,  # FastAPI's own page loads its scripts from another site
        redoc_url=None,
        lifespan=lifespan,
        middleware=_middleware(settings, overseer),
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.state.settings = settings
    damage = Damage(shared_folder)
    app.state.database = database_of(settings, waits=OF_REQUESTS, damage=damage)
    app.state.write_turns = write_turns()
    app.state.background_database = database_of(settings, waits=OF_BACKGROUND, damage=damage)
    app.state.accounts = Accounts.of(settings, app.state.database)
    app.state.oidc_provider = _oidc_provider(settings)
    app.state.watcher = Watcher(app.state.background_database, settings, clean_up=_clean_up)
    app.state.schedule = Schedule(app.state.background_database, settings, on_queued=app.state.watcher.poke)
    poller = Poller(app.state.background_database, settings, on_queued=app.state.watcher.poke)
    app.state.dispatcher = Dispatcher(app.state.background_database, settings)
    app.state.leader = Leader(
        settings.data_dir, (app.state.watcher, app.state.schedule, poller, app.state.dispatcher)
    )
    app.state.overseer = overseer
    errors.install(app)
    monitoring.install(app)
    openapi.install(
        app,
        schemas=[each.schemas for each in _DESCRIPTIONS],
        examples=[each.described_examples for each in (*_DESCRIPTIONS, plans_description, whatif)],
        rights=RIGHTS,
    )
    app.mount(api_docs.ASSETS_PATH, Files(directory=api_docs.assets_dir()), name="swagger-ui")
    app.mount("/static", Files(directory=STATIC_DIR), name="static")
    guarded(app.routes)
    return app


def _oidc_provider(settings: Settings) -> object:
    """Return the OpenID provider of the settings, or None, without loading its libraries, if there is none."""
    if "oidc" not in settings.authentication:
        return None
    from app.accounts.oidc_provider import Provider, client_secret

    client_secret(settings)  # a file that cannot be read is reported at start
    return Provider(settings)


def _routers() -> list[APIRouter]:
    """Return the routers of the service and of all pages."""
    return [
        sizing.router,
        plans.router,
        scenarios.router,
        uploads.router,
        collecting.router,
        audit.router,
        jobs.router,
        usage.router,
        curves.router,
        points.router,
        forecasts.router,
        night.router,
        fleet.router,
        notices.router,
        events.router,
        cluster.router,
        whatif.router,
        running.router,
        connections.router,
        policies.router,
        dds.router,
        importing.router,
        search.router,
        accounts.router,
        monitoring.router,
        reference_api.router,
        api_docs.router,
        chart_script.router,
        *routers.page_routers(),
    ]


def _middleware(settings: Settings, overseer: Overseer) -> list[Middleware]:
    """Return the middleware, outermost first; identifier and headers are outside, so that every answer has them."""
    return [
        # Outermost: all others see the client's address and scheme.
        *([Middleware(ProxyHeaders, trusted=settings.trusted_proxies)] if settings.trusted_proxies else []),
        Middleware(ObservedRequests, access_log=settings.access_log),
        Middleware(SecurityHeaders),
        Middleware(Compression, minimum_size=settings.compress_over_bytes, compresslevel=5),
        # Inside the headers and the compression, so that its answers get both; outside of everything that may fail.
        Middleware(errors.UnexpectedErrors),
        Middleware(RunningRequests, overseer=overseer),
        Middleware(HeadAsGet),
        Middleware(AllowedHosts, allowed=settings.accepted_hosts),
        Middleware(SameOrigin),
        Middleware(Authentication),
        # Once more, so that the error page of a route shows who is signed in.
        Middleware(errors.UnexpectedErrors),
        Middleware(
            BoundedBody,
            limits=BodyLimits(
                document_bytes=settings.max_body_bytes,
                document_timeout_s=settings.body_timeout_s,
                file_bytes=settings.max_upload_bytes + FORM_AROUND_FILE_BYTES,
                file_stall_s=settings.upload_stall_s,
            ),
        ),
        Middleware(PagesInTurn),
        Middleware(RouteOfRequest),
    ]
