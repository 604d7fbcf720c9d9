"""Notices on their page, over REST, in the metrics and by the command."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from app.cli import main
from app.main import create_app
from app.settings import Settings
from tests.app.notices.servers import ADDRESS, webhook
from tests.app.notices.support import Site, webhook_settings
from tests.app.notices.test_finding import fail, fail_after_first_look
from tests.app.web.support import get


def test_page_rest_and_command_show_sent_waiting_and_held_back_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with webhook(tmp_path / "tls") as hook:
        site = Site.of(webhook_settings(tmp_path / "data", hook))
        fail_after_first_look(site)
        hook.faults.append("500")
        site.look()
        fail(site)
        site.look(after=timedelta(seconds=1))
    for module in ("api", "pages"):
        monkeypatch.setattr(f"app.notices.{module}.utc_now", lambda: site.now)
    app = create_app(site.settings)
    host = f"https://{ADDRESS}:{hook.port}"
    error = f"The webhook at {host} answered with status 500."
    found = get(app, "/api/v1/notices").json()
    second, first = found["notices"]
    assert (found["total"], first["state"], second["state"]) == (2, "waiting", "quiet")
    assert first["deliveries"][0] == {
        "channel": "webhook", "state": "waiting", "attempts": 1, "next_at": "2026-11-27T12:01:00Z", "ended_at": None,
        "error": error,
    }  # fmt: skip
    assert second["due_at"] == "2026-11-28T12:00:00Z"
    page = get(app, "/notices").text
    for part in (f"Webhook: {host}", error, "Nightly run 2 failed", "Nightly run 3 failed", "/nights/3"):
        assert part in page
    assert "1 attempt, next 2026-11-27 12:01 UTC. The webhook" in page
    assert "until 2026-11-28 12:00 UTC" in page
    assert "&lt;" not in page
    assert "T0PS3CRET" not in page
    metrics = get(app, "/metrics").text
    assert "cfplan_notices_waiting 1.0\n" in metrics
    assert 'cfplan_notice_messages{channel="webhook",state="waiting"} 1.0\n' in metrics
    for channel, state in (("webhook", "failed"), ("email", "waiting")):
        assert f'cfplan_notice_messages{{channel="{channel}",state="{state}"}} 0.0\n' in metrics
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    assert main(["notices", "list"]) == 0
    printed = capsys.readouterr().out
    assert "waiting  Nightly run 2 failed\n" in printed
    assert f"    webhook: {error}\n" in printed
    assert main(["notices", "list", "--json", "--limit", "1"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["notices"]] == [second["id"]]


def test_page_states_that_messages_were_given_up_and_what_to_do(tmp_path: Path) -> None:
    with webhook(tmp_path / "tls") as hook:
        site = Site.of(webhook_settings(tmp_path / "data", hook))
        fail_after_first_look(site)
        hook.faults.extend(["500"] * 2)
        site.look()
        app = create_app(site.settings)
        assert "given up" not in get(app, "/notices").text
        site.look(after=timedelta(days=3))
        # A later message that arrives must not hide it.
        fail(site)
        assert site.look(after=timedelta(hours=1)) == 1
    page = get(app, "/notices").text
    assert "The last message was sent." in page
    assert "<strong>1 message was given up</strong>" in page
    assert "cfplan notices test" in page


def test_page_without_channels_states_that_nothing_is_sent(tmp_path: Path) -> None:
    page = get(create_app(Settings(data_dir=tmp_path)), "/notices").text
    assert "No notices are sent" in page
    assert "There are no notices" in page


def test_test_command_reports_each_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with webhook(tmp_path / "tls") as hook:
        settings = webhook_settings(tmp_path / "data", hook)
        monkeypatch.setenv("CFPLAN_WEBHOOK_URL", settings.webhook_url)
        monkeypatch.setenv("CFPLAN_WEBHOOK_CA_FILE", settings.webhook_ca_file)
        assert main(["notices", "test"]) == 0
        hook.faults.append("401")
        assert main(["notices", "test", "--channel", "webhook"]) == 1
        assert main(["notices", "test", "--channel", "email"]) == 2
    host = f"https://{ADDRESS}:{hook.port}"
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        f"webhook: sent to {host}.",
        f"webhook: not sent to {host}. The webhook at {host} answered with status 401.",
    ]
    assert "CFPLAN_SMTP_HOST" in captured.err
    assert [document["notices"][0]["kind"] for _, document in hook.posts] == ["test", "test"]
