from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from fastapi import FastAPI

from tests.app.plans.support import SQ03, changed
from tests.app.web.pages.addresses import html
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get, send_json


def shown(app: FastAPI, address: str, *, status: int = 200) -> Element:
    answer = html(app, address)
    assert answer.status == status
    return read(answer.text)


def test_results_name_the_plan_and_lead_to_existing_pages(own_app: FastAPI) -> None:
    for name in ("ONE", "TWO"):
        send_json(own_app, "PUT", f"/api/v1/plans/{name}", SQ03)
    main = shown(own_app, "/search?q=PAYMENTS.IN").one("main")
    rows = main.all("table")[0].one("tbody").all("tr")
    assert [row.all("td")[0].text for row in rows] == ["Plan ONE", "Plan TWO"]
    assert "2, in 2 plans" in main.all("h2")[0].text
    for link in main.all("a"):
        if not link["href"].startswith("#"):
            assert get(own_app, link["href"].partition("#")[0]).status == 200, link["href"]


def test_more_results_of_a_kind_are_linked_and_paged(own_app: FastAPI) -> None:
    queues = [
        {"name": f"Q{number:03}", "message_bytes": 100, "backlog": 1, "persistent": True}
        for number in range(60)
    ]
    document = changed(structures=[{"name": "APPL1", "queues": queues}])
    assert send_json(own_app, "PUT", "/api/v1/plans/MANY", document).status == 201
    main = shown(own_app, "/search?q=Q0*").one("main")
    (more,) = [link for link in main.all("a") if "kind=queues" in link["href"]]
    assert more.text == "Show all 60 results in queues"
    assert parse_qs(urlsplit(more["href"]).query) == {"q": ["Q0*"], "kind": ["queues"]}
    second = shown(own_app, f"{more['href']}&page=2").one("main")
    assert len(second.one("tbody").all("tr")) == 10
    assert second.one("nav", class_="pages").one("span", aria_current="page").text == "2"
    beyond = shown(own_app, f"{more['href']}&page=9").one("main")
    assert beyond.one("nav", class_="pages").one("span", aria_current="page").text == "2"
    assert len(beyond.one("tbody").all("tr")) == 10


def test_empty_search_explains_what_can_be_found(app: FastAPI) -> None:
    main = shown(app, "/search").one("main")
    assert "lists every plan that has this queue" in main.text
    assert main.all("table") == []


def test_search_without_results_says_so(app: FastAPI) -> None:
    status = shown(app, "/search?q=zzzqqq").one("main").one("p", role="status")
    assert "Nothing found for “zzzqqq”" in status.text


def test_long_search_is_refused_with_the_limit(app: FastAPI) -> None:
    main = shown(app, f"/search?q={'A' * 5000}", status=422).one("main")
    assert "Enter at most 100 characters" in main.one("p", role="alert").text
    assert main.one("input", id="site-search")["value"] == "A" * 100


def test_search_text_is_escaped(app: FastAPI) -> None:
    answer = html(app, "/search?q=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text


def test_every_page_has_one_search_box(app: FastAPI) -> None:
    for address in ("/docs", "/search", "/search?q=a", "/nothing/here"):
        found = read(html(app, address).text)
        assert len([box for box in found.all("input") if box.get("id") == "site-search"]) == 1
