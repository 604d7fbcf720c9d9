"""Messages arrive at least once, on verified connections, whatever the servers answer."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.audit.models import AuditEntry
from app.clock import utc_now
from app.main import create_app
from app.monitoring.facts import read_facts
from app.notices import dispatcher as dispatcher_module
from app.notices import outbox
from app.notices.channels import SendingFailed, configured, send
from app.notices.message import test_message as made_test_message
from app.notices.models import Channel, DeliveryState
from app.settings import Settings, SettingsInvalid, read_settings
from tests.app.notices.servers import ADDRESS, Server, mail_server, webhook
from tests.app.notices.support import NOW, PASSWORD, Site, mail_settings, webhook_settings
from tests.app.notices.test_finding import fail, fail_after_first_look
from tests.prepared import commands

MESSAGE = made_test_message("0" * 32, NOW)


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[Server]:
    with webhook(tmp_path / "tls") as found:
        yield found


def waiting_site(settings: Settings) -> Site:
    """Return a site with one notice that is due."""
    site = Site.of(settings)
    fail_after_first_look(site)
    return site


# ---- mail ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_sent_encrypted_after_sign_in(tmp_path: Path, security: str) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    with mail_server(tmp_path / "tls", security=security, password=PASSWORD) as server:
        settings = mail_settings(
            tmp_path, server, smtp_security=security, smtp_user="cfplan", smtp_password_file=str(file)
        )
        assert send(Channel.EMAIL, MESSAGE, settings) == ""
    (mail,) = server.mails
    assert server.was_encrypted == [True]
    assert server.signed_in == ["cfplan"]
    assert server.recipients == [["anna@example.com", "mq-team@example.com"]]
    assert mail["message-id"] == f"<cfplan-{'0' * 32}@example.com>"
    assert mail["date"] == "Fri, 27 Nov 2026 12:00:00 +0000"
    assert mail["auto-submitted"] == "auto-generated"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("busy", "421"),
        (
            "no starttls",
            r"cannot be used: STARTTLS extension not supported by server\. Check CFPLAN_SMTP_HOST",
        ),
        ("refuse all", "refused all recipients: 550"),
        ("full", "451 full"),
        ("cut before the end", "cannot be used: connection unexpectedly closed"),
        ("cut after the end", "cannot be used: connection unexpectedly closed"),
        ("silent", "cannot be used: no answer in time"),
    ],
)
def test_errors_of_the_mail_server_are_reported(tmp_path: Path, fault: str, words: str) -> None:
    with mail_server(tmp_path / "tls") as server:
        server.faults.append(fault)
        timeout_s = 1 if fault == "silent" else 60
        with pytest.raises(SendingFailed, match=words):
            send(Channel.EMAIL, MESSAGE, mail_settings(tmp_path, server, notice_timeout_s=timeout_s))


def test_recipient_that_is_refused_is_a_remark(tmp_path: Path) -> None:
    with mail_server(tmp_path / "tls") as server:
        server.faults.append("refuse first")
        remark = send(Channel.EMAIL, MESSAGE, mail_settings(tmp_path, server))
    assert remark == "Refused recipients: 550 no such mailbox"
    assert server.recipients == [["mq-team@example.com"]]


def test_wrong_password_is_reported_without_it(tmp_path: Path) -> None:
    with mail_server(tmp_path / "tls", password="another") as server:
        settings = mail_settings(tmp_path, server, smtp_user="cfplan", smtp_password=PASSWORD)
        with pytest.raises(SendingFailed, match=r"535 wrong password \*\*\*"):
            send(Channel.EMAIL, MESSAGE, settings)
    assert server.mails == []


def test_password_is_hidden_before_a_long_reply_is_shortened(tmp_path: Path) -> None:
    password = "secret" * 50
    with mail_server(tmp_path / "tls", password="another") as server:
        settings = mail_settings(tmp_path, server, smtp_user="cfplan", smtp_password=password)
        with pytest.raises(SendingFailed, match=r"535 wrong password \*\*\*") as failed:
            send(Channel.EMAIL, MESSAGE, settings)
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize("channel", list(Channel))
def test_certificate_of_another_authority_is_refused(tmp_path: Path, channel: Channel) -> None:
    with mail_server(tmp_path / "a") as server, webhook(tmp_path / "b") as hook:
        # Each has the certificate of the other one.
        settings = mail_settings(
            tmp_path,
            server,
            smtp_ca_file=str(hook.certificate),
            webhook_url=f"https://{ADDRESS}:{hook.port}/",
            webhook_ca_file=str(server.certificate),
        )
        name = "SMTP" if channel is Channel.EMAIL else "WEBHOOK"
        with pytest.raises(SendingFailed, match=rf"certificate cannot be verified: .*CFPLAN_{name}_CA_FILE"):
            send(channel, MESSAGE, settings)
    assert (server.mails, hook.posts) == ([], [])


# ---- webhook ---------------------------------------------------------------------------------------------------------


def test_webhook_gets_the_notices_as_json_with_a_key_and_a_token(tmp_path: Path, hook: Server) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook, webhook_token="t0ken-17"))
    assert site.look() == 1
    ((headers, document),) = hook.posts
    assert headers["authorization"] == "Bearer t0ken-17"
    assert headers["idempotency-key"] == document["id"]
    assert document["version"] == 1
    (notice,) = document["notices"]
    assert (notice["kind"], notice["severity"], notice["href"]) == ("nightly_failed", "error", "/nights/2")
    assert notice["text"].startswith("The disk is full.")


@pytest.mark.parametrize("fault", ["500", "404", "302", "cut before the end", "cut after the end", "drip"])
def test_errors_of_the_webhook_are_retried_with_the_same_key(
    tmp_path: Path, hook: Server, fault: str
) -> None:
    timeout_s = 1 if fault == "drip" else 60
    site = waiting_site(webhook_settings(tmp_path / "data", hook, notice_timeout_s=timeout_s))
    hook.faults.append(fault)
    assert site.look() == 0
    (delivery,) = site.deliveries()
    assert delivery.state == DeliveryState.WAITING
    assert delivery.error
    assert "T0PS3CRET" not in delivery.error
    assert site.look(after=timedelta(seconds=59)) == 0
    assert site.look(after=timedelta(seconds=1)) == 1
    assert hook.connections == 2
    assert len({headers["idempotency-key"] for headers, _ in hook.posts}) == 1
    (delivery,) = site.deliveries()
    assert (delivery.state, delivery.attempts, delivery.error) == (DeliveryState.SENT, 2, "")


def test_redirect_is_not_followed(tmp_path: Path, hook: Server) -> None:
    hook.faults.append("302")
    with pytest.raises(SendingFailed, match="status 302"):
        send(Channel.WEBHOOK, MESSAGE, webhook_settings(tmp_path, hook))
    assert hook.connections == 1


def test_proxies_of_the_environment_are_not_used(
    tmp_path: Path, hook: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{ADDRESS}:9")
    assert send(Channel.WEBHOOK, MESSAGE, webhook_settings(tmp_path, hook)) == ""


# ---- the outbox ------------------------------------------------------------------------------------------------------


def test_message_is_given_up_after_three_days_and_both_ends_are_in_the_audit_trail(
    tmp_path: Path, hook: Server
) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook))
    hook.faults.extend(["500"] * 3)
    site.look()
    site.look(after=timedelta(days=2, hours=23))
    assert [each.state for each in site.deliveries()] == [DeliveryState.WAITING]
    assert read_facts(site.database).notices_given_up_at == {}
    site.look(after=timedelta(hours=2))
    (delivery,) = site.deliveries()
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, 3)
    assert delivery.ended_at is not None
    assert read_facts(site.database).notices_given_up_at == {"webhook": delivery.ended_at}
    assert delivery.error == f"The webhook at https://{ADDRESS}:{hook.port} answered with status 500."
    fail(site)
    assert site.look(after=timedelta(hours=1)) == 1
    with site.database.session(writes=False) as session:
        entries = session.execute(
            select(AuditEntry.action, AuditEntry.actor, AuditEntry.details).where(
                AuditEntry.object_kind == "notice"
            )
        ).all()
    assert [(each.action, each.actor) for each in entries] == [
        ("notice.failed", "service"),
        ("notice.sent", "service"),
    ]
    assert not any("T0PS3CRET" in each.details for each in entries)


def test_message_that_was_sent_but_not_marked_is_sent_again_with_the_same_key(
    tmp_path: Path, hook: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook))

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "_end", crash)
        with pytest.raises(KeyboardInterrupt):
            site.look()
    assert len(hook.posts) == 1
    assert site.look() == 0  # the attempt still counts as running
    assert site.look(after=timedelta(minutes=2)) == 1
    assert len({headers["idempotency-key"] for headers, _ in hook.posts}) == 1
    assert len(hook.posts) == 2


def test_killed_process_leaves_the_message_to_the_next_one(tmp_path: Path) -> None:
    with mail_server(tmp_path / "tls") as server:
        site = Site.of(mail_settings(tmp_path / "data", server, notice_timeout_s=30))
        site.now = utc_now()
        fail_after_first_look(site)
        server.faults.append("silent")
        environment = {**os.environ, **environment_of(site.settings)}
        with commands().start("app.cli", "notices", "send", environment=environment) as process:
            try:
                end = time.monotonic() + 120
                while not server.connections:
                    assert process.poll() is None
                    assert time.monotonic() < end
                    time.sleep(0.05)
            finally:
                process.kill()
        site.now = utc_now()
        assert site.look() == 0
        assert site.look(after=timedelta(hours=1)) == 1
    assert len(site.notices()) == 1
    assert len(server.mails) == 1


def environment_of(settings: Settings) -> dict[str, str]:
    return {
        f"CFPLAN_{name.upper()}": value
        for name in ("smtp_host", "smtp_ca_file", "notice_from", "base_url")
        if (value := getattr(settings, name))
    } | {
        "CFPLAN_DATA_DIR": str(settings.data_dir),
        "CFPLAN_SMTP_PORT": str(settings.smtp_port),
        "CFPLAN_NOTICE_TO": ",".join(settings.notice_to),
        "CFPLAN_NOTICE_TIMEOUT_S": "30",
    }


def test_channel_that_was_removed_is_given_up(tmp_path: Path, hook: Server) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook))
    hook.faults.append("500")
    site.look()
    with mail_server(tmp_path / "mail") as server:
        site.settings = mail_settings(tmp_path / "data", server)
        site.look(after=timedelta(minutes=1))
    (delivery,) = site.deliveries()
    assert (delivery.state, delivery.error) == (DeliveryState.FAILED, outbox.NOT_CONFIGURED)


def settings_of_both(folder: Path, mail: Server, hook: Server, **changes: Any) -> Settings:  # noqa: ANN401 - of settings
    """Return settings that send by mail and to a webhook."""
    webhook = {"webhook_url": f"https://{ADDRESS}:{hook.port}/", "webhook_ca_file": str(hook.certificate)}
    return mail_settings(folder, mail, **webhook, **changes)


def test_two_channels_are_independent(tmp_path: Path, hook: Server) -> None:
    with mail_server(tmp_path / "mail") as server:
        both = settings_of_both(tmp_path / "data", server, hook)
        site = waiting_site(both)
        hook.faults.append("500")
        assert site.look() == 1
        assert site.look(after=timedelta(minutes=1)) == 1
        assert (len(server.mails), len(hook.posts)) == (1, 2)


def test_slow_mail_server_does_not_delay_the_webhook(tmp_path: Path, hook: Server) -> None:
    with mail_server(tmp_path / "mail") as server:
        both = settings_of_both(
            tmp_path / "data",
            server,
            hook,
            notice_timeout_s=300,
            notice_quiet_hours=0,
        )
        site = waiting_site(both)
        server.faults.append("silent")
        dispatcher = site.dispatcher()
        for posts in (1, 2):
            end = time.monotonic() + 60
            while len(hook.posts) < posts:
                assert time.monotonic() < end
                dispatcher._begin()  # as the thread of the service does, which does not wait
                time.sleep(0.02)
            site.now += timedelta(seconds=1)
            fail(site)
        assert (server.connections, server.mails) == (1, [])


def test_channel_may_begin_to_send_while_the_end_of_the_service_waits_for_another(
    tmp_path: Path, hook: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = waiting_site(webhook_settings(tmp_path / "data", hook)).dispatcher()
    waiting, other = (dispatcher_module._Sending(lambda: 0) for _ in range(2))

    def join(timeout: float | None = None) -> None:
        dispatcher._sendings["webhook"] = other

    monkeypatch.setattr(waiting, "join", join)
    dispatcher._sendings["email"] = waiting
    dispatcher.stop()
    assert list(dispatcher._sendings) == ["email", "webhook"]


def test_many_notices_are_divided_into_messages(
    tmp_path: Path, hook: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_IN_MESSAGE", 2)
    site = waiting_site(webhook_settings(tmp_path / "data", hook, notice_quiet_hours=0))
    for _ in range(4):
        fail(site)
    assert site.look() == 3
    assert [len(document["notices"]) for _, document in hook.posts] == [2, 2, 1]


def test_log_contains_no_credential(tmp_path: Path, hook: Server, caplog: pytest.LogCaptureFixture) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook, webhook_token="t0ken-17"))
    hook.faults.append("500")
    with caplog.at_level(logging.DEBUG):
        site.look()
        site.look(after=timedelta(minutes=1))
    own = [each.getMessage() for each in caplog.records if each.name == "cfplan.notices"]
    assert any("status 500" in each for each in own)
    # httpx logs the whole address, at a level that the service does not log.
    assert not any("T0PS3CRET" in each or "t0ken" in each for each in own)
    assert "T0PS3CRET" not in repr(site.settings)
    assert "t0ken-17" not in repr(site.settings)


# ---- settings --------------------------------------------------------------------------------------------------------


def test_without_a_channel_nothing_is_looked_for_or_contacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a connection was opened")

    app = create_app(Settings(data_dir=tmp_path))
    app.state.database.prepare()
    monkeypatch.setattr(socket.socket, "connect", refuse)
    dispatcher = app.state.dispatcher
    dispatcher.start()
    assert dispatcher._thread is None
    assert configured(app.state.settings) == ()
    dispatcher.stop()


def test_service_sends_without_a_request(tmp_path: Path, hook: Server) -> None:
    site = waiting_site(webhook_settings(tmp_path / "data", hook))
    # The notices of a site whose clock is behind are due at once.
    dispatcher = site.dispatcher()
    dispatcher.start()
    try:
        end = time.monotonic() + 60
        while not site.deliveries() or site.deliveries()[0].state != DeliveryState.SENT:
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        dispatcher.stop()
    assert len(hook.posts) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"smtp_host": "mail"}, "CFPLAN_NOTICE_FROM"),
        ({"notice_to": "anna"}, "'anna' is not an email address"),
        ({"notice_to": "a@b.com\nBcc: c@d.com"}, "is not an email address"),
        ({"webhook_url": "http://example.com/T0PS3CRET"}, "begins with https"),
        ({"webhook_url": "https://user:pass@example.com/T0PS3CRET"}, "without a user"),
        ({"webhook_token": "x"}, "CFPLAN_WEBHOOK_URL"),
        ({"base_url": "cfplan.example.com"}, "is not an address"),
        ({"smtp_user": "u"}, "CFPLAN_SMTP_PASSWORD"),
        (
            {
                "smtp_host": "mail",
                "notice_from": "a@b.com",
                "notice_to": "a@b.com",
                "smtp_user": "u",
                "smtp_password": "p",
                "smtp_security": "none",
            },
            "in the clear",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsInvalid, match=words) as found:
        read_settings(**given)
    assert "T0PS3CRET" not in str(found.value)


def test_jobs_get_no_settings_of_notices(tmp_path: Path, hook: Server) -> None:
    settings = webhook_settings(tmp_path, hook, webhook_token="t0ken-17")
    environment = settings.as_environment()
    assert not any("T0PS3CRET" in value or "t0ken" in value for value in environment.values())


def test_file_that_cannot_be_read_is_an_error_of_the_attempt(tmp_path: Path, hook: Server) -> None:
    settings = webhook_settings(tmp_path, hook, webhook_token_file=str(tmp_path / "none"))
    with pytest.raises(SendingFailed, match="CFPLAN_WEBHOOK_TOKEN_FILE"):
        send(Channel.WEBHOOK, MESSAGE, settings)
    missing = webhook_settings(tmp_path, hook, webhook_ca_file=str(tmp_path / "none"))
    with pytest.raises(SendingFailed, match="CFPLAN_WEBHOOK_CA_FILE"):
        send(Channel.WEBHOOK, MESSAGE, missing)
