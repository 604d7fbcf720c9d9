"""The page of the calculator: figures and texts equal those of the core."""

from __future__ import annotations

import json
import re
from decimal import ROUND_CEILING, Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.sizing.calculator.answer import DOCUMENT_OUTPUT, LABELS, SHOWN_OUTPUTS
from app.web.form_words import with_labels
from planner_core.units import MIB
from tests.app.web.pages.addresses import calculator, html, page
from tests.app.web.pages.html import Element
from tests.app.web.support import get, post_json

PLANS = {
    "the example": {},
    "with a DSGROUP": {"dsgroup": "MQ.SMDS.*.APP1"},
    "large messages by rate": {
        "backlog_by": "rate", "rate_per_minute": "1200", "outage_minutes": "90", "message_bytes": "40K",
        "dsgroup": "MQ.SMDS.*.A", "cfcc_level": "19", "queue_managers": "3",
    },
    "nonpersistent, without CSQSYSAPPL": {"persistent": "no", "csqsysappl": "no", "shared_channels": "0"},
    "an era long gone": {"cfcc_level": "14", "qsg": "Q1", "coupling_facilities": "CFA"},
    "no messages": {"messages": "0"},
}  # fmt: skip
EVERY_PLAN = pytest.mark.parametrize("fields", PLANS.values(), ids=list(PLANS))


def document_of(app: FastAPI, fields: dict[str, str]) -> Any:  # noqa: ANN401 - any JSON value
    """Return the plan document that the page offers for download."""
    answer = get(app, f"/calculator/{DOCUMENT_OUTPUT}?{urlencode(fields)}")
    assert answer.status == 200
    return answer.json()


@EVERY_PLAN
@pytest.mark.parametrize("kind", SHOWN_OUTPUTS)
def test_texts_and_downloads_equal_those_of_rest(app: FastAPI, fields: dict[str, str], kind: str) -> None:
    rest = post_json(app, f"/api/v1/{kind}", document_of(app, fields))
    shown = page(app, calculator(**fields))
    texts = shown.all("pre", id=f"text-{kind}")
    if rest.status != 200:
        assert texts == []
        assert rest.json()["detail"] in shown.one(class_="answer").text
        return
    assert text_of(app, texts[0]) == rest.text
    (link,) = shown.one("details", data_output=kind).all("a", class_="button")
    download = get(app, link["href"])
    assert download.content == rest.content
    assert download.media_type == rest.media_type == "text/plain"
    assert download.headers["content-disposition"] == rest.headers["content-disposition"]
    assert link["download"] in download.headers["content-disposition"]


def text_of(app: FastAPI, box: Element) -> str:
    """Return the text in a box, or the one to which a link in it leads and which a browser would show there."""
    links = box.all("a")
    if not links:
        return box.raw_text
    (link,) = links
    answer = get(app, link["href"])
    assert (answer.status, answer.media_type) == (200, "text/plain")
    assert answer.headers["content-disposition"].startswith("inline; ")
    return answer.text


@EVERY_PLAN
def test_document_on_the_page_equals_its_download(app: FastAPI, fields: dict[str, str]) -> None:
    shown = page(app, calculator(**fields)).one("pre", id=f"text-{DOCUMENT_OUTPUT}")
    assert json.loads(text_of(app, shown)) == document_of(app, fields)


@EVERY_PLAN
def test_only_the_text_that_is_open_is_on_the_page(app: FastAPI, fields: dict[str, str]) -> None:
    first, *others = page(app, calculator(**fields)).all("details", class_="output")
    assert "open" in first.attributes
    assert not first.one("pre").all("a")
    assert all("open" not in each.attributes and each.one("pre").all("a", class_="text") for each in others)


def links_to_explanations(part: Element) -> list[Element]:
    return [each for each in part.all("a") if (each.get("id") or "").startswith("why-")]


def figures(part: Element) -> dict[str, str]:
    found = {}
    for item in [
        *part.all("div", class_="figure"),
        *part.all("details", class_="figure"),
        *links_to_explanations(part),
    ]:
        value = item.all("b")[0].text
        line = item.all("summary")[0] if item.tag == "details" else item
        found[line.text.removesuffix(value).rstrip()] = value
    return found


def written(value: Any, kind: str) -> str:  # noqa: ANN401 - any JSON value
    """Return a figure as readers see it, calculated without the filters."""
    if kind == "bytes":
        return f"{value / MIB:.1f} MiB"
    if kind == "kib":
        return f"{value / 1024:.1f} MiB"
    if kind == "percent":  # what is full is never shown as less
        return f"{Decimal(value).quantize(Decimal('0.1'), ROUND_CEILING)} %"
    return str(value)


@EVERY_PLAN
def test_figures_equal_those_of_the_result(app: FastAPI, fields: dict[str, str]) -> None:
    result = post_json(app, "/api/v1/size", document_of(app, fields)).json()
    section = page(app, calculator(**fields)).one("section", aria_labelledby="h-figures")
    blocks = section.all(class_="figures")
    names = [heading.text for heading in section.all("h3")]
    assert names == [structure["cfrm_name"] for structure in result["structures"]] + ["Total"]
    for block, found in zip(blocks, [*result["structures"], result["totals"]], strict=True):
        shown = figures(block)
        values = dict(found)
        values |= {f"smds/{name}": value for name, value in (found.get("smds") or {}).items()}
        expected = {
            label: written(values[name], kind)
            for name, (label, kind) in LABELS.items()
            if values.get(name) is not None
            and not ("offload" in name and found.get("role") in {"admin", "system"})
        }
        assert shown == expected


@EVERY_PLAN
def test_findings_equal_those_of_the_result_with_sources(app: FastAPI, fields: dict[str, str]) -> None:
    result = post_json(app, "/api/v1/size", document_of(app, fields)).json()
    section = page(app, calculator(**fields)).one("section", aria_labelledby="h-findings")
    shown = section.all(class_="finding")
    codes = [finding["code"] for finding in result["findings"]]
    assert [item.all("a")[0].text for item in shown] == codes
    for item, finding in zip(shown, result["findings"], strict=True):
        assert item.one(class_="sev").text.lower() == finding["severity"]
        # Pages name fields by their labels, and mark keys as code.
        assert " ".join(with_labels(finding["message"]).replace("`", "").split()) in item.text
        assert item.one(class_="source").text
        assert item.all("a")[0]["href"] == f"/docs/reference/findings/{finding['code']}"


@EVERY_PLAN
def test_every_number_links_to_its_explanation(app: FastAPI, fields: dict[str, str]) -> None:
    shown = page(app, calculator(**fields))
    answer = shown.one(class_="answer")
    for number in answer.all("a", class_="num"):
        fold = answer.one(id=number["href"].removeprefix("#"))
        explanation = explanation_of(app, fold)
        assert explanation.all("code", class_="formula")
        assert explanation.all(class_="basis")
    strip = answer.one("dl", class_="strip")
    assert len(strip.all("a", class_="num")) >= len(strip.all("dt")) - 1
    unexplained = [item.text for item in answer.all(class_="plain")]
    assert [text for text in unexplained if re.search(r"\d", text)] == []


def explanation_of(app: FastAPI, link: Element) -> Element:
    """Return the explanation that a link leads to."""
    address, _, figure = link["href"].partition("#")
    return page(app, address).one(id=figure)


@EVERY_PLAN
def test_page_of_explanations_has_the_figures_of_the_calculator(app: FastAPI, fields: dict[str, str]) -> None:
    shown = page(app, calculator(**fields)).one("section", aria_labelledby="h-figures")
    links = links_to_explanations(shown)
    (address,) = {link["href"].partition("#")[0] for link in links}
    explained = page(app, address)
    blocks = explained.all(class_="figures")
    assert [figures(block) for block in blocks] == [figures(block) for block in shown.all(class_="figures")]
    assert [each.text for each in explained.one("main").all("h2")] == [each.text for each in shown.all("h3")]
    folds = explained.all("details", class_="figure")
    assert all("open" in fold.attributes for fold in folds)
    assert len(folds) == len(links)
    (back,) = explained.one(class_="crumbs").all("a")
    assert figures(page(app, back["href"])) == figures(shown)


@EVERY_PLAN
def test_explanations_equal_those_of_rest(app: FastAPI, fields: dict[str, str]) -> None:
    result = post_json(app, "/api/v1/size?explain=true", document_of(app, fields)).json()
    formulas = {figure: each["formula"] for figure, each in result["explanations"].items()}
    inputs = {
        figure: [item["name"] for item in (*each["inputs"], *each["steps"])]
        for figure, each in result["explanations"].items()
    }
    explained = page(app, f"/calculator/explanations?{urlencode(fields)}")
    names = {structure["name"]: f"/structures/{at}" for at, structure in enumerate(result["structures"])}
    for name, pointer in {**names, "together": "/totals"}.items():
        for member in LABELS:
            for shown in explained.all(id=f"why-{name}-{member.replace('/', '-')}"):
                assert shown.one("code", class_="formula").raw_text == formulas[f"{pointer}/{member}"]
                rows = [row.one("th").text for row in shown.one("tbody").all("tr")]
                assert rows == inputs[f"{pointer}/{member}"]


@pytest.mark.parametrize("fields", [{"messages": "x"}, {"queue_managers": "33"}])
def test_form_with_errors_has_no_explanations(app: FastAPI, fields: dict[str, str]) -> None:
    shown = page(app, f"/calculator/explanations?{urlencode(fields)}", status=422)
    (name,) = fields
    assert shown.one("input", name=name)["aria-invalid"] == "true"
    assert links_to_explanations(shown) == []


def test_default_calculation_with_a_dsgroup_has_no_errors_or_warnings(app: FastAPI) -> None:
    severities = {item.text for item in page(app, calculator(dsgroup="MQ.SMDS.*.APP1")).all(class_="sev")}
    assert severities == {"Info"}


def test_chart_is_svg_with_an_equivalent_table(app: FastAPI) -> None:
    shown = page(app, "/calculator").one("figure", class_="chart")
    wide, narrow = shown.all("svg")
    for drawing in (wide, narrow):
        assert drawing["role"] == "img"
        title, description = (shown.one(id=text) for text in drawing["aria-labelledby"].split())
        assert title.text == "Size against number of messages of 1024 bytes"
        assert "200000 messages need 440.9 MiB" in description.text
        assert len(drawing.all("circle", class_="point")) == 1
    rows = [[cell.text for cell in row.all() if cell.tag in {"th", "td"}] for row in shown.all("tr")[1:]]
    assert ["200000", "440.9", "this plan"] in rows
    assert [int(row[0]) for row in rows] == sorted(int(row[0]) for row in rows)


@pytest.mark.parametrize("fields", [{"messages": "0"}, {"messages": "1"}, {"messages": "99999999"},
                                    {"message_bytes": "0"}, {"message_bytes": "100M", "messages": "9"}])  # fmt: skip
def test_chart_stays_inside_its_frame(app: FastAPI, fields: dict[str, str]) -> None:
    for drawing in page(app, calculator(**fields)).all("svg", role="img"):
        _, _, width, height = map(float, drawing["viewbox"].split())
        for element in drawing.walk():
            points = re.findall(r"([-\d.]+),([-\d.]+)", element.get("points") or "")
            xs = [float(x) for x, _ in points] + [
                float(element[n]) for n in ("x", "x1", "x2", "cx") if element.get(n)
            ]
            ys = [float(y) for _, y in points] + [
                float(element[n]) for n in ("y", "y1", "y2", "cy") if element.get(n)
            ]
            assert all(0 <= x <= width for x in xs), element
            assert all(0 <= y <= height for y in ys), element


def test_typed_values_stay_in_their_fields(app: FastAPI) -> None:
    typed = {
        "messages": "2OO",
        "queue": '"><b>&amp;',
        "qsg": "sq03",
        "backlog_by": "messages",
        "csqsysappl": "no",
    }
    shown = page(app, calculator(**typed), status=422)
    for name in ("messages", "queue", "qsg"):
        assert shown.one("input", name=name)["value"] == typed[name]
    chosen = [box["value"] for box in shown.all("input", name="csqsysappl") if "checked" in box.attributes]
    assert chosen == ["no"]


def test_error_is_shown_at_its_field_and_linked_from_the_result(app: FastAPI) -> None:
    shown = page(app, calculator(messages="2OO", size_factor="9"), status=422)
    for name in ("messages", "size_factor"):
        box = shown.one("input", name=name)
        assert box["aria-invalid"] == "true"
        assert f"{name}-error" in box["aria-describedby"].split()
        error = shown.one(id=f"{name}-error").text
        assert error
        assert error in shown.one(class_="answer").text
        assert shown.one(class_="answer").all("a", href=f"#{name}")
    assert shown.one("input", name="qsg").get("aria-invalid") is None
    assert shown.one(id="summary").text == "Fix 2 fields to see a result."
    assert "open" in shown.one("details", class_="more").attributes
    assert shown.all("pre") == []


def test_plan_beyond_ibm_limits_is_refused_with_reason_and_source(app: FastAPI) -> None:
    shown = page(app, calculator(queue_managers="33"), status=422)
    assert "32" in shown.one(id="queue_managers-error").text
    (finding,) = shown.all(class_="finding")
    assert finding.one(class_="source").text
    assert shown.all("pre") == []


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("/?messages=300000&qsg=SQ04", "/calculator?messages=300000&qsg=SQ04"),
        ("/quick/explanations?messages=5", "/calculator/explanations?messages=5"),
        ("/quick/policy?messages=5", "/calculator/policy?messages=5"),
        ("/quick/document", "/calculator/document"),
    ],
)
def test_addresses_of_earlier_releases_redirect_with_their_parameters(
    app: FastAPI, earlier: str, now: str
) -> None:
    answer = html(app, earlier)
    assert (answer.status, answer.headers["location"]) == (308, now)


def test_page_works_without_scripts(app: FastAPI) -> None:
    shown = page(app, "/calculator")
    form = shown.one("form", id="quick")
    assert (form["action"], form["method"]) == ("/calculator", "get")
    button = shown.one("button", class_="primary", type="submit")
    assert (button.text, button["form"]) == ("Calculate", form["id"])
    for button in shown.all("button", class_="copy"):
        assert "hidden" in button.attributes
    assert "hidden" in shown.one("button", id="page-theme").attributes


@pytest.mark.parametrize("kind", [*SHOWN_OUTPUTS, DOCUMENT_OUTPUT])
@pytest.mark.parametrize("fields", [{"messages": "x"}, {"queue_managers": "33"}])
def test_form_with_errors_has_no_downloads(app: FastAPI, kind: str, fields: dict[str, str]) -> None:
    answer = html(app, f"/calculator/{kind}?{urlencode(fields)}")
    if kind == DOCUMENT_OUTPUT and "queue_managers" in fields:
        assert answer.status == 200  # the document is well-formed; what it asks for is not possible
        return
    assert answer.status == 422
    assert answer.media_type == "text/html"
    assert "content-disposition" not in answer.headers


@pytest.mark.parametrize("kind", ["job", "nothing", "..%2fpolicy", "policy%00"])
def test_unknown_output_is_not_found(app: FastAPI, kind: str) -> None:
    assert html(app, f"/calculator/{kind}").status == 404


def test_overflow_states_messages_and_the_storage_of_their_elements(app: FastAPI) -> None:
    shown = page(app, calculator(backlog_by="rate", overflow_minutes="30")).one(id="answer").text
    assert "30 more minutes are 18000 messages" in shown
    assert "26.4 MiB of storage-class memory (derived)" in shown  # 18 000 x 6 elements of 256 bytes


def test_overflow_without_storage_class_memory_is_a_warning(app: FastAPI) -> None:
    fields = {"backlog_by": "rate", "overflow_minutes": "30", "cfcc_level": "26"}
    answer = page(app, calculator(**fields)).one(id="answer")
    (warning,) = answer.all("p", class_="warning")
    assert "at CFCC levels 19 to 25 only" in warning.text
    assert "(derived)" not in answer.text


def test_answer_without_overflow_does_not_mention_it(app: FastAPI) -> None:
    assert "verflow" not in page(app, calculator(backlog_by="rate")).one(id="answer").text


def test_structure_without_messages_shows_what_its_initsize_holds(app: FastAPI) -> None:
    answer = page(app, calculator(messages="0"))
    words = " ".join(answer.one("div", id="answer").text.split())
    # 23 MiB less the base of 22 MiB: 477 messages of 1 KB, as the table of the curve lists.
    assert "INITSIZE holds 477messages; 0.0 % in use" in words
    assert "Size is set by the baseno messages" in words


@pytest.mark.parametrize(
    ("size", "label"), [("1024", "OFFLD3TH 90 %"), ("8192", "OFFLD2TH 80 %"), ("40000", "OFFLD1TH 70 %")]
)
def test_chart_shows_where_offload_of_the_messages_begins(app: FastAPI, size: str, label: str) -> None:
    answer = page(app, calculator(message_bytes=size, dsgroup="MQ.SMDS.*.APP"))
    labels = {text.text for text in answer.all("text") if "OFFLD" in text.text}
    assert labels == {label}
