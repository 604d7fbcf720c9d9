"""A data folder from before the redesign opens in this version on both databases, with the same responses."""

from __future__ import annotations

import asyncio
import html
import re
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi import FastAPI

from app.cli import main
from app.database.engine import Database, database_url
from app.main import create_app
from app.settings import Settings
from tests import postgres
from tests.databases import KINDS
from tests.migrations.old_folder import answers, copy_rows, figures, observed, observed_output, unpack

pytestmark = pytest.mark.long

KEPT_DAYS = 36_500
"""The folder is from March 2026: with the default retention, deleted plans and files would be removed by now."""


class OpenedFolder(NamedTuple):
    """The data folder with the application on it."""

    app: FastAPI
    data: Path
    database: str

    def get(self, address: str, accept: str = "*/*") -> httpx.Response:
        async def answer() -> httpx.Response:
            # Without its lifespan the application starts no job, so the upload that needs answers stays as it was.
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                return await client.get(address, headers={"accept": accept})

        return asyncio.run(answer())

    def read(self, address: str) -> Any:  # noqa: ANN401 - any JSON value
        return self.get(address).raise_for_status().json()


@pytest.fixture(scope="module", params=KINDS)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenedFolder]:
    data = tmp_path_factory.mktemp("old") / "data"
    unpack(data)
    if request.param == "sqlite":
        yield _opened(data, "")
        return
    with postgres.empty_database(request.getfixturevalue("postgres_server")) as url:
        copy_rows(data / "cfplan.db", url)
        (data / "cfplan.db").unlink()
        yield _opened(data, url.render_as_string(hide_password=False))


def _opened(data: Path, url: str) -> OpenedFolder:
    database = Database(database_url(url, data_dir=data))
    database.upgrade()
    database.close()
    settings = Settings(data_dir=data, database_url=url, deleted_days=KEPT_DAYS, upload_days=KEPT_DAYS)
    return OpenedFolder(create_app(settings), data, url)


def test_stored_objects_of_an_old_folder_are_listed(opened: OpenedFolder) -> None:
    plans = {each["name"]: each["version"] for each in opened.read("/api/v1/plans")["plans"]}
    assert plans == {"COMPLETE": 1, "INVENTORY": 1, "SIM1": 4}
    assert [each["name"] for each in opened.read("/api/v1/deleted-plans")["plans"]] == ["GONE"]
    assert [each["version"] for each in opened.read("/api/v1/plans/SIM1/versions")["versions"]] == [
        4,
        3,
        2,
        1,
    ]
    accepted = [each for each in opened.read("/api/v1/plans/SIM1")["findings"] if each["acknowledged"]]
    assert [each["code"] for each in accepted] == ["PREFLIST_DEFAULTED"]
    scenarios = opened.read("/api/v1/plans/SIM1/scenarios")["scenarios"]
    assert {each["name"]: each["version"] for each in scenarios} == {"more-managers": 2, "more-trade": 4}
    jobs = [each["job"]["state"] for each in opened.read("/api/v1/uploads")["uploads"]]
    assert sorted(jobs) == ["asks", "done", "done", "failed"]
    usage = opened.read("/api/v1/usage/structures")["structures"]
    assert {each["structure"] for each in usage} == {"CSQSYSAPPL", "CSQ_ADMIN", "ORDERS", "PAYMENTS"}
    states = [each["state"] for each in opened.read("/api/v1/curves")["curves"]]
    assert sorted(states) == ["accepted", "too_little", "too_little", "too_little"]
    assert len(opened.read("/api/v1/forecasts")["forecasts"]) == 10
    assert [each["state"] for each in opened.read("/api/v1/nightly-runs")["nightly_runs"]] == ["done", "done"]


REBUILT = frozenset({"/usage", "/forecasts", "/plans/SIM1/scenarios"})
"""Lists that show other columns now. REST has their figures, which the REST part compares."""


def missing_figures(opened: OpenedFolder, address: str, before: list[str]) -> list[str]:
    """Return the figures of the old page that are no longer on it, on its tabs or on the explanations and texts that it loads."""
    answer = opened.get(address, "text/html")
    now = Counter(figures(answer.text))
    loaded = re.findall(r'<a id="[^"]+" href="([^"#]+)#(why-[^"]+)"', answer.text)
    for each in sorted({address for address, _ in loaded}):
        explanations = opened.get(each, "text/html")
        assert all(f'id="{figure}"' in explanations.text for _, figure in loaded)
        now += Counter(figures(explanations.text))
    for each in re.findall(r'class="text" href="([^"]+)"', answer.text):
        now += Counter(figures(opened.get(html.unescape(each), "text/plain").text))
    tabs = re.search(r'<nav class="tabs".*?</nav>', answer.text, flags=re.DOTALL)
    for each in re.findall(r'href="([^"]+[?]tab=[^"]+)"', tabs[0]) if tabs else ():
        now += Counter(figures(opened.get(html.unescape(each), "text/html").text))
    # Comparisons of scenarios show more decimals than the old version if one, rounded up, does not tell the values apart.
    longer = [Decimal(each) for each in now if re.fullmatch(r"\d+\.\d{2,4}", each)]
    now += Counter(str(each.quantize(Decimal("0.1"), ROUND_CEILING)) for each in longer)
    if address.endswith("/report"):
        # The old page glued the number of a note to each figure.
        return [each for each in before if not any(each.startswith(figure) for figure in now)]
    return sorted((Counter(before) - now).elements())


def test_rest_responses_from_an_old_folder_equal_those_of_the_old_version(opened: OpenedFolder) -> None:
    differ = {}
    for address, before in answers()["rest"].items():
        now = observed(opened.get(address))
        if now != before:
            differ[address] = {"before": before, "now": now}
    assert differ == {}


def test_pages_of_an_old_folder_have_the_figures_of_the_old_version(opened: OpenedFolder) -> None:
    missing = {}
    for address, before in answers()["pages"].items():
        answer = opened.get(address, "text/html")
        assert (address, answer.status_code) == (address, before[0])
        if not answer.headers["content-type"].startswith("text/html"):
            assert (address, observed(answer)) == (address, before)
        elif address not in REBUILT and (gone := missing_figures(opened, address, before[1])):
            missing[address] = gone
    assert missing == {}


def test_exports_from_an_old_folder_equal_those_of_the_old_version(
    opened: OpenedFolder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(opened.data))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", opened.database)
    for line, before in answers()["commands"].items():
        code = main(line.split())
        assert [line, code, observed_output(capfd.readouterr().out)] == [line, *before]
