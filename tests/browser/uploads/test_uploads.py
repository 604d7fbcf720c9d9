"""Uploads in a real browser: progress bars, questions, keyboard, no scripts, and accessibility."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.uploads.support import DAY
from tests.browser.axe import problems_at_every_width

pytestmark = pytest.mark.browser

BATCH = re.compile(r"/uploads\?batch=[0-9a-f]{16}&said=created$")
LINE = "# " + "x" * 1022 + "\n"
WATCH = """
const look = () => {
  for (const bar of document.querySelectorAll("progress[id]")) {
    const words = document.getElementById(`${bar.id}-words`).textContent;
    window.note(bar.id, bar.hasAttribute("value") ? bar.value : -1, words);
  }
};
document.addEventListener("DOMContentLoaded", () => {
  look();
  for (const words of document.querySelectorAll(".progress .words")) {
    new MutationObserver(look).observe(words, { childList: true, characterData: true, subtree: true });
  }
});
"""
"""Records every change of the progress bars, so that the test does not depend on timing."""


@pytest.fixture
def dump(tmp_path: Path) -> Callable[..., Path]:
    def make(orders: str, name: str = "night.smf", *, size_kib: int = 1) -> Path:
        path = tmp_path / name
        path.write_text(orders + LINE * size_kib)
        return path

    return make


def choose_and_send(page: Page, *paths: Path) -> None:
    page.goto("/new-upload")
    page.get_by_label("One or more files").set_input_files(list(paths))
    page.get_by_role("button", name="Upload", exact=True).click()


def test_page_of_a_dump_with_a_long_data_set_name_fits_every_width(
    page: Page, dump: Callable[..., Path]
) -> None:
    choose_and_send(page, dump(f"days {DAY}\n", "PROD.SMFDUMP.SYSTEM01.WEEKLY.D2026324.T0415001"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "PROD.SMFDUMP.SYSTEM01.WEEKLY.D2026324.T0415001"
    )
    assert problems_at_every_width(page) == []


def test_uploaded_dump_shows_both_progress_bars(page: Page, dump: Callable[..., Path]) -> None:
    seen: dict[str, list[tuple[float, str]]] = {"bar-transfer": [], "bar-reading": []}
    page.expose_function("note", lambda bar, value, words: seen[bar].append((value, words)))
    page.add_init_script(WATCH)
    # A fast machine would send the whole file before the browser reports any progress.
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 40 * 2**20}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", limits)
    steps = "".join(f"say decoding {n}000000 8000000\nwait 1.1\n" for n in range(1, 4))
    choose_and_send(page, dump(f"say indexing 5 10\nwait 1.1\n{steps}days {DAY}\n", size_kib=60_000))
    expect(page.get_by_role("heading", level=1, name="night.smf")).to_be_visible()
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_role("progressbar", name="Reading")).to_have_js_property("value", 1000)
    transfer = [value for value, words in seen["bar-transfer"] if " of " in words]
    assert any(0 < value < 1000 for value in transfer), seen["bar-transfer"][:20]
    assert transfer == sorted(transfer)
    reading = [words for _, words in seen["bar-reading"]]
    assert any(words.startswith("Finding the records: 5 bytes of 10 bytes") for words in reading)
    assert len({words for words in reading if words.startswith("Decoding: ")}) >= 2
    expect(page.get_by_role("rowheader", name="SQ03APPLICATION1")).to_be_visible()
    expect(page.get_by_role("region", name="Quarantined")).to_contain_text(
        "a middle segment without a first one"
    )
    page.get_by_role("link", name="APPLICATION1", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("APPLICATION1")


def test_repeated_dump_opens_its_existing_page(page: Page, dump: Callable[..., Path]) -> None:
    path = dump(f"days {DAY}\n")
    choose_and_send(page, path)
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)
    choose_and_send(page, path)
    expect(page.get_by_text("not stored again")).to_be_visible()


def test_uploading_several_files_opens_the_list(page: Page, dump: Callable[..., Path]) -> None:
    choose_and_send(page, dump("wait 0\n", "a.smf"), dump("wait 0.1\n", "b.smf"))
    expect(page).to_have_url(BATCH)
    for name in ("a.smf", "b.smf"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


RECORD_ANNOUNCEMENTS = """() => {
  const element = document.getElementById("uploads-said");
  window.announced = [];
  new MutationObserver(() => window.announced.push(element.textContent)).observe(element, { childList: true });
}"""


def test_list_updates_progress_without_layout_shifts(page: Page, dump: Callable[..., Path]) -> None:
    slow = f"say decoding 1 4\nwait 2\nsay decoding 3 4\nwait 2\ndays {DAY}\n"
    choose_and_send(page, dump(slow, "a.smf"), dump("ask\n", "b.smf"))
    expect(page).to_have_url(BATCH)
    page.evaluate("window.kept = 'the page was not loaded again'")
    page.evaluate(RECORD_ANNOUNCEMENTS)
    link = page.get_by_role("link", name="a.smf", exact=True)
    link.focus()
    cells = "[...document.querySelectorAll('th, td')].map((each) => [each.getBoundingClientRect().x, each.offsetWidth])"
    before = page.evaluate(cells)
    row = page.get_by_role("row", name="a.smf")
    expect(row).to_contain_text("Being read, ", timeout=60_000)
    expect(row.get_by_role("cell", name="Stored", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_role("row", name="b.smf")).to_contain_text("Needs your input", timeout=60_000)
    # The two may be announced together or in either order, because the next upload is read at once.
    announced = page.evaluate("window.announced.join('. ')")
    assert "a.smf: Stored" in announced
    assert "b.smf: Needs your input" in announced
    assert page.evaluate("window.kept") == "the page was not loaded again"
    assert page.evaluate(cells) == before
    expect(link).to_be_focused()


def test_idle_list_sends_no_requests(page: Page, dump: Callable[..., Path]) -> None:
    choose_and_send(page, dump("wait 0\n"))
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)
    page.goto("/uploads")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/uploads" in request.url else None)
    page.wait_for_timeout(2_500)
    assert asked == []


def test_question_is_answered_by_keyboard_only(page: Page, dump: Callable[..., Path]) -> None:
    choose_and_send(page, dump(f"ask\ndays {DAY}\n"))
    expect(page.get_by_role("heading", name="Questions")).to_be_visible(timeout=60_000)
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.name || ''")
        if name == "qsg/SYSA/CSQ1":
            page.keyboard.type("sq03")
        if name == "none/SYSB/CSQ2":
            page.keyboard.press("Space")
        if page.evaluate("document.activeElement.textContent.trim() === 'Submit answers'"):
            page.keyboard.press("Enter")
            break
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)


def test_pasted_display_asks_for_its_time(page: Page) -> None:
    page.goto("/new-upload")
    page.get_by_label("Pasted text").fill("observe\n")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("When was this display taken")).to_be_visible(timeout=60_000)
    page.get_by_label("Observed at").first.fill("2024-11-21T09:30")
    page.get_by_role("button", name="Submit answers").click()
    expect(page.get_by_text("Enter the time zone of that time")).to_be_visible()
    page.get_by_label("Time zone").first.fill("Europe/Berlin")
    page.get_by_role("button", name="Submit answers").click()
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)


def test_error_is_shown_on_the_form_and_the_selection_is_kept(page: Page, dump: Callable[..., Path]) -> None:
    page.goto("/new-upload")
    page.get_by_label("One or more files").set_input_files(dump("wait 0\n"))
    page.get_by_label("Time zone").fill("nowhere")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is not a time zone")
    page.get_by_label("Time zone").fill("+01:00")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="night.smf")).to_be_visible()


def test_transfer_can_be_cancelled(page: Page, dump: Callable[..., Path], base: str) -> None:
    page.route("**/api/v1/uploads?*", lambda _: None)  # the service never answers
    choose_and_send(page, dump("wait 0\n"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("was canceled. Nothing was stored.")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_enabled()
    assert base


def test_upload_works_without_scripts_by_form_and_refresh(
    page: Page, base: str, dump: Callable[..., Path]
) -> None:
    assert page.context.browser is not None
    context = page.context.browser.new_context(base_url=base, java_script_enabled=False)
    plain = context.new_page()
    choose_and_send(plain, dump(f"say decoding 1 2\nwait 2\ndays {DAY}\n"))
    expect(plain.get_by_text("Upload complete.")).to_be_visible()
    refresh = plain.get_by_role("link", name="Refresh")
    expect(refresh).to_be_visible()
    for _ in range(60):
        if not refresh.is_visible():
            break
        refresh.click()
        plain.wait_for_timeout(300)
    expect(plain.get_by_text("342 rows were stored.", exact=True)).to_be_visible()
    context.close()


def test_pages_have_no_accessibility_violations_and_do_not_overflow(
    page: Page, dump: Callable[..., Path]
) -> None:
    ends = {
        "done.smf": f"days {DAY}\n",
        "asks.smf": "ask\n",
        "when.txt": "observe\n",
        "failed.smf": "fail 3\n",
    }
    for number, (name, orders) in enumerate(ends.items(), start=1):
        choose_and_send(page, dump(orders, name))
        page.wait_for_url(f"**/uploads/{number}*")
        expect(page.get_by_text(re.compile("Read again or change"))).to_be_visible(timeout=60_000)
    choose_and_send(page, dump("say decoding 1 2\nwait 40\n", "running.smf"))
    expect(page.get_by_text("Decoding: ")).to_be_visible(timeout=60_000)
    page.request.put("/api/v1/qsg-map/SYSZ/CSQ9", data={"qsg": "SQ03"})
    found: list[str] = []
    for path in ("/uploads", "/new-upload", "/qsg-map", *(f"/uploads/{number}" for number in range(1, 6))):
        page.goto(path)
        page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
        found += [f"{path}: {each}" for each in problems_at_every_width(page)]
    assert found == []


DUMPS = Path(os.environ.get("CFPLAN_SMF_SAMPLES", Path(__file__).parents[4] / "shared" / "data" / "smf"))


@pytest.mark.skipif(
    not (DUMPS / "TEST115.dat").exists(), reason="IBM's sample dumps are not beside the repository"
)
def test_real_dump_is_read_by_the_real_ingest_job(real_page: Page) -> None:
    page = real_page
    choose_and_send(page, DUMPS / "TEST115.dat")
    expect(page.get_by_role("heading", name="Questions")).to_be_visible(timeout=60_000)
    page.get_by_label("Group of MQPC on H019").fill("QSG1")
    page.get_by_role("button", name="Submit answers").click()
    expect(page.get_by_text("Stored 3 new rows.")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("rowheader", name="QSG1NONPERSIST1")).to_be_visible()
    page.get_by_role("link", name="NONPERSIST1", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("NONPERSIST1")
