"""Pages offer only what the reader may do; pages of accounts and users."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from starlette.routing import Match

from app.accounts import sessions
from app.accounts.rights import RIGHTS, key_of
from app.actor import Role
from app.main import create_app
from app.settings import Settings
from app.texts.documents import example_text, read_text
from tests.app.accounts.support import (
    PASSWORD,
    Browser,
    add_token,
    app_with_accounts,
    bearer,
    signed_in,
    user_row,
)
from tests.app.accounts.test_sign_in import move_back
from tests.app.fits.support import daily, fit_json, forecast_json, store_night
from tests.app.uploads.support import post_file
from tests.app.usage.support import store, ten_days
from tests.app.web.pages.html import Element, read
from tests.app.web.pages.test_contexts import NIGHT_PAGES, PLAN_PAGES, SCENARIO_PAGES, USAGE_PAGES
from tests.app.web.support import call, get, send_json

PAGES = (
    "/", "/calculator", "/uploads", "/qsg-map", "/usage", "/forecasts", "/curves", "/cf-levels", "/nights", "/whatif",
    "/what-runs", "/lint", "/import", "/merge", "/running", "/plan-from-running", "/events/simulate", "/events/read", "/cluster/decide",
    "/cluster/load", "/cluster/explain", "/search?q=SQ03", "/reference", "/docs", "/api/docs", "/account", "/nothing/here",
    "/uploads/1", "/upload-files", "/collection-kit", "/account/password", *PLAN_PAGES, *SCENARIO_PAGES, *USAGE_PAGES, *NIGHT_PAGES,
)  # fmt: skip


@pytest.fixture(scope="module")
def filled_site(tmp_path_factory: pytest.TempPathFactory, folder_with_users: Path) -> FastAPI:
    """Return an application with accounts, plans, scenarios, usage, uploads and a nightly run."""
    folder = Path(tmp_path_factory.mktemp("site"))
    shutil.copytree(folder_with_users, folder / "data")
    alone = create_app(Settings(data_dir=folder / "data"))
    document = read_text(example_text().encode()).model_dump(mode="json")
    assert send_json(alone, "PUT", "/api/v1/plans/CONTEXTS", document).status == 201
    assert send_json(alone, "PUT", "/api/v1/plans/GONE", document).status == 201
    assert get(alone, "/api/v1/plans/GONE").status == 200
    scenario = {"changes": {"queue_managers": 6}}
    assert send_json(alone, "PUT", "/api/v1/plans/CONTEXTS/scenarios/more", scenario).status == 201
    store(alone, ten_days(days=2))
    post_file(alone, "text")
    add_unregistered_file(folder / "data" / "uploads")
    store_night(alone.state.database, curves=[fit_json()], forecasts=[forecast_json()], days=daily())
    alone.state.database.close()
    return app_with_accounts(folder)


def add_unregistered_file(uploads: Path) -> None:
    """Store a file that belongs to no upload, which operators can read again or remove."""
    content = b"a file without an upload"
    digest = hashlib.sha256(content).hexdigest()
    path = uploads / digest[:2] / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    an_hour_ago = time.time() - 3600
    os.utime(path, (an_hour_ago, an_hour_ago))


def needed_role(app: FastAPI, method: str, address: str) -> Role | None:
    """Return the role that a link or a form of a page needs; None if it needs none or leads elsewhere."""
    path = urlsplit(address).path
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}
    for route in app.router.routes:
        if route.matches(dict(scope))[0] == Match.FULL:
            right = RIGHTS[key_of(route)[0]]
            return right if isinstance(right, Role) else None
    return None


def offers(page: Element) -> Iterator[tuple[str, str]]:
    """Yield the method and the address of each link and form of a page."""
    for link in page.all("a"):
        if (link.get("href") or "").startswith("/"):
            yield "GET", link["href"]
    for form in page.all("form"):
        yield (form.get("method") or "get").upper(), form["action"]
    for button in page.all("button"):
        if target := button.get("formaction"):
            yield "POST", target


@pytest.mark.parametrize("role", ["viewer", "planner", "operator"])
def test_pages_offer_only_what_the_role_permits(filled_site: FastAPI, role: str) -> None:
    browser = signed_in(filled_site, role)
    mine = Role[role.upper()]
    refused = []
    for address in PAGES:
        answer = browser.get(address)
        is_mine = (needed_role(filled_site, "GET", address) or Role.VIEWER) <= mine
        assert (answer.status == 403) != is_mine, (address, answer.status)
        refused += [
            (address, method, target)
            for method, target in offers(read(answer.text))
            if (needed_role(filled_site, method, target) or Role.VIEWER) > mine
        ]
    assert not refused, "\n".join(map(str, refused))


def test_administrator_is_offered_everything(filled_site: FastAPI) -> None:
    found = {
        (method, urlsplit(target).path)
        for address in PAGES
        for method, target in offers(read(signed_in_page(filled_site, address)))
    }
    assert found >= {
        ("GET", "/users"),
        ("GET", "/new-plan"),
        ("GET", "/new-upload"),
        ("GET", "/plans/CONTEXTS/edit"),
        ("POST", "/plans/CONTEXTS/delete"),
        ("POST", "/plans/CONTEXTS/rename"),
        ("POST", "/nights"),
        ("POST", "/qsg-map"),
        ("POST", "/upload-files/register"),
        ("POST", "/upload-files/remove"),
        ("POST", "/cf-levels"),
        ("POST", "/sign-out"),
    }


def signed_in_page(app: FastAPI, address: str) -> str:
    return signed_in(app, "administrator").get(address).text


def test_refused_page_names_the_needed_role(filled_site: FastAPI) -> None:
    answer = signed_in(filled_site, "viewer").get("/new-upload")
    assert answer.status == 403
    assert "This needs the role operator. Your role, viewer, does not include it." in answer.text
    assert '<span class="user-name" title="viewer">viewer</span>' in answer.text


def test_single_user_mode_is_stated_on_every_page(app: FastAPI) -> None:
    for address in ("/", "/calculator", "/plans", "/docs", "/nothing/here", "/uploads", "/api/docs"):
        assert "Single-user mode without sign-in" in get(app, address, accept="text/html").text, address


@pytest.mark.parametrize(
    "address", ["/account", "/account/password", "/users", "/users/anna", "/sign-in/confirm"]
)
def test_accounts_of_a_single_user_are_off(app: FastAPI, address: str) -> None:
    answer = get(app, address, accept="text/html")
    assert answer.status == 409
    assert "CFPLAN_AUTHENTICATION=accounts" in answer.text


def test_sign_in_page_of_a_single_user_leads_on(app: FastAPI) -> None:
    assert get(app, "/sign-in?next=/plans", accept="text/html").headers["location"] == "/plans"


# ---- caches ---------------------------------------------------------------------------------------------------------


def test_answers_to_signed_in_users_are_not_stored_by_shared_caches(filled_site: FastAPI) -> None:
    browser = signed_in(filled_site, "administrator")
    for address in (
        *PAGES,
        "/api/v1/plans",
        "/plans.csv",
        "/openapi.json?v=1",
        "/users.csv",
        "/api/v1/users",
    ):
        control = browser.get(address).headers.get("cache-control", "")
        assert control == "no-store" or "private" in control, address
        assert "public" not in control, address


def test_plan_that_a_browser_has_cached_is_not_confirmed_without_a_right(filled_site: FastAPI) -> None:
    browser = signed_in(filled_site, "viewer")
    found = browser.send("GET", "/api/v1/plans/CONTEXTS", headers={"accept": "application/json"})
    assert found.headers["cache-control"] == "private, no-cache"
    tag = {"if-none-match": found.headers["etag"], "accept": "application/json"}
    assert browser.send("GET", "/api/v1/plans/CONTEXTS", headers=tag).status == 304
    assert Browser(filled_site).send("GET", "/api/v1/plans/CONTEXTS", headers=tag).status == 401


def test_files_of_pages_stay_cacheable(filled_site: FastAPI) -> None:
    answer = signed_in(filled_site, "viewer").get("/static/css/cfplan.css?v=1")
    assert "private" not in answer.headers["cache-control"]


def test_pages_of_two_users_at_once_show_each_their_own_name(filled_site: FastAPI) -> None:
    import asyncio

    import httpx

    secrets = {role: signed_in(filled_site, role).secret for role in ("viewer", "planner", "operator")}

    async def fetch(client: httpx.AsyncClient, role: str) -> bool:
        headers = {"cookie": f"cfplan-session={secrets[role]}", "accept": "text/html"}
        page = (await client.get("/calculator", headers=headers)).text
        others = set(secrets) - {role}
        # The name is the text of an element, and its title.
        return f'class="user-name" title="{role}">{role}<' in page and not any(
            text in page for each in others for text in (f'title="{each}"', f'">{each}<')
        )

    async def run() -> list[bool]:
        transport = httpx.ASGITransport(filled_site, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await asyncio.gather(*(fetch(client, role) for role in list(secrets) * 8))

    assert all(asyncio.run(run()))


# ---- users ----------------------------------------------------------------------------------------------------------


def test_administrator_adds_a_user_with_a_password_that_is_shown_once(site: FastAPI) -> None:
    browser = signed_in(site, "administrator")
    answer = browser.post("/users", name="Anna@Example.com", role="planner")
    password = read(answer.text).one("code", id="text-secret").text
    assert "Initial password of anna@example.com" in answer.text
    assert password not in browser.get("/users").text
    anna = Browser(site)
    assert anna.sign_in("anna@example.com", password).headers["location"] == "/account/password"


@pytest.mark.parametrize(
    ("name", "role", "message"),
    [
        ("planner", "viewer", "There is already a user planner."),
        ("a b", "viewer", "letters a to z"),
        ("", "viewer", "letters a to z"),
        ("x" * 65, "viewer", "letters a to z"),
        ("anna", "king", "Choose a role"),
    ],
)
def test_user_is_refused_next_to_the_field(site: FastAPI, name: str, role: str, message: str) -> None:
    answer = signed_in(site, "administrator").post("/users", name=name, role=role)
    assert answer.status == 422
    assert message in answer.text


def test_users_are_sorted_filtered_and_saved_as_a_file(site: FastAPI) -> None:
    browser = signed_in(site, "administrator")
    names = [cell.text for cell in read(browser.get("/users?sort=-role").text).one("tbody").all("th")]
    assert names == ["administrator", "operator", "planner", "viewer"]
    assert (
        "viewer"
        not in browser.get("/users?search=PLAN").text.partition("<tbody>")[2].partition("</tbody>")[0]
    )
    assert [cell.text for cell in read(browser.get("/users?search=PLAN").text).one("tbody").all("td")][2] == (
        "never"
    )
    for key in ("name", "role", "state", "last_sign_in", "created"):
        assert browser.get(f"/users.csv?sort={key}").status == 200
    assert browser.get("/users.csv?search=plan").text.splitlines()[1].startswith("planner,planner,active")
    assert browser.get("/users?sort=password").status == 422


def test_changes_to_users_need_a_recent_sign_in(site: FastAPI) -> None:
    browser = signed_in(site, "administrator")
    move_back(site, confirmed_at=sessions.RECENT)
    assert (
        browser.post("/users", name="anna", role="viewer").headers["location"]
        == "/sign-in/confirm?next=%2Fusers"
    )
    answer = browser.post("/users/planner", action="disabled")
    assert answer.headers["location"] == "/sign-in/confirm?next=%2Fusers%2Fplanner"
    assert user_row(site, "planner").disabled_at is None
    refused = send_json(
        site, "PATCH", "/api/v1/users/planner", {"role": "viewer"}, cookie=f"cfplan-session={browser.secret}"
    )
    assert refused.json()["type"] == "/docs/problems#confirmation-required"


def test_disabled_user_is_signed_out_and_tokens_stay_revoked(site: FastAPI) -> None:
    administrator, planner = signed_in(site, "administrator"), signed_in(site, "planner")
    token = bearer(add_token(site, "planner", "viewer"))
    assert (
        administrator.post("/users/planner", action="disabled").headers["location"]
        == "/users/planner?said=disabled"
    )
    assert planner.get("/plans").status == 303
    assert call(site, "GET", "/api/v1/account", headers=token).status == 401
    administrator.post("/users/planner", action="enabled")
    assert Browser(site).sign_in("planner").status == 303
    assert call(site, "GET", "/api/v1/account", headers=token).status == 401


def test_replaced_password_ends_sessions_and_must_be_changed(site: FastAPI) -> None:
    planner = signed_in(site, "planner")
    answer = signed_in(site, "administrator").post("/users/planner", action="password")
    password = read(answer.text).one("code", id="text-secret").text
    assert planner.get("/plans").status == 303
    assert planner.sign_in("planner", PASSWORD).status == 422
    assert planner.sign_in("planner", password).headers["location"] == "/account/password"


def test_last_administrator_stays_one(site: FastAPI) -> None:
    browser = signed_in(site, "administrator")
    for fields in ({"action": "role", "role": "viewer"}, {"action": "disabled"}):
        answer = browser.post("/users/administrator", **fields)
        assert answer.status == 422
        assert "the only administrator" in answer.text
    browser.post("/users/planner", action="role", role="administrator")
    assert browser.post("/users/administrator", action="role", role="viewer").status == 303
    assert browser.get("/users").status == 403


def test_page_of_a_user_lists_tokens_without_secrets(site: FastAPI) -> None:
    secret = add_token(site, "planner", "viewer")
    page = signed_in(site, "administrator").get("/users/planner").text
    assert "a script" in page
    assert secret[:20] not in page
    assert signed_in(site, "administrator").get("/users/nobody").status == 404


def test_every_page_of_accounts_is_well_formed(site: FastAPI) -> None:
    add_token(site, "administrator", "viewer")
    browser = signed_in(site, "administrator")
    pages = [
        browser.get(each).text
        for each in ("/account", "/account/password", "/users", "/users/planner", "/sign-in/confirm")
    ]
    pages.append(Browser(site).get("/sign-in").text)
    for page in map(read, pages):
        ids = [element["id"] for element in page.walk() if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        labels = {label["for"] for label in page.all("label")}
        for box in page.all("input"):
            assert box.get("type") == "hidden" or box["id"] in labels, box
        assert len(page.all("h1")) == 1
