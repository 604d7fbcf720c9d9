"""The editor in a real browser: the grid of queues, undo, drafts, and fields behind "More"."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from app.plans.editor import folding, panel
from tests.browser.axe import problems_at_every_width
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser

PASTE = """(input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def save_plan(base: str, name: str, queues: int, **changed: object) -> None:
    plan = {
        "qsg": "QSG1",
        "queue_managers": 2,
        "structures": [
            {
                "name": "APP",
                "queues": [
                    {"name": f"APP.Q{n:02}", "message_bytes": 1024, "backlog": 1000 + n}
                    for n in range(queues)
                ],
            }
        ],
        **changed,
    }
    answer = httpx.put(f"{base}/api/v1/plans/{name}", json=plan, headers={"if-match": "*"}, timeout=ANSWER_S)
    if answer.status_code == 412:
        answer = httpx.put(f"{base}/api/v1/plans/{name}", json=plan, timeout=ANSWER_S)
    assert answer.status_code in (200, 201), answer.text


def cell(page: Page, row: int, key: str) -> Locator:
    return page.locator(f'[name="/structures/0/queues/{row}/{key}"]')


def names(page: Page) -> list[str]:
    return page.locator("tr.queue .q-name input").evaluate_all("all => all.map(each => each.value)")


def test_new_plan_shows_only_the_values_that_it_needs(page: Page) -> None:
    page.goto("/new-plan")
    shown = page.locator("#plan :is(input, select, textarea):visible").evaluate_all(
        "all => all.map(each => each.name)"
    )
    assert shown == [
        "name",
        "/qsg",
        "/queue_managers",
        "/structures/0/name",
        *(
            f"/structures/0/queues/0/{key}"
            for key in ("name", "message_bytes", "backlog", "put_rate_per_s", "outage_minutes")
        ),
        "comment",
    ]


def test_thirty_queues_fit_on_a_screen(page: Page, base: str) -> None:
    save_plan(base, "MANY", 40)
    page.goto("/plans/MANY/edit")
    page.locator("table.grid thead").evaluate("head => head.scrollIntoView({ behavior: 'instant' })")
    bar = page.locator("header.bar").evaluate("bar => bar.getBoundingClientRect().bottom")
    whole = page.locator("tr.queue").evaluate_all(
        """(rows, top) => rows.map((row) => row.getBoundingClientRect())
             .filter((box) => box.top >= top && box.bottom <= innerHeight).length""",
        bar,
    )
    assert whole >= 30


def test_arrow_keys_and_enter_move_between_cells(page: Page, base: str) -> None:
    save_plan(base, "KEYS", 2)
    page.goto("/plans/KEYS/edit")
    cell(page, 0, "name").focus()
    page.keyboard.press("ArrowDown")
    expect(cell(page, 1, "name")).to_be_focused()
    page.keyboard.press("ArrowRight")  # the whole name is selected, so this leaves the cell
    expect(cell(page, 1, "message_bytes")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")  # within the text
    expect(cell(page, 1, "message_bytes")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(cell(page, 1, "name")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # there is no row above the first
    expect(cell(page, 0, "name")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # after the last row comes a new one
    expect(cell(page, 2, "name")).to_be_focused()
    page.keyboard.press("Enter")  # but not after a blank one
    assert len(names(page)) == 3


def test_pasted_block_is_entered_and_undone(page: Page, base: str) -> None:
    save_plan(base, "PASTED", 2, admin={"entsmax": 5000})
    page.goto("/plans/PASTED/edit")
    start = cell(page, 1, "name")
    start.focus()
    # Wider than the visible columns: Persistent is behind "More".
    start.evaluate(PASTE, "NEW.A\t2K\t50\t\t\tyes\r\nNEW.B\t4K\t\t40\t90\tno\r\nNEW.C\t1K\t7\t\t\tmaybe\r\n")
    assert names(page) == ["APP.Q00", "NEW.A", "NEW.B", "NEW.C"]
    assert [cell(page, 2, key).input_value() for key in ("message_bytes", "backlog", "put_rate_per_s")] == [
        "4K",
        "",
        "40",
    ]
    expect(cell(page, 1, "persistent")).to_be_checked()
    expect(cell(page, 1, "persistent")).to_be_visible()
    expect(page.locator(".did")).to_have_text("Pasted 3 rows. 1 value does not fit and was left out: maybe.")
    expect(page.locator("details.structure > summary")).to_contain_text("4 queues")
    expect(page.locator("#summary")).to_contain_text("The group uses")
    page.keyboard.press("Control+z")
    assert names(page) == ["APP.Q00", "APP.Q01"]
    expect(cell(page, 1, "backlog")).to_have_value("1001")
    expect(cell(page, 1, "persistent")).not_to_be_checked()


def test_removed_row_is_restored_by_undo(page: Page, base: str) -> None:
    save_plan(base, "REMOVED", 3)
    page.goto("/plans/REMOVED/edit")
    cell(page, 1, "backlog").fill("77")
    page.get_by_role("button", name="Remove APP.Q01").click()
    assert names(page) == ["APP.Q00", "APP.Q02"]
    expect(cell(page, 2, "name")).to_be_focused()
    undo = page.get_by_role("button", name=re.compile("^Undo"))
    expect(undo).to_have_text("Undo: removal of APP.Q01")
    undo.click()
    assert names(page) == ["APP.Q00", "APP.Q01", "APP.Q02"]
    expect(cell(page, 1, "backlog")).to_have_value("77")
    undo.click()  # the edit before it
    expect(cell(page, 1, "backlog")).to_have_value("1001")
    expect(undo).to_be_disabled()


def test_block_with_too_many_rows_goes_to_the_field_for_pasted_queues(page: Page, base: str) -> None:
    save_plan(base, "LONG", 1)
    page.goto("/plans/LONG/edit")
    start = cell(page, 0, "name")
    start.evaluate(PASTE, "".join(f"LONG.Q{n}\t1024\t{n}\n" for n in range(100)))
    assert names(page) == ["APP.Q00"]
    box = page.locator('[name="/structures/0/paste"]')
    expect(box).to_be_focused()
    assert box.input_value().splitlines()[:2] == ["name\tmessage_bytes\tbacklog", "LONG.Q0\t1024\t0"]
    page.get_by_role("button", name="Add these queues").click()
    expect(page.get_by_text("100 queues were added to APP")).to_be_visible()


def test_more_opens_at_an_error_and_lists_its_values_when_closed(page: Page, base: str) -> None:
    save_plan(base, "MORE", 1)
    page.goto("/plans/MORE/edit")
    more = page.locator('summary:has([data-settings="/structures/0"])')
    full = page.locator('[name="/structures/0/full_threshold"]')
    expect(full).to_be_hidden()
    more.click()
    full.fill("70")
    settings = page.locator('[data-settings="/structures/0"]')
    expect(settings).to_have_text("FULLTHRESHOLD 70 %")
    full.fill("lots")
    expect(page.locator('[id="/structures/0/full_threshold-error"]')).to_be_visible()
    more.click()
    expect(full).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#wrong-list")).to_be_visible()
    expect(full).to_be_visible()
    more.click()
    page.locator("#wrong-list").get_by_role("link", name="APP: FULLTHRESHOLD").click()
    expect(full).to_be_focused()


def test_storage_of_a_coupling_facility_has_an_example_and_a_readable_error(page: Page, base: str) -> None:
    save_plan(base, "STORAGE", 1, coupling_facilities=[{"name": "CF01", "size": "16G"}, {"name": "CF02"}])
    page.goto("/plans/STORAGE/edit")
    row = page.get_by_role("group", name="Coupling facility CF01")
    storage = row.get_by_label("Storage", exact=True)
    expect(storage).to_have_accessible_description("Such as 64G.")
    storage.fill("16")
    error = page.locator('[id="/coupling_facilities/0/size-error"]')
    expect(error).to_contain_text("did you mean 16G?")
    words, box = error.bounding_box(), storage.bounding_box()
    assert words
    assert box
    assert words["width"] > 1.5 * box["width"]


def test_usage_of_an_offload_rule_has_its_unit(page: Page, base: str) -> None:
    rules = {"to": "SMDS", "dsgroup": "MQ.*.APP", "rules": [{"usage_over": 70, "size_over": "32K"}]}
    structure = {
        "name": "APP",
        "offload": rules,
        "queues": [{"name": "A", "message_bytes": 1024, "backlog": 1}],
    }
    save_plan(base, "RULES", 0, structures=[structure])
    page.goto("/plans/RULES/edit")
    page.locator('summary:has([data-settings="/structures/0"])').click()
    usage = page.get_by_role("group", name="Offload rule 1").get_by_label("Usage over")
    expect(usage).to_have_accessible_description("%")


def test_open_columns_with_errors_are_accessible_and_do_not_overflow(page: Page, base: str) -> None:
    save_plan(base, "WRONG", 3)
    page.goto("/plans/WRONG/edit")
    page.locator('summary:has([data-settings="/structures/0/queues"])').click()
    cell(page, 1, "put_rate_per_s").fill("7")
    expect(page.locator('[id="/structures/0/queues/1/put_rate_per_s-error"]')).to_have_text(
        "Enter either a backlog, or puts per second and outage minutes, not both."
    )
    page.get_by_role("button", name="Remove APP.Q00").click()
    assert problems_at_every_width(page) == []


def test_draft_is_offered_restored_and_removed_after_saving(page: Page, base: str) -> None:
    save_plan(base, "DRAFT", 2)
    page.goto("/plans/DRAFT/edit")
    cell(page, 0, "backlog").fill("4711")
    cell(page, 1, "name").press("Enter")
    cell(page, 2, "name").fill("ADDED")
    expect(page.get_by_text("Draft kept in this browser")).to_contain_text(
        re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC\.$")
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    offer = page.get_by_role("region", name="Draft", exact=True)
    expect(offer).to_be_visible()
    expect(cell(page, 0, "backlog")).to_have_value("1000")  # nothing is restored without a click
    offer.get_by_role("button", name="Restore draft").click()
    expect(page.get_by_text("The draft is restored, based on version 1.")).to_be_visible()
    expect(cell(page, 0, "backlog")).to_have_value("4711")
    assert names(page) == ["APP.Q00", "APP.Q01", "ADDED"]
    cell(page, 2, "message_bytes").fill("1K")
    cell(page, 2, "backlog").fill("5")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()
    page.wait_for_function("Object.keys(localStorage).every(key => !key.startsWith('cfplan-draft:'))")
    page.goto("/plans/DRAFT/edit")
    expect(offer).to_be_hidden()


def test_draft_of_an_older_version_leads_to_the_page_with_both_changes(page: Page, base: str) -> None:
    save_plan(base, "OLD", 2)
    page.goto("/plans/OLD/edit")
    cell(page, 0, "backlog").fill("4711")
    expect(page.get_by_text("Draft kept in this browser")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/plans")
    save_plan(base, "OLD", 3)
    page.goto("/plans/OLD/edit")
    offer = page.get_by_role("region", name="Draft", exact=True)
    expect(offer).to_contain_text("It is based on version 1; version 2 has been saved since.")
    offer.get_by_role("button", name="Restore draft").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("OLD has changed in the meantime")
    page.goto("/plans/OLD/edit")
    offer.get_by_role("button", name="Discard").click()
    expect(offer).to_be_hidden()
    page.reload()
    expect(page.locator("#plan")).to_be_visible()
    expect(offer).to_be_hidden()


def test_editor_works_without_room_for_drafts(page: Page, base: str) -> None:
    save_plan(base, "FULL", 1)
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    page.goto("/plans/FULL/edit")
    cell(page, 0, "backlog").fill("4711")
    expect(page.get_by_text("No draft is kept: the browser's storage is full.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()


def test_large_plan_keeps_queues_that_the_form_does_not_show(
    page: Page, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "FOLDED_OVER", 100)
    monkeypatch.setattr(panel, "FOLDED_OVER", 100)
    save_plan(base, "LARGE", 120)
    before = httpx.get(f"{base}/api/v1/plans/LARGE/document", timeout=ANSWER_S).json()
    page.goto("/plans/LARGE/edit")
    expect(page.get_by_text("120 queues, as in version 1.")).to_be_visible()
    assert problems_at_every_width(page) == []
    page.get_by_role("button", name="Edit queues of APP").click()
    text = page.get_by_label("Queues, one on each line")
    expect(text).to_be_focused()
    text.fill(text.input_value().replace("APP.Q07\t", "APP.CHANGED\t"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("saved=changed"))
    before["structures"][0]["queues"][7]["name"] = "APP.CHANGED"
    assert httpx.get(f"{base}/api/v1/plans/LARGE/document", timeout=ANSWER_S).json() == before


@pytest.mark.parametrize("width", [390, 1440])
def test_first_heading_of_the_editor_has_room_below_the_title(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/new-plan")
    title, heading = (page.locator(each).first.bounding_box() for each in ("h1", ".edit-form h2"))
    assert title
    assert heading
    assert heading["y"] - title["y"] - title["height"] >= 16
