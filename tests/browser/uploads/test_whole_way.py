"""From a dump to a policy in a browser: the real ingest job, the charts, a plan from usage, and its statements."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.uploads.test_uploads import WATCH, choose_and_send
from tests.serving import ANSWER_S

pytestmark = pytest.mark.long

DAYS = 14
UNTIL_READ_MS = 120_000


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two weeks of a fictitious site in one dump, and its map."""
    folder = tmp_path_factory.mktemp("simulated") / "site"
    options = {
        "days": DAYS, "structures": 3, "queue-managers": 2, "interval-minutes": 15, "seed": 5, "days-per-file": DAYS,
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "spark_jobs.simulate", f"--out={folder}"]
        + [f"--{name}={value}" for name, value in options.items()],
        check=True,
        capture_output=True,
    )
    return folder


def test_policy_is_created_from_an_uploaded_dump(real_page: Page, real_base: str, simulated: Path) -> None:
    page = real_page
    seen: dict[str, list[tuple[float, str]]] = {"bar-transfer": [], "bar-reading": []}
    page.expose_function("note", lambda bar, value, words: seen[bar].append((value, words)))
    page.add_init_script(WATCH)
    choose_and_send(page, simulated / "simulated-qsg-map.json")
    expect(page.get_by_text("A map of 2 queue managers to SIM1 was read.", exact=True)).to_be_visible(
        timeout=UNTIL_READ_MS
    )

    (dump,) = simulated.glob("*.smf")
    choose_and_send(page, dump)
    expect(page.get_by_text(re.compile(r"^Stored [0-9 ]+ new rows\.$"))).to_be_visible(timeout=UNTIL_READ_MS)
    expect(page.get_by_role("progressbar", name="Reading")).to_have_js_property("value", 1000)
    assert any(" of " in words for _, words in seen["bar-transfer"])
    assert seen["bar-reading"]

    structures = page.get_by_role("rowheader", name=re.compile("^SIM1(?!CSQ)"))
    name = structures.first.inner_text().removeprefix("SIM1")
    page.get_by_role("link", name=name, exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    expect(page.locator(".plotted").first).to_have_attribute("data-state", "ready")

    page.get_by_role("link", name="everything").click()
    page.get_by_role("link", name="Create a plan from this usage").click()
    for field, value in (
        ("Name of the plan", "MEASURED"),
        ("Queue managers", "2"),
        ("CFCC level", "25"),
        ("Coupling facilities", "CF01 CF02"),
    ):
        page.get_by_label(field, exact=True).fill(value)
    page.get_by_role("button", name="Save and open in the editor").click()
    expect(page).to_have_url(f"{real_base}/plans/MEASURED/edit?made=usage")

    page.goto("/plans/MEASURED?tab=policy")
    output = page.locator('[data-output="policy"]')
    if output.get_attribute("open") is None:
        output.locator("summary").click()
    with page.expect_download() as download:
        output.get_by_role("link", name="Download").click()
    policy = download.value.path().read_text()
    assert policy == httpx.get(f"{real_base}/api/v1/plans/MEASURED/policy", timeout=ANSWER_S).text
    assert f"STRUCTURE NAME(SIM1{name})" in policy
