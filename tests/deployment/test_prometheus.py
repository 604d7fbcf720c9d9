"""The dashboard and the alert rules of deploy/: their metrics exist, and a real Prometheus evaluates them.

Prometheus and promtool are programs of Debian's package `prometheus`. Without them on PATH, the tests that need them are
skipped. Grafana itself is in no package registry that the project uses, so no test loads the dashboard into it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.app.accounts.support import add_token, add_user, app_with_accounts
from tests.app.monitoring.filled import fill
from tests.app.web.support import get
from tests.deployment.dashboard import (
    PATIENCE_S,
    PanelQuery,
    dashboard,
    prometheus,
    queries,
    query,
    variables,
    wait_for,
)
from tests.packaging.pins import ROOT
from tests.serving import ANSWER_S, served

RULES = ROOT / "deploy" / "prometheus" / "cfplan-rules.yml"
EXAMPLE = ROOT / "deploy" / "prometheus" / "prometheus.yml"
RULE_TESTS = Path(__file__).parent / "prometheus" / "rules-test.yml"
NAMES = re.compile(r"\b(?:cfplan|mvs)_[a-z_]+\b")
NAMED = re.compile(r"[a-z_:]+")
LATER = {"cfplan_nightly_success_timestamp_seconds", "cfplan_notice_given_up_timestamp_seconds"}
"""Metrics that exist only after a nightly run whose job has ended, and after a message with notices was given up."""

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="no promtool on PATH: install Debian's package prometheus"
)
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="no prometheus on PATH: install Debian's package prometheus"
)


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


# ---- without Prometheus ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    fill(app)
    return app


def test_every_metric_of_dashboard_and_rules_exists(filled: FastAPI) -> None:
    get(filled, "/api/v1/fleet")
    text = get(filled, "/metrics", accept="application/openmetrics-text; version=1.0.0").text
    exported = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if not line.startswith("#")}
    labels = {"cfplan_nightly_state"}
    used = {name for each in queries(variables()) for name in NAMES.findall(each.text)}
    used |= {name for rule in rules() for name in NAMES.findall(rule["expr"])}
    listed = dashboard()["templating"]["list"]
    used |= {name for each in listed for name in NAMES.findall(json.dumps(each.get("query", "")))}
    assert used - exported - labels <= LATER
    assert len(used) > 15


def test_panels_do_not_overlap_and_name_the_chosen_data_source() -> None:
    covered: dict[tuple[int, int], str] = {}
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        for cell in (
            (x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
        ):
            assert covered.setdefault(cell, panel["title"]) == panel["title"]
        for target in panel.get("targets", ()):
            assert (
                target["datasource"] == panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            )
        if panel["type"] != "row":
            assert panel["description"].endswith(".")


def test_every_rule_has_a_case_on_both_sides_of_its_limit() -> None:
    cases = yaml.safe_load(RULE_TESTS.read_text())["tests"]
    recorded = {NAMED.match(each["expr"])[0] for case in cases for each in case.get("promql_expr_test", ())}  # type: ignore[index]
    for rule in rules():
        if "record" in rule:
            assert rule["record"] in recorded
            continue
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"]["summary"].endswith(".")
        assert any(changes_within_a_minute(case, rule["alert"]) for case in cases), rule["alert"]


def changes_within_a_minute(case: dict[str, Any], alert: str) -> bool:
    """Return whether a case expects different alerts in two consecutive minutes."""
    found = {
        int(each["eval_time"].removesuffix("m")): each["exp_alerts"]
        for each in case.get("alert_rule_test", ())
        if each["alertname"] == alert
    }
    return any(len(found[at]) != len(found[at + 1]) for at in found if at + 1 in found)


def test_dashboard_fits_the_published_schema() -> None:
    reason = "grafana-foundation-sdk, which carries the schema of dashboards, is not installed"
    models = pytest.importorskip("grafana_foundation_sdk.models.dashboard", reason=reason)
    encoder = pytest.importorskip("grafana_foundation_sdk.cog.encoder")
    pytest.importorskip("grafana_foundation_sdk.cog.plugins").register_default_plugins()
    given = dashboard()
    read = json.loads(encoder.JSONEncoder().encode(models.Dashboard.from_json(given)))
    # The reader drops members that the schema does not have.
    assert lost(given, read, "") == []


def lost(given: Any, read: Any, at: str) -> list[str]:  # noqa: ANN401 - any JSON value
    """Return the places of members that differ or that are missing after reading."""
    if isinstance(given, dict):
        return [
            place
            for name, value in given.items()
            for place in (
                lost(value, read[name], f"{at}/{name}")
                if isinstance(read, dict) and name in read
                else [f"{at}/{name}"]
            )
        ]
    if isinstance(given, list):
        if not isinstance(read, list) or len(read) != len(given):
            return [at]
        return [place for nth, value in enumerate(given) for place in lost(value, read[nth], f"{at}/{nth}")]
    return [] if given == read else [at]


# ---- with Prometheus -------------------------------------------------------------------------------------------------


@needs_promtool
def test_rules_and_configuration_are_valid(tmp_path: Path) -> None:
    promtool("check", "rules", str(RULES))
    token = tmp_path / "cfplan-token"
    token.write_text("x")
    # promtool checks that the file with the token exists.
    copied = tmp_path / "prometheus.yml"
    copied.write_text(EXAMPLE.read_text().replace("/etc/prometheus/cfplan-token", str(token)))
    shutil.copy(RULES, tmp_path)
    promtool("check", "config", str(copied))


@needs_promtool
def test_alerts_fire_and_do_not_fire(tmp_path: Path) -> None:
    shutil.copy(RULES, tmp_path)
    shutil.copy(RULE_TESTS, tmp_path)
    promtool("test", "rules", str(tmp_path / RULE_TESTS.name))


@needs_promtool
def test_metrics_follow_the_conventions_of_prometheus(filled: FastAPI) -> None:
    text = get(filled, "/metrics").text
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    # IBM's name ends with percent, where Prometheus recommends a ratio.
    remarks = [line for line in done.stderr.splitlines() if not line.startswith("mvs_cf_")]
    assert remarks == []


def promtool(*arguments: str) -> None:
    done = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_prometheus
@pytest.mark.long
def test_prometheus_scrapes_with_a_token_and_answers_every_query(tmp_path: Path) -> None:
    fill(create_app(Settings(data_dir=tmp_path / "data")))
    app = app_with_accounts(tmp_path)
    add_user(app, "prometheus", "viewer")
    token = tmp_path / "token"
    token.write_text(add_token(app, "prometheus", "viewer"))
    with (
        served(app, runs_jobs=False) as address,
        prometheus(tmp_path, scraping(address, token)) as server,
    ):
        wait_for(server, 'count_over_time(up{job="cfplan"}[1m]) >= 3')
        assert [each["value"][1] for each in query(server, 'up{job="cfplan"}')] == ["1"]
        (choice,) = (each for each in dashboard()["templating"]["list"] if each["type"] == "query")
        asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", choice["query"]["query"])
        assert asked is not None
        # Grafana asks for the choices of such a variable at this address.
        offered = httpx.get(
            f"{server}/api/v1/label/{asked[2]}/values", params={"match[]": asked[1]}, timeout=ANSWER_S
        )
        assert offered.json()["data"] == ["SQ03"]
        # All groups, one group, and several, as Grafana inserts them.
        for chosen in (variables(), variables(qsg="SQ03"), variables(qsg="(SQ03|SQ07)")):
            for each in queries(chosen):
                found = query(server, each.text)
                assert found, each
                for series in found:
                    assert labels_of(each) <= set(series["metric"]), each
        for each in queries(variables(qsg="NONE")):
            is_constant = "vector(" in each.text
            assert "qsg=~" not in each.text or is_constant or not query(server, each.text), each
        listed = httpx.get(f"{server}/api/v1/rules", timeout=ANSWER_S).json()["data"]["groups"]
        assert {rule["health"] for group in listed for rule in group["rules"]} <= {"ok", "unknown"}
        assert "CfplanStructureFull" in {
            each["labels"]["alertname"]
            for each in httpx.get(f"{server}/api/v1/alerts", timeout=ANSWER_S).json()["data"]["alerts"]
        }


def labels_of(asked: PanelQuery) -> set[str]:
    """Return the labels that the legend of a query or the columns of its table use."""
    if asked.format != "table":
        return set(re.findall(r"\{\{(\w+)\}\}", asked.legend))
    (panel,) = (each for each in dashboard()["panels"] if each["id"] == asked.panel)
    (columns,) = (
        each["options"]["renameByName"] for each in panel["transformations"] if each["id"] == "organize"
    )
    # Only shared message data sets have a queue manager; Prometheus drops labels without a value.
    return {name for name in columns if not name.startswith("Value")} - {"queue_manager"}


def scraping(address: str, token: Path) -> dict[str, Any]:
    """Return the example configuration, for a service at this address and with short intervals."""
    configuration: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    (scrape,) = configuration["scrape_configs"]
    scrape["static_configs"] = [{"targets": [address.removeprefix("http://")]}]
    scrape["authorization"]["credentials_file"] = str(token)
    scrape["scrape_interval"] = "1s"
    configuration["global"] = {"evaluation_interval": "1s"}
    configuration["rule_files"] = [str(RULES)]
    return configuration
