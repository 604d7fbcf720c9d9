"""Metrics that are read from the database for each scrape: jobs, nightly runs and uploads."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric, StateSetMetricFamily
from prometheus_client.registry import Collector

from app.clock import utc_now
from app.database.engine import SCHEMA_REVISION, Database
from app.jobs import repository as jobs
from app.jobs.models import JobState
from app.nightly.job_kinds import NIGHT
from app.notices import repository as notices
from app.uploads import repository as uploads
from planner_core import CORE_VERSION


@dataclass(frozen=True, slots=True)
class Facts:
    """The state of the service in its database at one time."""

    jobs: list[tuple[str, str, int]] = field(default_factory=list)
    """Kind and state of jobs, with their number."""
    queued_since: datetime | None = None
    nightly_state: str | None = None
    """The state of the last nightly run; None before the first."""
    nightly_at: datetime | None = None
    """The time at which the last nightly run ended; before its end, the time at which it was queued."""
    nightly_success_at: datetime | None = None
    uploads: int = 0
    stored_uploads: int = 0
    stored_bytes: int = 0
    notices_waiting: int = 0
    """Notices that are in no message yet, in a quiet period or not."""
    notice_messages: list[tuple[str, str, int]] = field(default_factory=list)
    """Channel and state of messages, with their number."""
    notices_given_up_at: Mapping[str, datetime] = field(default_factory=dict)
    """The time at which a message was last given up, by channel."""
    read_at: datetime = field(default_factory=utc_now)


def read_facts(database: Database) -> Facts:
    """Read the facts in one transaction."""
    with database.session(writes=False) as session:
        nightly = jobs.last_of_kind(session, NIGHT)
        received, stored, size_bytes = uploads.stored_files(session)
        return Facts(
            jobs=list(jobs.counts(session)),
            queued_since=jobs.queued_since(session),
            nightly_state=nightly.state if nightly else None,
            nightly_at=(nightly.ended_at or nightly.created_at) if nightly else None,
            nightly_success_at=jobs.last_success(session, NIGHT),
            uploads=received,
            stored_uploads=stored,
            stored_bytes=size_bytes,
            notices_waiting=notices.waiting_count(session),
            notice_messages=list(notices.delivery_counts(session)),
            notices_given_up_at=notices.last_given_up(session),
        )


class FactsCollector(Collector):
    """The facts as metrics. Without facts, because the database did not answer, only `cfplan_database_up` is 0."""

    def __init__(self, facts: Facts | None, *, is_damaged: bool) -> None:
        self._facts = facts
        self._is_damaged = is_damaged

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield InfoMetricFamily(
            "cfplan_build",
            "Versions of cfplan, of its database schema and of Python.",
            value={
                "version": CORE_VERSION,
                "schema": SCHEMA_REVISION,
                "python": platform.python_version(),
            },
        )
        yield GaugeMetricFamily(
            "cfplan_database_up",
            "Whether the database answered this scrape: 1 or 0.",
            value=float(self._facts is not None),
        )
        yield GaugeMetricFamily(
            "cfplan_database_damaged",
            "Whether the database has reported damaged data since the service was started: 1 or 0.",
            value=float(self._is_damaged),
        )
        if self._facts is not None:
            yield from _metrics(self._facts)


def _metrics(facts: Facts) -> Iterator[Metric]:
    by_kind = GaugeMetricFamily(
        "cfplan_jobs", "Jobs in the database, by kind and state.", labels=("kind", "state")
    )
    for kind, state, number in facts.jobs:
        by_kind.add_metric((kind, state), number)
    yield by_kind
    waiting = sum(number for _, state, number in facts.jobs if state == JobState.QUEUED)
    yield GaugeMetricFamily("cfplan_jobs_waiting", "Jobs that wait to be started.", value=waiting)
    age_s = (facts.read_at - facts.queued_since).total_seconds() if facts.queued_since else 0.0
    yield GaugeMetricFamily(
        "cfplan_jobs_oldest_waiting_seconds",
        "Time for which the oldest waiting job has waited; 0 if none waits.",
        value=max(age_s, 0.0),
    )
    yield StateSetMetricFamily(
        "cfplan_nightly_state",
        "State of the last nightly run.",
        value={state.value: facts.nightly_state == state for state in JobState},
    )
    yield from _time(
        "cfplan_nightly_timestamp_seconds",
        "Time at which the last nightly run ended, or was queued if it has not ended.",
        facts.nightly_at,
    )
    yield from _time(
        "cfplan_nightly_success_timestamp_seconds",
        "Time at which a nightly run last succeeded.",
        facts.nightly_success_at,
    )
    yield GaugeMetricFamily(
        "cfplan_uploads_stored", "Uploads whose file is stored.", value=facts.stored_uploads
    )
    yield GaugeMetricFamily(
        "cfplan_uploads_removed",
        "Uploads whose file was removed.",
        value=facts.uploads - facts.stored_uploads,
    )
    yield GaugeMetricFamily(
        "cfplan_uploads_stored_bytes", "Size of the stored files of uploads.", value=facts.stored_bytes
    )
    yield GaugeMetricFamily(
        "cfplan_notices_waiting",
        "Notices that are not sent yet, because a quiet period holds them back or they were just found.",
        value=facts.notices_waiting,
    )
    messages = GaugeMetricFamily(
        "cfplan_notice_messages", "Messages with notices, by channel and state.", labels=("channel", "state")
    )
    for channel, state, number in facts.notice_messages:
        messages.add_metric((channel, state), number)
    yield messages
    given_up = GaugeMetricFamily(
        "cfplan_notice_given_up_timestamp_seconds",
        "Time at which a message with notices was last given up, by channel.",
        labels=("channel",),
    )
    for channel, at in facts.notices_given_up_at.items():
        given_up.add_metric((channel,), at.timestamp())
    yield given_up


def _time(name: str, text: str, at: datetime | None) -> Iterator[Metric]:
    """Yield a point in time; nothing if there is none, because 0 would be 1970."""
    if at is not None:
        yield GaugeMetricFamily(name, text, value=at.timestamp())
