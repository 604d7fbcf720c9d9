"""Only figures of a simulated group are labelled as simulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from planner_core.simulated import QSG, WORD
from tests.app.usage.support import queue_hour, store, structure_hour
from tests.app.web.support import get

REAL = "SQ03"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application with an hour of a real group and one of a simulated group."""
    made = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    hours = [line | {"qsg": group} for group in (REAL, QSG) for line in (structure_hour(0), queue_hour(0))]
    store(made, hours)
    yield made
    made.state.database.close()


@pytest.mark.parametrize(
    "address", ["/usage/{}/APPLICATION1", "/usage/{}/APPLICATION1/queue?name=PAYMENTS.IN", "/usage/{}/plan"]
)
def test_pages_of_a_simulated_group_are_marked(app: FastAPI, address: str) -> None:
    shown = {group: get(app, address.format(group), accept="text/html").text for group in (QSG, REAL)}
    assert f'<span class="tag">{WORD}</span>' in shown[QSG]
    assert WORD not in shown[REAL].lower()


def test_list_marks_only_the_simulated_group(app: FastAPI) -> None:
    text = get(app, "/usage", accept="text/html").text
    tag = f' <span class="tag">{WORD}</span>'
    assert f"{QSG}{tag}" in text
    assert f"{REAL}{tag}" not in text


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/usage/structures/{}/APPLICATION1",
        "/api/v1/usage/structures/{}/APPLICATION1/queues",
        "/api/v1/usage/structures/{}/APPLICATION1/queue?name=PAYMENTS.IN",
    ],
)
def test_rest_marks_simulated_usage(app: FastAPI, address: str) -> None:
    assert get(app, address.format(QSG)).json()["is_simulated"] is True
    assert get(app, address.format(REAL)).json()["is_simulated"] is False


def test_downloaded_file_of_simulated_figures_is_named_as_simulated(app: FastAPI) -> None:
    for group, name in (
        (QSG, f"simulated-{QSG}-APPLICATION1-usage.csv"),
        (REAL, f"{REAL}-APPLICATION1-usage.csv"),
    ):
        found = get(app, f"/usage/{group}/APPLICATION1/usage.csv")
        assert f'filename="{name}"' in dict(found.header_list)["content-disposition"]
