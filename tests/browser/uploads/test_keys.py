"""The pages of uploads by keyboard only: every control is reached and used in every state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.app.uploads.support import DAY
from tests.browser.keys import press, tab_to, walk
from tests.browser.test_every_page import unfold
from tests.browser.uploads.test_uploads import choose_and_send

pytestmark = pytest.mark.browser

RUNNING = "running.smf"
STATES = {
    "done.smf": f"days {DAY}\n",
    "asks.smf": "ask\n",
    "when.txt": "observe\n",
    "failed.smf": "fail 3\n",
    RUNNING: "say decoding 1 2\nwait 90\n",
}


@pytest.fixture
def dump(tmp_path: Path) -> Callable[..., Path]:
    def make(orders: str, name: str) -> Path:
        path = tmp_path / name
        path.write_text(orders)
        return path

    return make


def test_tab_reaches_every_control_in_every_state(page: Page, dump: Callable[..., Path]) -> None:
    choose_and_send(page, *(dump(orders, name) for name, orders in STATES.items() if name != RUNNING))
    expect(page.get_by_role("row", name="failed.smf")).to_contain_text("Failed", timeout=60_000)
    # Two files are sent at a time, in any order, and the others would wait for this one.
    choose_and_send(page, dump(STATES[RUNNING], RUNNING))
    expect(page.get_by_role("heading", level=1)).to_contain_text(RUNNING)
    page.request.put("/api/v1/qsg-map/SYSZ/CSQ9", data={"qsg": "SQ03"})
    for path in ("/uploads", "/new-upload", "/qsg-map", *(f"/uploads/{number}" for number in range(1, 6))):
        page.goto(path)
        unfold(page, is_open=True)
        walk(page)


def test_file_is_chosen_described_and_uploaded_by_keyboard(page: Page) -> None:
    page.goto("/new-upload")
    files = page.get_by_label("One or more files")
    file: FilePayload = {
        "name": "night.smf", "mimeType": "application/octet-stream", "buffer": f"days {DAY}\n".encode(),
    }  # fmt: skip
    page.on("filechooser", lambda asked: asked.set_files(file))
    tab_to(page, files)
    page.keyboard.press("Space")
    page.wait_for_function("each => each.files.length === 1", arg=files.element_handle())
    tab_to(page, page.get_by_label("Kind of data"))
    page.keyboard.type("SMF")
    for label, text in (("Observed at", "2024-11-21T09:30"), ("Time zone", "Europe/Berlin")):
        tab_to(page, page.get_by_label(label))
        page.keyboard.type(text)
    press(page, "button", "Upload")
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)
    told = page.request.get("/api/v1/uploads/1").json()
    assert (told["kind"], told["observed_utc"]) == ("smf", "2024-11-21T08:30:00Z")


def test_text_is_pasted_and_uploaded_by_keyboard(page: Page) -> None:
    page.goto("/new-upload")
    tab_to(page, page.get_by_label("Pasted text"))
    page.keyboard.insert_text("days\n")
    press(page, "button", "Upload")
    expect(page.get_by_role("heading", level=1)).to_contain_text("pasted text")


def test_report_is_read_and_downloaded_and_the_upload_deleted_by_keyboard(
    page: Page, dump: Callable[..., Path]
) -> None:
    choose_and_send(page, dump(STATES["done.smf"], "done.smf"))
    expect(page.get_by_text("342 rows were stored.", exact=True)).to_be_visible(timeout=60_000)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/uploads")
    press(page, "link", "done.smf")
    expect(page.get_by_role("heading", level=1, name="done.smf")).to_be_visible()
    region = page.get_by_role("region", name="Records by type")
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth")  # cards need no keys to be read
    tab_to(page, page.get_by_text("Log", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Log")).to_be_visible()
    with page.expect_download() as download:
        press(page, "link", "Report as JSON")
    assert json.loads(download.value.path().read_text())["report"]["files"][0]["queues"] == 17
    press(page, "link", "APPLICATION1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("APPLICATION1")
    page.go_back()
    press(page, "button", "Delete upload")
    expect(page.get_by_text("Upload deleted.")).to_be_visible()


def test_failed_upload_is_read_as_a_different_kind_by_keyboard(page: Page, dump: Callable[..., Path]) -> None:
    choose_and_send(page, dump(STATES["failed.smf"], "failed.smf"))
    expect(page.get_by_text(re.compile("Read again or change"))).to_be_visible(timeout=60_000)
    tab_to(page, page.get_by_text(re.compile("Read again or change")))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("Kind of data"))
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    press(page, "button", "Read again")
    expect(page.get_by_text("The file will be read again.")).to_be_visible()


def test_transfer_is_cancelled_by_keyboard(page: Page, dump: Callable[..., Path]) -> None:
    page.route("**/api/v1/uploads?*", lambda _: None)  # the service never answers
    page.goto("/new-upload")
    page.get_by_label("One or more files").set_input_files(dump("wait 0\n", "a.smf"))
    press(page, "button", "Upload")
    press(page, "button", "Cancel")
    expect(page.get_by_role("alert")).to_contain_text("was canceled")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_focused()


def test_map_entries_are_added_and_removed_by_keyboard(page: Page) -> None:
    page.goto("/qsg-map")
    for label, text in (("System", "SYSA"), ("Queue manager", "CSQ1"), ("Queue-sharing group", "SQ03")):
        tab_to(page, page.get_by_label(label, exact=True))
        page.keyboard.type(text)
    press(page, "button", "Save")
    expect(page.get_by_role("row", name="CSQ1 SYSA SQ03")).to_be_visible()
    tab_to(page, page.get_by_label("System", exact=True))
    page.keyboard.type("SYSB")
    tab_to(page, page.get_by_label("Queue manager", exact=True))
    page.keyboard.type("CSQ2")
    press(page, "checkbox", "Not in a queue-sharing group", "Space")
    press(page, "button", "Save")
    expect(page.get_by_role("row", name="CSQ2 SYSB none")).to_be_visible()
    press(page, "button", "Remove CSQ1 on SYSA")
    expect(page.get_by_text("Entry removed.")).to_be_visible()
    expect(page.get_by_role("row", name="CSQ1 SYSA")).to_have_count(0)
