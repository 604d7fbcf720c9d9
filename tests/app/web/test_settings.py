from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import LOOPBACK_NAMES, Settings

PAGE = (Path(__file__).parents[3] / "docs" / "operations" / "settings.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def no_settings_from_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CFPLAN_{name.upper()}", raising=False)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_described_in_code_and_on_its_page(name: str) -> None:
    assert Settings.model_fields[name].description
    default = getattr(Settings(), name)
    shown = (
        ",".join(default)
        if isinstance(default, tuple)
        else re.sub(r"\.0$", "", str(default or "" if isinstance(default, dict) else default))
    )
    cell = f"`{shown}`" if shown else "(empty)"
    assert f"| `CFPLAN_{name.upper()}` | {cell} |" in PAGE


def test_page_describes_only_existing_settings() -> None:
    described = re.findall(r"^\| `CFPLAN_([A-Z_]+)`", PAGE, re.MULTILINE)
    assert {name.lower() for name in described} == set(Settings.model_fields)


def test_service_listens_only_on_loopback_by_default() -> None:
    assert Settings().host == "127.0.0.1"
    assert set(Settings().accepted_hosts) == set(LOOPBACK_NAMES)


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CFPLAN_PORT", "9000")
    monkeypatch.setenv("CFPLAN_ALLOWED_HOSTS", " CFPLAN.example.com, .internal ,")
    settings = Settings()
    assert settings.data_dir == tmp_path
    assert settings.port == 9000
    assert settings.allowed_hosts == ("cfplan.example.com", ".internal")


@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("0.0.0.0", ()),  # noqa: S104 - the wildcard is what is tested
        ("::", ()),
        ("192.0.2.7", ("192.0.2.7",)),
        ("2001:db8::7", ("[2001:db8::7]",)),
        ("[2001:db8::7]", ("[2001:db8::7]",)),
        ("Planner.example.com", ("planner.example.com",)),
    ],
)
def test_listening_address_is_an_allowed_host_unless_it_is_a_wildcard(
    host: str, more: tuple[str, ...]
) -> None:
    assert Settings(host=host, allowed_hosts=("localhost",)).accepted_hosts == ("localhost", *more)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "65536"),
        ("port", "web"),
        ("max_body_bytes", "0"),
        ("body_timeout_s", "0"),
        ("compress_over_bytes", "-1"),
    ],
)
def test_setting_out_of_range_prevents_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"CFPLAN_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        Settings()


def test_settings_are_immutable() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]
