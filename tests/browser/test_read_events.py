"""Event messages pasted or uploaded as files, by keyboard and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from app.events.reading import example_text
from tests.browser.conftest import NewContext
from tests.planner_core.depth_events.reading.support import EventValues, mqmd, pcf

pytestmark = pytest.mark.browser
CORREL = "AB" * 24


def test_pasted_events_are_read_by_keyboard(page: Page) -> None:
    page.goto("/events/read")
    page.get_by_label("Or paste the text").fill(example_text())
    page.get_by_label("Active members").fill("QM1, QM2, QM3")
    page.get_by_label("Active members").press("Enter")
    expect(page.get_by_role("heading", name="Sets")).to_be_visible()
    expect(page.get_by_role("cell", name="no message QM3 wrote nothing")).to_be_visible()
    expect(page.get_by_role("img", name="Depth of APP.SHARED.Q1 at its events").first).to_be_visible()
    expect(page.get_by_label("Active members")).to_have_value("QM1, QM2, QM3")


def test_files_of_two_queue_managers_are_read_as_one_set_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("/events/read")

    def file(queue_manager: str) -> FilePayload:
        told = EventValues(queue_manager, "SQ1", correl_id=CORREL)
        return {
            "name": queue_manager,
            "mimeType": "application/octet-stream",
            "buffer": mqmd(told) + pcf(told),
        }

    page.get_by_label("Files: one for each queue manager, or one for all").set_input_files(
        [file("QM1"), file("QM2")]
    )
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("rowheader", name="1. Queue Depth High 2224 on SQ1")).to_be_visible()
    expect(page.get_by_role("rowheader", name="2. ")).to_have_count(0)
    expect(page.get_by_role("rowheader", name="QM2")).to_be_visible()


def test_error_is_shown_next_to_its_field(page: Page) -> None:
    page.goto("/events/read?example=three-members")
    page.get_by_label("PERFMEV").fill("QM1=PERHAPS")
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("alert")).to_contain_text("PERFMEV: 'QM1=PERHAPS' is not of the form QM1=ENABLED")
    expect(page.get_by_label("PERFMEV")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("PERFMEV")).to_have_value("QM1=PERHAPS")
    expect(page.get_by_label("Or paste the text")).not_to_be_empty()
