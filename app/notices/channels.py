"""Send a message by mail or to a webhook.

Only the hosts in the settings are contacted, over connections whose certificates are verified. No exception contains a
credential or the path of a webhook, which often is one.
"""

from __future__ import annotations

import json
import smtplib
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final
from urllib.parse import urlsplit

from app.network_errors import is_untrusted, reason_of
from app.notices.message import Message, document_of, mail_of
from app.notices.models import Channel
from app.settings import Settings, SettingsInvalid, secret_of
from planner_core import CORE_VERSION
from planner_core.errors import PlannerError

STEPS: Final = 3
"""A whole message may take this many times the time of one step."""
LONGEST_ERROR: Final = 300
_SUCCESS: Final = range(200, 300)


class SendingFailed(PlannerError):
    """A message could not be sent; a later attempt may succeed."""


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A configured channel, as pages and commands describe it: without addresses of recipients, paths or credentials."""

    channel: Channel
    target: str


def configured(settings: Settings) -> tuple[ChannelInfo, ...]:
    """Return the channels of the settings."""
    found = []
    if settings.smtp_host:
        count = len(settings.notice_to)
        to = "1 recipient" if count == 1 else f"{count} recipients"
        found.append(ChannelInfo(Channel.EMAIL, f"{to} by {settings.smtp_host}:{settings.smtp_port}"))
    if settings.webhook_url:
        found.append(ChannelInfo(Channel.WEBHOOK, _host_of(settings.webhook_url)))
    return tuple(found)


def send(channel: Channel, message: Message, settings: Settings) -> str:
    """Send a message and return a remark, usually empty.

    Raises:
        SendingFailed: It was not sent, or it is not known whether it was.
    """
    sender = {Channel.EMAIL: _send_mail, Channel.WEBHOOK: _post}[channel]
    try:
        return _within(STEPS * settings.notice_timeout_s, lambda: sender(message, settings))
    except SendingFailed as error:
        raise SendingFailed(_without_secrets(str(error), settings)) from None


def _without_secrets(text: str, settings: Settings) -> str:
    """Return an error without credentials, which a server might repeat in its reply."""
    for name in ("smtp_password", "webhook_token"):
        with suppress(SettingsInvalid):
            if secret := secret_of(settings, name):
                text = text.replace(secret, "***")
    return text


def _within(seconds: float, work: Callable[[], str]) -> str:
    """Return the result of some work, or fail after a number of seconds, however slowly the other side answers."""
    ended: SimpleQueue[str | Exception] = SimpleQueue()

    def run() -> None:
        try:
            ended.put(work())
        except Exception as error:  # noqa: BLE001 - raised again below
            ended.put(error)

    # A daemon, because it cannot be stopped: the time limits of its steps end it later.
    threading.Thread(target=run, name="cfplan-notice", daemon=True).start()
    try:
        found = ended.get(timeout=seconds)
    except Empty:
        message = f"No answer within {seconds:g} seconds. It is not known whether the message arrived."
        raise SendingFailed(message) from None
    if isinstance(found, Exception):
        raise found
    return found


def _context(ca_file: str, variable: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        message = f"{variable}: {ca_file} cannot be read: {getattr(error, 'strerror', None) or error}."
        raise SendingFailed(message) from None


# ---- mail ------------------------------------------------------------------------------------------------------------


def _send_mail(message: Message, settings: Settings) -> str:
    mail = mail_of(
        message, sender=settings.notice_from, recipients=settings.notice_to, base_url=settings.base_url
    )
    try:
        password = secret_of(settings, "smtp_password")
        context = (
            None
            if settings.smtp_security == "none"
            else _context(settings.smtp_ca_file, "CFPLAN_SMTP_CA_FILE")
        )
        with _connected(settings, context) as server:
            if settings.smtp_user:
                server.login(settings.smtp_user, password)
            refused = server.send_message(
                mail, from_addr=settings.notice_from, to_addrs=list(settings.notice_to)
            )
    except SettingsInvalid as error:
        raise SendingFailed(str(error)) from None
    except smtplib.SMTPRecipientsRefused as error:
        msg = f"The mail server refused all recipients: {_replies(error.recipients, settings)}"
        raise SendingFailed(msg) from None
    except smtplib.SMTPResponseException as error:
        # Also the refusal of the password; the reply of the server does not contain it.
        msg = f"The mail server answered {_reply(error.smtp_code, error.smtp_error, settings)}"
        raise SendingFailed(msg) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        server_name = f"{settings.smtp_host}:{settings.smtp_port}"
        advice = _advice_of(
            error, "CFPLAN_SMTP_CA_FILE", "CFPLAN_SMTP_HOST, CFPLAN_SMTP_PORT and CFPLAN_SMTP_SECURITY"
        )
        msg = f"The mail server {server_name} cannot be used: {_plain(reason_of(error), settings)}. {advice}"
        raise SendingFailed(msg) from None
    return f"Refused recipients: {_replies(refused, settings)}" if refused else ""


def _connected(settings: Settings, context: ssl.SSLContext | None) -> smtplib.SMTP:
    # A name of its own, because smtplib would look up the name of this machine in the DNS.
    name = settings.notice_from.rpartition("@")[2]
    host, port, timeout = settings.smtp_host, settings.smtp_port, settings.notice_timeout_s
    if settings.smtp_security == "tls":
        return smtplib.SMTP_SSL(host, port, local_hostname=name, timeout=timeout, context=context)
    server = smtplib.SMTP(host, port, local_hostname=name, timeout=timeout)
    try:
        if context is not None:
            server.starttls(context=context)
    except BaseException:
        server.close()
        raise
    return server


def _replies(recipients: Mapping[str, tuple[int, bytes]], settings: Settings) -> str:
    return "; ".join(_reply(code, text, settings) for code, text in recipients.values())[:LONGEST_ERROR]


def _reply(code: int, text: bytes | str, settings: Settings) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return f"{code} {_plain(words, settings)}"


# ---- webhook ---------------------------------------------------------------------------------------------------------


def _post(message: Message, settings: Settings) -> str:
    import httpx

    headers = {
        "content-type": "application/json",
        "user-agent": f"cfplan/{CORE_VERSION}",
        "idempotency-key": message.key,
    }
    try:
        token = secret_of(settings, "webhook_token")
    except SettingsInvalid as error:
        raise SendingFailed(str(error)) from None
    if token:
        headers["authorization"] = f"Bearer {token}"
    body = json.dumps(document_of(message, base_url=settings.base_url)).encode()
    host = _host_of(settings.webhook_url)
    context = _context(settings.webhook_ca_file, "CFPLAN_WEBHOOK_CA_FILE")
    try:
        # Neither redirects nor proxies of the environment: only the host in the settings is contacted.
        with (
            httpx.Client(
                verify=context, timeout=settings.notice_timeout_s, follow_redirects=False, trust_env=False
            ) as client,
            # Only the status is read: the body may be endless.
            client.stream("POST", settings.webhook_url, content=body, headers=headers) as answer,
        ):
            status = answer.status_code
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        reason = _plain(reason_of(error).replace(settings.webhook_url, host), settings)
        advice = _advice_of(error, "CFPLAN_WEBHOOK_CA_FILE", "CFPLAN_WEBHOOK_URL")
        msg = f"The webhook at {host} cannot be used: {reason}. {advice}"
        raise SendingFailed(msg) from None
    if status not in _SUCCESS:
        msg = f"The webhook at {host} answered with status {status}."
        raise SendingFailed(msg)
    return ""


def _host_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _advice_of(error: Exception, ca_file: str, address: str) -> str:
    if is_untrusted(error):
        return f"Enter the file of the authority that signed its certificate in {ca_file}."
    return f"Check {address}, and that the server runs."


def _plain(text: str, settings: Settings) -> str:
    # Before the text is shortened: the beginning of a credential could not be found any more.
    text = _without_secrets(text, settings)
    printable = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(printable.split())[:LONGEST_ERROR]
