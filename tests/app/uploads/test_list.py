"""The list of uploads: its orders, on both databases, and what sorting keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.jobs.models import JobState
from app.uploads import service
from tests.app.uploads.support import app_for, job_id_of, received, set_state
from tests.app.web.pages.html import read
from tests.app.web.support import get

FILES = (
    ("beta.smf", "dump of b\n" * 3, "smf", JobState.DONE),
    ("Alpha.txt", "a\n", "cfstatus", JobState.FAILED),
    ("gamma.csv", "one,two\n" * 9, "mqsmf_csv", JobState.ASKS),
    ("delta.smf", "dd\n" * 20, "smf", JobState.QUEUED),
)


@pytest.fixture
def app(url: URL, tmp_path: Path) -> Iterator[FastAPI]:
    """Return an application with four uploads in different states; the last two are in the batch `pair`."""
    made = app_for(url, tmp_path)
    for number, (name, content, kind, state) in enumerate(FILES):
        found = received(made.state.settings.data_dir, content.encode())
        said = service.UploadDetails(
            kind=kind, observed_at="2026-01-01T00:00:00" if kind == "cfstatus" else None, zone="UTC"
        )
        with made.state.database.session(writes=True) as session:
            outcome = service.keep(
                session, found, filename=name, said=said, batch="pair" if number > 1 else ""
            )
        set_state(made.state.database, job_id_of(outcome), state)
    yield made
    made.state.database.close()


def names_on(app: FastAPI, address: str) -> list[str]:
    found = get(app, address, accept="text/html")
    assert found.status == 200, found.text[:300]
    return [row.all("th")[0].text for row in read(found.text).one("table").all("tbody")[0].all("tr")]


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("", ["delta.smf", "gamma.csv", "Alpha.txt", "beta.smf"]),
        ("received", ["beta.smf", "Alpha.txt", "gamma.csv", "delta.smf"]),
        ("file", ["Alpha.txt", "beta.smf", "delta.smf", "gamma.csv"]),
        ("-size", ["gamma.csv", "delta.smf", "beta.smf", "Alpha.txt"]),
        ("state", ["Alpha.txt", "gamma.csv", "delta.smf", "beta.smf"]),
        ("kind", ["Alpha.txt", "gamma.csv", "beta.smf", "delta.smf"]),
    ],
)
def test_uploads_are_sorted_by_each_key(app: FastAPI, sort: str, names: list[str]) -> None:
    assert names_on(app, f"/uploads?sort={sort}") == names


def test_sorting_keeps_the_batch_and_the_state(app: FastAPI) -> None:
    address = "/uploads?batch=pair&state=input&sort=-file"
    assert names_on(app, address) == ["gamma.csv"]
    page = read(get(app, address, accept="text/html").text)
    links = [link["href"] for link in page.one("thead").all("a")]
    assert all("batch=pair&state=input" in link for link in links)
    hidden = {
        each["name"]: each["value"] for each in page.all("input") if each.attributes.get("type") == "hidden"
    }
    assert hidden["batch"] == "pair"
    assert hidden["state"] == "input"


def test_unknown_key_is_refused(app: FastAPI) -> None:
    found = get(app, "/uploads?sort=weight", accept="text/html")
    assert found.status == 422
    assert "file, state, kind, size, received" in found.text
