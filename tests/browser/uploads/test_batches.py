"""Many dumps at once: dropped, sent with one failure, read as one batch, and filtered by state."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.app.uploads.support import DAY
from tests.browser.layout import layout_defects
from tests.browser.uploads.test_uploads import BATCH, choose_and_send

pytestmark = pytest.mark.browser

FILES = 30
"""Fewer than the 118 dumps of the task, each of which takes a tenth of a second."""
UNTIL_READ_MS = 120_000
DROP = """(names) => {
  const dropped = new DataTransfer();
  for (const [name, content] of names) dropped.items.add(new File([content], name, { lastModified: 1 }));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    document.getElementById("drop").dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true }));
  }
}"""
IS_WARNED = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"


def contents(number: int) -> str:
    if number == 3:
        return "fail 3\n"
    return f"ask\n# {number}\n" if number == 5 else f"days {DAY}\n# {number}\n"


def test_many_dumps_are_dropped_sent_and_read_as_one_batch(page: Page) -> None:
    page.goto("/new-upload")
    names = [[f"SMF.D{number:03}", contents(number)] for number in range(FILES)]
    page.evaluate(DROP, names[:10])
    page.evaluate(DROP, names[5:])
    expect(page.locator("#chosen")).to_contain_text(f"{FILES} files, ")
    assert not page.evaluate(IS_WARNED)

    asked: list[Route] = []
    sent: list[str] = []

    def pass_on(route: Route) -> None:
        sent.append(route.request.url)
        if "name=SMF.D007" in route.request.url and len(asked) < 1:
            asked.append(route)
            assert page.evaluate(IS_WARNED)
            route.abort()
        else:
            route.continue_()

    page.route("**/api/v1/uploads?*", pass_on)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(f"1 of {FILES} files were not sent.")
    expect(page.locator("#bar-transfer-words")).to_contain_text(f"{FILES - 1} of {FILES} files, 1 failed, ")
    expect(page.locator("#sending .failed")).to_contain_text("SMF.D007")
    assert layout_defects(page) == []
    assert not page.evaluate(IS_WARNED)
    page.get_by_role("button", name="Try the failed files again").click()

    expect(page).to_have_url(BATCH, timeout=UNTIL_READ_MS)
    assert len(sent) == FILES + 1
    page.evaluate("window.kept = 'the page was not loaded again'")
    expect(page.locator(".batch .sentence")).to_have_text(
        f"{FILES - 2} of {FILES} read, 1 failed, 1 needs your input", timeout=UNTIL_READ_MS
    )
    states = page.get_by_role("navigation", name="State of the uploads")
    expect(states).to_contain_text(f"All {FILES} Needs your input 1 Failed 1 Waiting 0 Stored {FILES - 2}")
    assert page.evaluate("window.kept") == "the page was not loaded again"
    failed = page.get_by_role("row", name="SMF.D003")
    expect(failed.get_by_role("button", name="Try again")).to_be_visible()
    states.get_by_role("link", name="Needs your input").click()
    expect(page.locator("#uploads tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Answer").click()
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    page.goto("/uploads")
    page.get_by_role("link", name="Batch of").click()
    page.get_by_role("button", name="Try the failed file again").click()
    expect(page.get_by_text("The failed files will be read again.")).to_be_visible()


def test_batch_is_sent_filtered_and_refreshed_without_scripts(page: Page, base: str, tmp_path: Path) -> None:
    assert page.context.browser is not None
    context = page.context.browser.new_context(base_url=base, java_script_enabled=False)
    plain = context.new_page()
    paths = [tmp_path / f"D{number}.smf" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text(f"wait 1\n{contents(number + 3)}")
    choose_and_send(plain, *paths)
    expect(plain).to_have_url(BATCH)
    expect(plain.locator(".batch .sentence")).to_contain_text("0 of 3 read")
    while (refresh := plain.get_by_role("link", name="Refresh")).is_visible():
        refresh.click()
        plain.wait_for_timeout(300)
    expect(plain.locator(".batch .sentence")).to_have_text("1 of 3 read, 1 failed, 1 needs your input")
    plain.get_by_role("link", name=re.compile("^Failed 1")).click()
    expect(plain.locator("#uploads tbody tr")).to_have_count(1)
    plain.get_by_role("button", name="Try again").click()
    expect(plain.get_by_text("The file will be read again.")).to_be_visible()
    context.close()


def test_one_answer_reads_all_dumps_of_a_batch(page: Page, tmp_path: Path) -> None:
    paths = [tmp_path / f"D{number}.smf" for number in range(6)]
    for number, path in enumerate(paths):
        path.write_text(f"ask\ndays {DAY}\n# {number}\n")
    page.goto("/new-upload")
    page.get_by_label("One or more files").set_input_files(paths)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page).to_have_url(BATCH, timeout=UNTIL_READ_MS)
    sentence = page.locator(".batch .sentence")
    expect(sentence).to_have_text("0 of 6 read, 6 need your input", timeout=UNTIL_READ_MS)
    expect(
        page.get_by_text("One answer is enough for all files that ask for the same groups.")
    ).to_be_visible()
    assert layout_defects(page) == []
    page.get_by_role("link", name="Answer").first.click()
    for name in ("CSQ1 on SYSA", "CSQ2 on SYSB"):
        page.get_by_label(f"Group of {name}").fill("SQ03")
    page.get_by_role("button", name="Submit answers").click()
    expect(page.get_by_role("status").first).to_contain_text(
        "all other files whose questions are now answered"
    )
    page.get_by_role("main").get_by_role("link", name="Uploads", exact=True).click()
    expect(sentence).to_have_text("6 of 6 read", timeout=UNTIL_READ_MS)
