"""The page about monitoring: its metrics are those of the service, and its examples name only these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from app.logs import TextFormatter
from app.main import create_app
from app.monitoring.capacity import CapacityCollector, read_capacity
from app.monitoring.facts import Facts, FactsCollector
from app.monitoring.metrics import Metrics
from app.monitoring.workers import ThisProcess
from app.settings import Settings
from tests.app.monitoring.filled import fill
from tests.app.web.support import get
from tests.docs.pages import ROOT, blocks

RULES = ROOT / "deploy" / "prometheus" / "cfplan-rules.yml"
PAGE = ROOT / "docs" / "operations" / "monitoring.md"
TEXT = PAGE.read_text(encoding="utf-8")
SUFFIX = {"counter": "_total", "info": "_info"}
ROW = re.compile(
    r"^\| `([a-z_]+)` \| (counter|gauge|histogram|info|stateset) \|(.*?)\| (.+) \|$", re.MULTILINE
)


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the type and the labels of each metric."""
    from datetime import UTC, datetime

    counted = Metrics()
    counted.count("/", "GET", 200, seconds=1, received=1, sent=1)
    now = datetime.now(UTC)
    facts = Facts(
        jobs=[("night", "done", 1)],
        queued_since=now,
        nightly_state="done",
        nightly_at=now,
        nightly_success_at=now,
        notice_messages=[("email", "sent", 1)],
        notices_given_up_at={"email": now},
    )
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    fill(app)
    capacity = read_capacity(app.state.database, lead_time_days=60, most_structures=10)
    found = {}
    for collector in (
        counted.registry,
        ThisProcess(),
        FactsCollector(facts, is_damaged=False),
        CapacityCollector(capacity),
    ):
        for family in collector.collect():
            labels = {name for sample in family.samples for name in sample.labels} - {"le"}
            found[family.name + SUFFIX.get(family.type, "")] = (family.type, frozenset(labels))
    return found


def test_table_lists_exactly_the_metrics_of_the_service(
    families: dict[str, tuple[str, frozenset[str]]],
) -> None:
    table = {
        name: (kind, frozenset(re.findall(r"`([a-z_]+)`", labels)))
        for name, kind, labels, _ in ROW.findall(TEXT)
    }
    assert table == families


def test_service_sends_the_metrics_of_the_table(tmp_path: Path) -> None:
    app: FastAPI = create_app(Settings(data_dir=tmp_path))
    get(app, "/healthz")
    answer = get(app, "/metrics", accept="application/openmetrics-text; version=1.0.0")
    sent = {
        family.name + SUFFIX.get(family.type, "") for family in text_string_to_metric_families(answer.text)
    }
    missing_before_first_run = {
        "cfplan_nightly_timestamp_seconds",
        "cfplan_nightly_success_timestamp_seconds",
    }
    # Metrics with labels have a family also without a sample, so the parser finds those about capacity.
    assert {name for name, *_ in ROW.findall(TEXT)} - sent == missing_before_first_run


def examples() -> list[Any]:
    return [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        yield from (rule for rule in group["rules"] if "alert" in rule)


def test_every_example_is_yaml_with_the_expected_parts() -> None:
    keys = {key for example in examples() for key in example}
    assert keys == {"services", "livenessProbe", "readinessProbe", "scrape_configs"}


def test_probes_and_the_scrape_use_addresses_of_the_service(app_paths: set[str]) -> None:
    named = set(re.findall(r"path: (/[a-z]+)|:8000(/[a-z]+)", "".join(block.text for block in blocks(PAGE))))
    assert {path for pair in named for path in pair if path} == {"/healthz", "/readyz", "/metrics"}
    assert {"/healthz", "/readyz", "/metrics"} <= app_paths


@pytest.fixture(scope="module")
def app_paths(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    return {getattr(route, "path", "") for route in app.routes}


def test_alerts_have_an_expression_with_metrics_and_routes_that_exist(
    families: dict[str, tuple[str, frozenset[str]]], app_paths: set[str]
) -> None:
    found = list(rules())
    assert len({rule["alert"] for rule in found}) == len(found) >= 8
    series = {"up", *families} | {
        f"{name}{end}"
        for name, (kind, _) in families.items()
        if kind == "histogram"
        for end in ("_bucket", "_sum", "_count")
    }
    words = {
        "sum",
        "delta",
        "min",
        "rate",
        "time",
        "by",
        "le",
        "qsg",
        "channel",
        "histogram_quantile",
        "limit",
        "days",
        "cfplan",
    }
    named = re.findall(r"`(Cfplan\w+)`", TEXT)
    assert sorted(named) == sorted(rule["alert"] for rule in found)
    for rule in found:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"].endswith(".")
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "1m"))
        expression = rule["expr"]
        assert all(expression.count(left) == expression.count(right) for left, right in ("()", "[]", "{}"))
        assert set(re.findall(r'route!?="([^"]+)"', expression)) <= app_paths
        bare = re.sub(r"\{[^{}]*(\{[^{}]*\}[^{}]*)*\}|\[\w+\]|\"[^\"]*\"", "", expression)
        assert set(re.findall(r"[a-z_]{2,}", bare)) <= series | words, expression


def test_log_line_of_the_page_has_the_form_of_real_lines() -> None:
    (line,) = re.findall(r"^20\d\d-.*cfplan\.access.*$", TEXT, re.MULTILINE)
    time, level, logger, *words = line.split(" ")
    assert re.fullmatch(r"[\dT:.-]+Z", time)
    assert (level, logger) == ("INFO", "cfplan.access")
    assert [word.partition("=")[0] for word in words[:2]] == ["request_id", "user"]
    assert set(TextFormatter.BEFORE_MESSAGE) >= {"request_id", "user"}
