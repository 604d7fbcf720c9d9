from __future__ import annotations

import gzip
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import logs
from app.connections.client import Client, Reply, open_client
from app.connections.declared import RequestLimits, connection_named
from app.connections.errors import ConnectionFailed, ConnectionsInvalid
from app.settings import Settings
from tests.connections_support.certificates import make_certificates
from tests.connections_support.server import (
    PASSWORD,
    USER,
    Answer,
    Fault,
    Received,
    StandIn,
    entry_of,
    write_credentials,
    write_file,
)


def answered(request: Received) -> Answer:
    return Answer.json({"path": request.path, "padding": "x" * 1000})


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn.serving(tmp_path, answered) as found:
        yield found


def client_of(stand_in: StandIn, folder: Path, **more: object) -> Client:
    file = write_file(folder, {"PLEX1": entry_of(stand_in, folder, "zosmf", **more)})
    settings = Settings(connections_file=str(file))
    return open_client("PLEX1", connection_named(settings, "PLEX1"))


def failure(client: Client, method: str = "GET", path: str = "/a") -> ConnectionFailed:
    with client, pytest.raises(ConnectionFailed) as caught:
        client.get(path) if method == "GET" else client.send(method, path, body={})
    return caught.value


def test_answer_is_read_over_tls_with_basic_authentication(stand_in: StandIn, tmp_path: Path) -> None:
    with client_of(stand_in, tmp_path) as client:
        reply = client.get("/a", params={"b": "c d"})
    assert reply.json()["path"] == "/a"
    assert stand_in.requests[0].query == {"b": ["c d"]}


@pytest.mark.parametrize(
    "value", ["NaN", "-Infinity", "1e999", r'"\ud800"', "[" * 100_000, "9" * 5000], ids=lambda each: each[:9]
)
def test_json_that_could_not_be_sent_back_is_refused(value: str) -> None:
    reply = Reply("PLEX1", "GET", "/a", 200, "application/json", f'{{"a": {value}}}'.encode())
    with pytest.raises(ConnectionFailed, match="is not JSON"):
        reply.json()
    assert Reply("PLEX1", "GET", "/a", 200, "", rb'{"a": [1.5, "\u00e9"]}').json() == {"a": [1.5, "é"]}


def test_unknown_authority_is_refused_before_anything_is_sent(stand_in: StandIn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    error = failure(client_of(stand_in, tmp_path, ca_file=str(make_certificates(other).authority)))
    assert "certificate" in error.fault
    assert "ca_file" in error.advice
    assert not error.is_uncertain
    assert stand_in.requests == []


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(is_silent=True), "No answer within 1 seconds"),
        (Fault(drips=True), "not complete after 2 seconds"),
        (Fault(drips_headers=True), "not complete after 2 seconds"),
        (Fault(cut_after=10), "cut off"),
        (Fault(status=500, body=b"EDC5129I"), "status 500: EDC5129I"),
        (Fault(status=302, headers={"location": "https://example.com/"}), "redirect (status 302)"),
        (Fault(status=404), "status 404"),
    ],
)  # fmt: skip
def test_bad_answers_name_connection_method_path_and_advice(
    stand_in: StandIn, tmp_path: Path, fault: Fault, said: str
) -> None:
    stand_in.faults.append(fault)
    error = failure(client_of(stand_in, tmp_path, timeout_s=1, total_s=2, attempts=1))
    assert str(error).startswith("Connection PLEX1: GET /a: ")
    assert said in error.fault
    assert error.advice
    assert len(stand_in.requests) == 1


def test_request_with_its_own_limits_may_take_longer(tmp_path: Path) -> None:
    limits = RequestLimits(60, 60, "activation_timeout_s", "activation_timeout_s")
    with (
        StandIn.serving(tmp_path, lambda _: Answer(body=b"x" * 100)) as slow,
        client_of(slow, tmp_path, total_s=0.5) as client,
    ):
        slow.faults += [Fault(drips=True), Fault(drips=True)]
        with pytest.raises(ConnectionFailed, match=r"not complete after 0\.5 seconds.*raise total_s"):
            client.send("PUT", "/a")
        assert len(client.send("PUT", "/a", limits=limits).body) == 100


def test_exceeded_limit_of_one_request_is_named(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.faults.append(Fault(is_silent=True))
    limits = RequestLimits(0.5, 60, "activation_timeout_s", "activation_timeout_s")
    with (
        client_of(stand_in, tmp_path) as client,
        pytest.raises(ConnectionFailed, match=r"within 0\.5 seconds.*raise activation_timeout_s"),
    ):
        client.send("PUT", "/a", limits=limits)


def test_answer_above_the_limit_is_refused(tmp_path: Path) -> None:
    with StandIn.serving(tmp_path, lambda _: Answer(body=b"x" * 5000)) as large:
        error = failure(client_of(large, tmp_path, max_answer_bytes=4096, attempts=1))
    assert "more than 4096 bytes" in error.fault
    assert "max_answer_bytes" in error.advice


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip,deflate", "br", "zstd"])
def test_answer_that_could_grow_without_bound_is_refused_unread(tmp_path: Path, encoding: str) -> None:
    body = gzip.compress(gzip.compress(b"x"))
    bomb = Answer(body=body, headers={"content-encoding": encoding})
    with StandIn.serving(tmp_path, lambda _: bomb) as server:
        error = failure(client_of(server, tmp_path, attempts=1))
        assert "compressed several times" in error.fault
        assert server.requests[0].headers["accept-encoding"] == "gzip"


def test_compressed_answer_is_read(tmp_path: Path) -> None:
    answer = Answer(body=gzip.compress(b"x" * 5000), headers={"content-encoding": "gzip"})
    with StandIn.serving(tmp_path, lambda _: answer) as server, client_of(server, tmp_path) as client:
        assert client.get("/a").body == b"x" * 5000


def test_reads_are_repeated_and_changes_are_not(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.faults += [Fault(status=503), Fault(cut_after=3)]
    with client_of(stand_in, tmp_path) as client:
        client.get("/a")
        assert stand_in.lines == ["GET /a"] * 3
        stand_in.faults.append(Fault(status=503))
        with pytest.raises(ConnectionFailed) as caught:
            client.send("POST", "/b", body={})
    assert caught.value.is_uncertain
    assert stand_in.lines[3:] == ["POST /b"]


def test_pauses_between_attempts_double(stand_in: StandIn, tmp_path: Path) -> None:
    file = write_file(tmp_path, {"P": entry_of(stand_in, tmp_path, "dds", pause_s=1, attempts=4)})
    pauses: list[float] = []
    connection = connection_named(Settings(connections_file=str(file)), "P")
    stand_in.faults += [Fault(status=502)] * 4
    with (
        Client("P", connection, credentials=None, sleep=pauses.append) as client,
        pytest.raises(ConnectionFailed),
    ):
        client.get("/a")
    assert pauses == [1, 2, 4]


def test_proxies_and_netrc_of_the_environment_are_not_used(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login OTHER password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with StandIn.serving(tmp_path, answered, tls=False) as proxy:
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        with client_of(stand_in, tmp_path) as client:
            client.get("/a")
        with client_of(stand_in, tmp_path, credentials_file=None) as client, pytest.raises(ConnectionFailed):
            client.get("/b")
        assert proxy.requests == []
    assert "authorization" not in stand_in.requests[-1].headers


def test_redirect_to_another_server_is_not_followed(stand_in: StandIn, tmp_path: Path) -> None:
    with StandIn.serving(tmp_path, answered, tls=False) as other:
        stand_in.faults.append(Fault(status=307, headers={"location": f"{other.address}/a"}))
        assert "redirect" in failure(client_of(stand_in, tmp_path)).fault
        assert other.requests == []


def test_refused_request_is_not_repeated(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.faults.append(Fault(status=403))
    error = failure(client_of(stand_in, tmp_path))
    assert (error.status, stand_in.lines) == (403, ["GET /a"])


@pytest.mark.parametrize("path", ["https://example.com/", "@example.com/", "a"])
def test_path_that_leaves_the_connection_is_refused(stand_in: StandIn, tmp_path: Path, path: str) -> None:
    with client_of(stand_in, tmp_path) as client, pytest.raises(ValueError, match="leaves the connection"):
        client.get(path)
    assert stand_in.requests == []


def test_credentials_appear_in_no_error_log_or_repr(
    stand_in: StandIn, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = client_of(stand_in, tmp_path, attempts=1)
    # A server that echoes the header of the request in its error.
    stand_in.faults.append(Fault(status=500, body=f"user {USER} password is {PASSWORD}".encode()))
    error = failure(client)
    texts = [
        str(error), repr(error), "".join(traceback.format_exception(error)), repr(client.connection), caplog.text,
        logs.without_secrets(f"said {PASSWORD}"),
    ]  # fmt: skip
    assert not any(PASSWORD in text for text in texts)


def test_credentials_come_from_the_environment(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more: dict[str, object] = {
        "credentials_file": None,
        "user_variable": "PLEX1_USER",
        "password_variable": "PLEX1_PASS",
    }
    with pytest.raises(ConnectionsInvalid, match="has no value for PLEX1_USER and PLEX1_PASS"):
        client_of(stand_in, tmp_path, **more)
    monkeypatch.setenv("PLEX1_USER", USER)
    monkeypatch.setenv("PLEX1_PASS", PASSWORD)
    with client_of(stand_in, tmp_path, **more) as client:
        assert client.get("/a").status == 200


def test_credentials_file_that_others_can_read_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    entry = entry_of(stand_in, tmp_path, "zosmf")
    write_credentials(tmp_path).chmod(0o640)
    file = write_file(tmp_path, {"PLEX1": entry})
    connection = connection_named(Settings(connections_file=str(file)), "PLEX1")
    with pytest.raises(ConnectionsInvalid, match="chmod 600") as caught:
        open_client("PLEX1", connection)
    assert PASSWORD not in str(caught.value)
