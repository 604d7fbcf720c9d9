from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.connections.declared import ZosmfConnection, connection_named, read_connections, zosmf_connection
from app.connections.errors import ConnectionsInvalid, ConnectionUnknown
from app.settings import Settings
from tests.connections_support.server import write_file

ZOSMF = {"kind": "zosmf", "address": "https://zosmf.example.com"}


def settings_of(folder: Path, **connections: dict[str, Any]) -> Settings:
    return Settings(connections_file=str(write_file(folder, connections)))


def test_no_file_means_no_connections() -> None:
    assert read_connections(Settings()) == {}


def test_both_kinds_are_read_with_defaults_and_relative_paths(tmp_path: Path) -> None:
    found = read_connections(
        settings_of(
            tmp_path, A=ZOSMF | {"ca_file": "ca.pem"}, B={"kind": "dds", "address": "http://127.0.0.1:8803/"}
        )
    )
    first = found["A"]
    assert isinstance(first, ZosmfConnection)
    assert (first.size_unit, first.verified_against_a_real_system) == (None, False)
    assert first.ca_file == tmp_path / "ca.pem"
    assert found["B"].address == "http://127.0.0.1:8803"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"address": "http://zosmf.example.com"}, "A.address: must begin with https://"),
        ({"address": "https://me:hunter22@zosmf.example.com"}, "A.address: contains a user or a password"),
        ({"address": "https://zosmf.example.com/?a=b"}, "A.address: must not contain ? or #"),
        ({"password": "hunter22"}, "A.password: extra inputs are not permitted"),
        ({"user_variable": "U", "password_variable": "hunter22!"}, "A.password_variable: must be the name"),
        ({"user_variable": "U"}, "state both user_variable and password_variable"),
        ({"size_unit": "kilobytes"}, "A.size_unit: input should be"),
        ({"kind": "db2"}, "A: "),
        ({"verify": False}, "A.verify: extra inputs"),
    ],
)
def test_faults_name_their_place_and_no_value(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ConnectionsInvalid) as caught:
        read_connections(settings_of(tmp_path, A=ZOSMF | changed))
    message = str(caught.value)
    assert said in message
    assert "connections.yaml" in message
    assert "hunter22" not in message


def test_fault_names_a_connection_that_has_the_name_of_a_kind(tmp_path: Path) -> None:
    with pytest.raises(ConnectionsInvalid, match=r"connections\.dds\.password: extra inputs"):
        read_connections(settings_of(tmp_path, dds=ZOSMF | {"password": "hunter22"}))


@pytest.mark.parametrize(
    "text", ["", "connections: 3", "connections: {a b: {}}", "a: [", "connections:\n  A: {}\n  A: {}"]
)
def test_unusable_file_is_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "connections.yaml"
    file.write_text(text)
    with pytest.raises(ConnectionsInvalid, match="CFPLAN_CONNECTIONS_FILE"):
        read_connections(Settings(connections_file=str(file)))


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConnectionsInvalid, match="No such file"):
        read_connections(Settings(connections_file=str(tmp_path / "none.yaml")))


def test_unknown_name_and_other_kind_are_refused(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, A=ZOSMF, B={"kind": "dds", "address": "https://dds.example.com"})
    with pytest.raises(ConnectionUnknown, match="The file has: A, B"):
        connection_named(settings, "C")
    with pytest.raises(ConnectionUnknown, match="has the kind dds"):
        zosmf_connection(settings, "B")
    with pytest.raises(ConnectionUnknown, match="No connection is configured"):
        connection_named(Settings(), "A")
