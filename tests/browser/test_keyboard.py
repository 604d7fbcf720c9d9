"""Every page by keyboard only: every control is reached in order, has a visible focus, and releases it.

The pages are those of the application's routes: a page without an address here fails a test.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from playwright.sync_api import FilePayload, Page, expect
from starlette.routing import Route, compile_path

from app import routers
from app.documentation import api_docs
from app.sizing.examples import examples
from planner_core.tables import all_tables
from tests.app.web.pages.addresses import PAGES as SEEN_BY_AXE
from tests.browser.keys import press, tab_to, walk
from tests.browser.plans import test_plans
from tests.browser.test_accounts import PAGES as OF_ACCOUNTS
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser

FILES = {
    "/openapi.json",
    "/export-plans",
    "/calculator/{kind}",
    "/quick/{kind}",
    "/fleet.csv",
    "/plans/{name}/versions/{number}/files/{file}",
    "/plans.csv",
    "/usage.csv",
    "/usage/health.csv",
    "/import/{kind}.csv",
    "/forecasts.csv",
    "/curves.csv",
    "/sizing-points.csv",
    "/sizing-points/template.csv",
    "/sizing-points/advice.txt",
    "/nights.csv",
    "/plans/{name}/scenarios.csv",
    "/usage/{qsg}/{structure}/usage.csv",
    "/usage/{qsg}/{structure}/health.csv",
    "/usage/{qsg}/{structure}/queues.csv",
    "/usage/{qsg}/{structure}/queue.csv",
    "/curves/{version}/points.csv",
    "/users.csv",
    "/audit.csv",
    "/sign-in/oidc",
    "/sign-in/oidc/again",
    "/sign-in/oidc/callback",
    "/sign-in/oidc/sign-out",
    "/forecasts/{qsg}/{structure}/forecast.csv",
    "/whatif/filling",
    "/whatif/survival",
    "/whatif/thresholds",
}
"""Addresses of downloads and redirects, which are not pages."""
MEASURED = {
    "/uploads/{upload_id}",
    "/usage/{qsg}/plan",
    "/usage/{qsg}/plan/into/{name}",
    "/usage/{qsg}/{structure}",
    "/usage/{qsg}/{structure}/queue",
    "/curves/{version}",
    "/sizing-points/fit",
    "/forecasts/{qsg}/{structure}",
    "/nights/{run_id}",
    "/plans/{name}/versions/{number}/structures/{structure}/filling",
    "/plans/{name}/versions/{number}/structures/{structure}/survival",
    "/plans/{name}/versions/{number}/structures/{structure}/thresholds",
    "/plans/{name}/scenarios",
    "/plans/{name}/scenarios/new",
    "/plans/{name}/scenarios/compare",
    "/plans/{name}/scenarios/{scenario}",
    "/plans/{name}/scenarios/{scenario}/report",
    "/plans/{name}/scenarios/{scenario}/edit",
}
"""Pages of files that were read and of what a night made of them: tests/browser/uploads, usage, curves and night have such,
keys and axe. Scenarios have theirs in tests/browser/scenarios, outages and thresholds of a structure in
tests/browser/whatif_filling."""
ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "/cluster/decide": ("/cluster/decide", "/cluster/decide?example=orders-differ"),
    "/cluster/load": ("/cluster/load",),
    "/cluster/explain": ("/cluster/explain", "/cluster/explain?example=runmqsc"),
    "/": ("/", "/?search=nothing&sort=-used"),
    "/calculator": ("/calculator", "/calculator?messages=2OO&qsg=SQ033"),
    "/calculator/explanations": ("/calculator/explanations", "/calculator/explanations?messages=2OO"),
    "/new-plan": ("/new-plan", "/new-plan?from=example"),
    "/plans": ("/plans", "/plans?deleted=GONE", "/plans?search=nothing"),
    "/plans/{name}": (
        "/plans/KEYS",
        "/plans/KEYS?tab=findings",
        "/plans/KEYS?tab=policy",
        "/plans/KEYS?tab=queues",
    ),
    "/plans/{name}/what-if": ("/plans/KEYS/what-if",),
    "/plans/{name}/versions/{number}": ("/plans/KEYS/versions/1",),
    "/plans/{name}/versions/{number}/structures/{structure}": (
        "/plans/KEYS/versions/2/structures/APPLICATION1",
    ),
    "/plans/{name}/versions/{number}/structures/{structure}/explanations": (
        "/plans/KEYS/versions/2/structures/APPLICATION1/explanations",
    ),
    "/plans/{name}/history": ("/plans/KEYS/history",),
    "/plans/{name}/compare": ("/plans/KEYS/compare",),
    "/plans/{name}/versions/{number}/print": ("/plans/KEYS/versions/2/print",),
    "/plans/{name}/advice": ("/plans/KEYS/advice", "/plans/OTHER/advice"),
    "/plans/{name}/edit": ("/plans/KEYS/edit",),
    "/deleted-plans": ("/deleted-plans",),
    "/import-plans": ("/import-plans",),
    "/sheet": ("/sheet", "/sheet?plan=KEYS&plan=OTHER"),
    "/uploads": ("/uploads",),
    "/new-upload": ("/new-upload",),
    "/qsg-map": ("/qsg-map",),
    "/upload-files": ("/upload-files",),
    "/collection-kit": (
        "/collection-kit",
        "/collection-kit?systems=SYSA&queue_managers=CSQ1",
        "/collection-kit?interval=7",
    ),
    "/usage": ("/usage",),
    "/usage/health": ("/usage/health",),
    "/import": ("/import",),
    "/forecasts": ("/forecasts",),
    "/curves": ("/curves",),
    "/cf-levels": ("/cf-levels",),
    "/sizing-points": ("/sizing-points",),
    "/sizing-points/add": ("/sizing-points/add",),
    "/nights": ("/nights",),
    "/connections": ("/connections",),
    "/notices": ("/notices",),
    "/events/simulate": ("/events/simulate", "/events/simulate?example=perfmev-differs"),
    "/events/read": ("/events/read", "/events/read?example=three-members"),
    "/whatif": ("/whatif", "/whatif?plan=KEYS"),
    "/whatif/cf-loss": ("/whatif/cf-loss", "/whatif/cf-loss?plan=KEYS&with=OTHER"),
    "/whatif/upgrade": ("/whatif/upgrade", "/whatif/upgrade?plan=KEYS"),
    "/whatif/recovery": ("/whatif/recovery", "/whatif/recovery?plan=KEYS&recovery_minutes=1"),
    "/whatif/smds": ("/whatif/smds", "/whatif/smds?plan=KEYS"),
    "/what-runs": ("/what-runs",),
    "/lint": ("/lint", "/lint?example"),
    "/merge": ("/merge", "/merge?example"),
    "/running": ("/running", "/running?example"),
    "/plan-from-running": ("/plan-from-running", "/plan-from-running?example"),
    "/reference": ("/reference",),
    "/reference/{table_id}": ("/reference/admin_structure_cfcc14",),
    "/docs": ("/docs",),
    "/docs/{slug:path}": ("/docs/reference/rest-api", "/docs/contributing/layout"),
    "/style": ("/style",),
    "/audit": ("/audit", "/audit?who=nobody", "/audit?since=yesterday"),
    "/search": ("/search", "/search?q=KEYS", "/search?q=PAY*&kind=queues"),
    "/api/docs": ("/api/docs",),
    "/api/try": ("/api/try?operation=healthz_healthz_get",),
}
EVERY_ADDRESS = [address for addresses in ADDRESSES.values() for address in addresses] + ["/nothing/here"]


@pytest.fixture(scope="module", autouse=True)
def _plans(origin: str) -> None:
    """Store a plan of two versions with queues to split, another plan, and a deleted one."""
    document = copy.deepcopy(examples()["sq03"].document)
    changed: dict[str, Any] = copy.deepcopy(document)
    changed["structures"][0]["initsize"] = "100M"
    changed["structures"][0]["queues"].append(
        {"name": "BATCH.IN", "message_bytes": 2048, "backlog": 500_000, "isolation": "batch"}
    )
    with httpx.Client(base_url=f"{origin}/api/v1/plans/", timeout=ANSWER_S) as client:
        saved = [client.put("KEYS", json=document)]
        saved.append(client.put("KEYS", json=changed, headers={"If-Match": saved[0].headers["etag"]}))
        saved += [client.put(name, json={**document, "qsg": "SQ04"}) for name in ("OTHER", "GONE", "LOST")]
        saved += [client.delete("GONE"), client.delete("LOST")]
    assert [answer.status_code for answer in saved] == [201, 200, 201, 201, 201, 200, 200]


@pytest.fixture(autouse=True)
def _wide(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})


def routes_of_pages() -> set[str]:
    """Return the paths that answer a GET with a page."""
    found = [route for router in (*routers.page_routers(), api_docs.router) for route in router.routes]
    assert all(isinstance(route, Route) for route in found)
    read = {route.path for route in found if isinstance(route, Route) and "GET" in (route.methods or ())}
    return read - FILES - MEASURED - OF_ACCOUNTS.keys()


def test_addresses_include_every_page_of_the_application() -> None:
    assert set(ADDRESSES) == routes_of_pages()
    for path, addresses in ADDRESSES.items():
        for address in addresses:
            assert compile_path(path)[0].fullmatch(address.partition("?")[0]), (path, address)


def test_axe_checks_every_page_of_the_application() -> None:
    seen = [address.partition("?")[0] for address in (*SEEN_BY_AXE, *test_plans.PAGES)]
    for path in routes_of_pages():
        assert any(compile_path(path)[0].fullmatch(address) for address in seen), path


def wait_for_api_docs(page: Page) -> None:
    if page.locator("#api-docs").count():
        page.locator("#api-docs :is(.opblock, .opblock-tag)").first.wait_for()


@pytest.mark.parametrize("address", EVERY_ADDRESS)
def test_tab_visits_every_control_in_order_with_visible_focus_and_begins_with_a_skip_link(
    page: Page, address: str
) -> None:
    page.goto(address)
    wait_for_api_docs(page)
    assert "Skip to the content" in walk(page)[0]
    skip = page.get_by_role("link", name="Skip to the content")
    skip.focus()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("!document.activeElement.closest('header.bar')")


# ---- what each page is for, by keyboard ------------------------------------------------------------------------------


def heading(page: Page, name: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def calculate(page: Page) -> None:
    tab_to(page, page.get_by_label("Messages", exact=True))
    page.keyboard.press("Control+a")
    page.keyboard.type("400000")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("needs 8")
    assert "messages=400000" in page.url


def follow_first_action(page: Page) -> None:
    first = page.get_by_role("region", name="What to do first").get_by_role("link").first
    target = first.get_attribute("href") or "no link"
    tab_to(page, first)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).not_to_have_text("Overview")
    assert target is not None
    assert target in page.url


def create_plan(page: Page) -> None:
    tab_to(page, page.get_by_label("Name", exact=True).first)
    page.keyboard.press("Control+a")
    page.keyboard.type("TYPED")
    press(page, "button", "Save")
    heading(page, "TYPED")
    press(page, "button", "Delete TYPED")
    heading(page, "Plans")
    press(page, "button", "Undo")
    heading(page, "TYPED")


def change_plan(page: Page) -> None:
    tab_to(page, page.get_by_label("Comment", exact=True))
    page.keyboard.type("nothing")
    press(page, "button", "Save")
    expect(page.get_by_text("Nothing changed, so there is no new version.")).to_be_visible()


def open_plan_from_the_list(page: Page) -> None:
    for name in ("KEYS", "OTHER"):
        press(page, "checkbox", f"Add {name} to the sheet", "Space")
    press(page, "button", "Compare selected plans")
    heading(page, "Several groups on one sheet")
    page.go_back()
    tab_to(page, page.get_by_role("main").get_by_role("searchbox"))
    page.keyboard.type("KEY")
    page.keyboard.press("Enter")
    page.wait_for_url("**search=KEY*")
    press(page, "link", "KEYS")
    heading(page, "KEYS")


def use_plan_page(page: Page) -> None:
    press(page, "link", re.compile("^Findings"))
    tab_to(page, page.locator("details.accept > summary").first)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("known")
    expect(page.get_by_role("textbox", name="Reason").first).to_have_value("known")
    press(page, "link", "Policy and commands")
    tab_to(page, page.locator("[data-output=setxcf] > summary"))
    page.keyboard.press("Space")
    expect(page.locator("#text-setxcf")).to_be_visible()
    page.goto("/plans/KEYS")
    press(page, "link", "Edit")
    heading(page, "Edit KEYS")


def ask_about_plan(page: Page) -> None:
    press(page, "link", "Losing a coupling facility")
    heading(page, "Losing a coupling facility")


def use_old_version(page: Page) -> None:
    press(page, "link", "compare with it")
    heading(page, re.compile("KEYS: version 1 and"))


def explain_figure(page: Page) -> None:
    need = page.locator("details.figure", has=page.locator("#why-need_bytes"))
    tab_to(page, need.locator("summary").first)
    page.keyboard.press("Enter")
    expect(page.locator("#why-need_bytes table")).to_be_visible()
    expect(need.locator("summary").first).to_be_focused()


def close_explanation(page: Page) -> None:
    need = page.locator("#why-APPLICATION1-need_bytes, #why-need_bytes")
    expect(need).to_be_visible()
    tab_to(page, page.locator("details.figure", has=need).locator("summary"))
    page.keyboard.press("Enter")
    expect(need).to_be_hidden()


def compare_versions(page: Page) -> None:
    tab_to(page, page.get_by_role("radio", name="From version 1"))
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("radio", name="From version 2")).to_be_checked()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="From version 1")).to_be_checked()
    press(page, "button", "Compare")
    heading(page, "KEYS: version 1 and 2")


def compare_other_versions(page: Page) -> None:
    tab_to(page, page.get_by_label("From", exact=True))
    page.keyboard.press("ArrowUp")
    press(page, "button", "Compare")
    heading(page, "KEYS: version 2 and 2")


def leave_print_view(page: Page) -> None:
    press(page, "link", "KEYS")
    heading(page, "KEYS")


def open_proposal(page: Page) -> None:
    press(page, "button", "Open the proposal in the editor")
    heading(page, "Edit KEYS")
    expect(page.get_by_text("The proposal, as a change to the saved plan.")).to_be_visible()


def restore_plan(page: Page) -> None:
    press(page, "button", re.compile(r"^Restore LOST, deleted "))
    heading(page, "LOST")
    expect(page.get_by_text("Restored, with all its versions.")).to_be_visible()


def import_file(page: Page) -> None:
    files = page.get_by_label("Files")
    bad: FilePayload = {"name": "BAD.json", "mimeType": "application/json", "buffer": b"{}"}
    page.on("filechooser", lambda asked: asked.set_files(bad))
    tab_to(page, files)
    page.keyboard.press("Space")
    page.wait_for_function("each => each.files.length === 1", arg=files.element_handle())
    press(page, "button", "Import")
    expect(page.get_by_role("status")).to_contain_text("BAD.json")


def show_sheet(page: Page) -> None:
    press(page, "checkbox", "KEYS", "Space")
    press(page, "button", "Show the sheet")
    expect(page.get_by_role("heading", name="Storage")).to_be_visible()


def explain_waiting_messages(page: Page) -> None:
    tab_to(page, page.get_by_label("Browse of its cluster transmission queue"))
    page.keyboard.type("channel,accounting_token\nTO.A,0000")
    press(page, "button", "Explain")
    expect(page.get_by_role("status")).to_contain_text("1 message waits for 1 channel: 1 not eligible.")


def run_decision(page: Page) -> None:
    tab_to(page, page.get_by_label("Instances and channels, YAML or JSON"))
    page.keyboard.press("Control+a")
    page.keyboard.type("instances: [{queue_manager: A, put: DISABLED}]")
    press(page, "button", "Decide")
    expect(page.get_by_role("status")).to_contain_text("fails because no destination remains")


def show_another_failure(page: Page) -> None:
    press(page, "button", "channel TO.P1; queue manager P1")
    expect(page.get_by_role("img", name="Destinations of messages for INVENTQ go")).to_contain_text(
        "While channel TO.P1 is unavailable"
    )


def simulate_timeline(page: Page) -> None:
    tab_to(page, page.get_by_label("File, YAML or JSON"))
    page.keyboard.press("Control+a")
    page.keyboard.type("queues: []")
    press(page, "button", "Simulate")
    expect(page.get_by_role("alert")).to_contain_text("queue_managers: is required")
    expect(page.locator("#problems > p")).to_be_focused()
    expect(page.locator("#problems")).to_be_in_viewport()


def read_events(page: Page) -> None:
    tab_to(page, page.get_by_label("Or paste the text"))
    page.keyboard.type("hello")
    press(page, "button", "Read")
    expect(page.get_by_role("alert")).to_contain_text("The format is not supported.")


def calculate_loss_with_another_group(page: Page) -> None:
    tab_to(page, page.get_by_label("OTHER", exact=True).first)
    page.keyboard.press("Space")
    press(page, "button", "Calculate")
    heading(page, "Losing a coupling facility")
    expect(page.get_by_text("Counted together: SQ03, OTHER.")).to_be_visible()


def change_rate(page: Page) -> None:
    tab_to(page, page.get_by_label("Annual growth").first)
    page.keyboard.type("25")
    page.keyboard.press("Enter")
    heading(page, "Upgrades and growth")
    expect(page.get_by_role("heading", name="25 % a year for 2 years")).to_be_visible()


def enter_log_read_rate(page: Page) -> None:
    tab_to(page, page.get_by_label("Logs are read at").first)
    page.keyboard.type("250")
    page.keyboard.press("Enter")
    heading(page, "Backup and recovery")
    expect(page.get_by_role("row", name="Logs are read at 250 MB per second given")).to_be_visible()


def enter_queue_managers(page: Page) -> None:
    tab_to(page, page.get_by_label("Names of the queue managers").first)
    page.keyboard.type("QM71 QM72")
    page.keyboard.press("Enter")
    heading(page, "SMDS job")
    tab_to(page, page.get_by_role("main").locator("summary", has_text="QM72"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Job of QM72")).to_contain_text("DEFINE CLUSTER")


FRAGMENT = "STRUCTURE NAME(SQ03APP1) SIZE(64M) PREFLIST(CF01,CF02)"


def check_text(page: Page) -> None:
    tab_to(page, page.get_by_label("CFRM policy, MQSC or displays"))
    page.keyboard.type("STRUCTURE NAME(A) SIZE(1X)")
    press(page, "button", "Check")
    expect(page.get_by_role("status")).to_contain_text("1 line: CFRM policy, 1 structure. 2 errors")


def choose_example(page: Page) -> None:
    plan = page.get_by_label("Plan", exact=True)
    tab_to(page, plan)
    page.keyboard.press("End")
    expect(plan).to_have_value(".example")


def merge_plan(page: Page) -> None:
    choose_example(page)
    tab_to(page, page.get_by_label("Current policy"))
    page.keyboard.type(FRAGMENT)
    press(page, "button", "Merge")
    expect(page.get_by_role("status")).to_contain_text("4 changes in 4 structures")


def compare_with_running_system(page: Page) -> None:
    choose_example(page)
    tab_to(page, page.get_by_role("textbox", name="Running system"))
    page.keyboard.type("DEFINE POLICY NAME(POL1) REPLACE(YES) " + FRAGMENT)
    press(page, "button", "Compare")
    expect(page.get_by_role("heading", name="Commands, in order")).to_be_visible()


def create_plan_from_running_system(page: Page) -> None:
    tab_to(page, page.get_by_role("textbox", name="Running system"))
    page.keyboard.type(FRAGMENT)
    tab_to(page, page.get_by_label("Group"))
    page.keyboard.type("SQ03")
    press(page, "button", "Create a plan")
    expect(page.get_by_role("region", name="Plan document")).to_contain_text('"qsg": "SQ03"')


def link_task(name: str, title: str) -> Callable[[Page], None]:
    """Return a task that follows a link in the content of a page."""

    def done(page: Page) -> None:
        tab_to(page, page.get_by_role("main").get_by_role("link", name=name, exact=True).first)
        page.keyboard.press("Enter")
        heading(page, title)

    return done


def scroll_table(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    region = page.get_by_role("main").locator(".scroll").first
    tab_to(page, region)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "each => each.scrollLeft > 0 || each.scrollWidth <= each.clientWidth", arg=region.element_handle()
    )


def unfold(page: Page) -> None:
    tab_to(page, page.get_by_text("Rarely used fields"))
    page.keyboard.press("Space")
    expect(page.get_by_text("Collapsed until they are used.")).to_be_visible()


def find_plan(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=keys")
    press(page, "link", "KEYS")
    heading(page, "KEYS")


def filter_entries(page: Page) -> None:
    tab_to(page, page.get_by_label("Object", exact=True))
    page.keyboard.type("KEYS")
    page.keyboard.press("Enter")
    page.wait_for_url("**object=KEYS**")
    expect(page.get_by_role("table").get_by_role("link", name="KEYS").first).to_be_visible()


def go_to_operation(page: Page) -> None:
    press(page, "link", "Try it GET /healthz")
    heading(page, "GET /healthz")
    page.locator("#api-docs .opblock.is-open").wait_for()


def open_operation(page: Page) -> None:
    group = page.get_by_role("button", name="Expand operation").first
    group.wait_for()
    tab_to(page, group)
    page.keyboard.press("Enter")
    button = page.locator(".opblock-summary-control").first
    button.wait_for()
    tab_to(page, button)
    page.keyboard.press("Enter")
    expect(page.locator(".opblock.is-open")).to_have_count(1)


TABLE = all_tables()[0].title


def go_back_to_uploads(page: Page) -> None:
    tab_to(page, page.locator(".crumbs").get_by_role("link", name="Uploads", exact=True))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/uploads$"))


def go_to_upload_form(page: Page) -> None:
    press(page, "link", "Upload")
    heading(page, "Upload usage data")


def submit_empty_upload(page: Page) -> None:
    press(page, "button", "Upload")
    heading(page, "Upload usage data")
    expect(page.get_by_role("alert").first).to_be_visible()


def submit_empty_group_map(page: Page) -> None:
    press(page, "button", "Save")
    heading(page, "Queue managers and their groups")
    expect(page.get_by_text("Enter the group, or select that the queue manager is in none.")).to_be_visible()


def write_kit(page: Page) -> None:
    tab_to(page, page.get_by_label("Systems"))
    page.keyboard.type("SYSA")
    page.keyboard.press("Enter")
    heading(page, "Collection kit")
    tab_to(page, page.get_by_role("main").locator("summary", has_text="SMFDP-SYSA.jcl"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="SMF data sets of system SYSA")).to_contain_text("PGM=IFASMFDP")


def go_to_uploads(page: Page) -> None:
    press(page, "link", "Upload a dump")
    heading(page, "Uploads")


def enter_cfcc_level(page: Page) -> None:
    tab_to(page, page.get_by_label("Coupling facility", exact=True))
    page.keyboard.type("cf77")
    tab_to(page, page.get_by_label("CFCC level", exact=True))
    page.keyboard.type("25")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    press(page, "button", "Remove CF77")
    expect(page.get_by_role("status")).to_contain_text("Removed.")


def open_sizing_form(page: Page) -> None:
    press(page, "link", "Add points")
    heading(page, "Add sizing points")


def enter_sizing_answer(page: Page) -> None:
    for label, text in (
        ("CFCC level", "26"), ("SIZE", "200M"), ("INITSIZE", "100M"), ("Entries", "32,143"), ("Elements", "192,853"),
    ):  # fmt: skip
        tab_to(page, page.locator("form").last.get_by_label(label, exact=True))
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Added 1 point.")


MAIN_ACTIONS: Mapping[str, tuple[str, Callable[[Page], None]]] = {
    "/": ("/", follow_first_action),
    "/calculator": ("/calculator", calculate),
    "/calculator/explanations": ("/calculator/explanations", close_explanation),
    "/new-plan": ("/new-plan?from=example", create_plan),
    "/uploads": ("/uploads", go_to_upload_form),
    "/new-upload": ("/new-upload", submit_empty_upload),
    "/qsg-map": ("/qsg-map", submit_empty_group_map),
    "/upload-files": ("/upload-files", go_back_to_uploads),
    "/collection-kit": ("/collection-kit", write_kit),
    "/usage": ("/usage", go_to_uploads),
    "/usage/health": ("/usage/health", link_task("About health", "Health of structures")),
    "/import": ("/import", link_task("Columns", "Importing tables")),
    "/forecasts": ("/forecasts", go_to_uploads),
    "/curves": ("/curves", go_to_uploads),
    "/cf-levels": ("/cf-levels", enter_cfcc_level),
    "/sizing-points": ("/sizing-points", open_sizing_form),
    "/sizing-points/add": ("/sizing-points/add", enter_sizing_answer),
    "/cluster/decide": ("/cluster/decide", run_decision),
    "/cluster/load": ("/cluster/load", show_another_failure),
    "/cluster/explain": ("/cluster/explain", explain_waiting_messages),
    "/events/simulate": ("/events/simulate", simulate_timeline),
    "/events/read": ("/events/read", read_events),
    "/whatif": ("/whatif", link_task("Losing a coupling facility", "Losing a coupling facility")),
    "/whatif/cf-loss": ("/whatif/cf-loss?plan=KEYS", calculate_loss_with_another_group),
    "/whatif/upgrade": ("/whatif/upgrade?plan=KEYS", change_rate),
    "/whatif/recovery": ("/whatif/recovery?plan=KEYS", enter_log_read_rate),
    "/whatif/smds": ("/whatif/smds?plan=KEYS", enter_queue_managers),
    "/what-runs": ("/what-runs", link_task("Check a text", "Check a policy, MQSC or displays")),
    "/lint": ("/lint", check_text),
    "/merge": ("/merge", merge_plan),
    "/running": ("/running", compare_with_running_system),
    "/plan-from-running": ("/plan-from-running", create_plan_from_running_system),
    "/nights": ("/nights", link_task("The nightly run", "The nightly run")),
    "/connections": ("/connections", link_task("About connections", "Connections")),
    "/notices": ("/notices", link_task("About notices", "Notices")),
    "/plans": ("/plans", open_plan_from_the_list),
    "/plans/{name}": ("/plans/KEYS", use_plan_page),
    "/plans/{name}/what-if": ("/plans/KEYS/what-if", ask_about_plan),
    "/plans/{name}/versions/{number}": ("/plans/KEYS/versions/1", use_old_version),
    "/plans/{name}/versions/{number}/structures/{structure}": (
        "/plans/KEYS/versions/2/structures/APPLICATION1",
        explain_figure,
    ),
    "/plans/{name}/versions/{number}/structures/{structure}/explanations": (
        "/plans/KEYS/versions/2/structures/APPLICATION1/explanations",
        close_explanation,
    ),
    "/plans/{name}/history": ("/plans/KEYS/history", compare_versions),
    "/plans/{name}/compare": ("/plans/KEYS/compare", compare_other_versions),
    "/plans/{name}/versions/{number}/print": ("/plans/KEYS/versions/2/print", leave_print_view),
    "/plans/{name}/advice": ("/plans/KEYS/advice", open_proposal),
    "/plans/{name}/edit": ("/plans/KEYS/edit", change_plan),
    "/deleted-plans": ("/deleted-plans", restore_plan),
    "/import-plans": ("/import-plans", import_file),
    "/sheet": ("/sheet", show_sheet),
    "/reference": ("/reference", link_task(TABLE, TABLE)),
    "/reference/{table_id}": ("/reference/admin_structure_cfcc14", scroll_table),
    "/docs": ("/docs", link_task("Glossary", "Glossary")),
    "/docs/{slug:path}": ("/docs/reference/rest-api", link_task("Glossary", "Glossary")),
    "/style": ("/style", unfold),
    "/audit": ("/audit", filter_entries),
    "/search": ("/search", find_plan),
    "/api/docs": ("/api/docs", go_to_operation),
    "/api/try": ("/api/try", open_operation),
}


@pytest.mark.parametrize("path", ADDRESSES)
def test_main_task_of_each_page_can_be_done_by_keyboard(page: Page, path: str) -> None:
    address, act = MAIN_ACTIONS[path]
    page.goto(address)
    act(page)
