"""Displays and browses pasted or uploaded as files, by keyboard and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from app.clusters.explaining import EXAMPLES
from tests.browser.conftest import NewContext

pytestmark = pytest.mark.browser
FIRST, SECOND = EXAMPLES


def test_pasted_texts_are_explained_by_keyboard_only(page: Page) -> None:
    page.goto("/cluster/explain")
    page.get_by_label("Displays of the sending queue manager").fill(FIRST.displays)
    page.get_by_label("Browse of its cluster transmission queue").fill(FIRST.messages)
    page.get_by_role("button", name="Explain").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("6 messages wait for 3 channels")
    row = page.get_by_role("row", name="TO.NEWYORK NEWYORK RETRYING")
    expect(row).to_contain_text("Next attempt at about 2026-11-21 12:07:41 UTC")
    expect(page.get_by_role("table").filter(has_text="CLWLRANK of the channel").first).to_contain_text("out")
    expect(page.get_by_label("Displays of the sending queue manager")).to_have_value(FIRST.displays)


@pytest.mark.parametrize("width_px", [1440, 1024])
def test_the_two_files_are_in_line_and_the_order_is_whole(page: Page, width_px: int) -> None:
    page.set_viewport_size({"width": width_px, "height": 900})
    page.goto("/cluster/explain")
    tops = [each.bounding_box() for each in page.locator(".waiting input[type=file]").all()]
    assert len({each["y"] for each in tops if each}) == 1
    page.get_by_text("Queue, times, order of eliminations").click()
    order = page.get_by_label("Order of eliminations").bounding_box()
    queue = page.get_by_label("Queue of messages without a queue name").bounding_box()
    assert order
    assert queue
    assert order["width"] > 1.5 * queue["width"]  # its choices are sentences


def test_fields_next_to_each_other_are_level_whatever_their_hints(page: Page) -> None:
    page.set_viewport_size({"width": 1024, "height": 900})
    page.goto("/cluster/explain")
    page.evaluate("document.querySelector('.pair .hint').textContent = 'Several words. '.repeat(40)")
    left, right = (page.locator(each).bounding_box() for each in ("#displays_files", "#messages_file"))
    assert left
    assert right
    assert left["y"] == right["y"]


def test_files_are_explained_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("/cluster/explain")

    def file(name: str, text: str) -> FilePayload:
        return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}

    page.get_by_label("Or upload files with displays").set_input_files([file("d.txt", SECOND.displays)])
    page.get_by_label("Or upload a file with the browse").set_input_files([file("b.csv", SECOND.messages)])
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("heading", name="Waiting messages on LON1")).to_be_visible()
    expect(page.get_by_text("TO.MQA1 is in doubt about a batch.")).to_be_visible()


def test_form_without_browse_output_shows_the_error_next_to_its_field(page: Page) -> None:
    page.goto("/cluster/explain")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("alert")).to_contain_text("Browse: Contains no messages.")
    expect(page.get_by_label("Browse of its cluster transmission queue")).to_have_attribute(
        "aria-invalid", "true"
    )
