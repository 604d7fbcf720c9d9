"""Any address and any input gets a page and never an internal error."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.sizing.calculator.answer import DOCUMENT_OUTPUT, SHOWN_OUTPUTS
from app.sizing.calculator.form import DEFAULTS
from tests.app.web.pages.addresses import html
from tests.app.web.pages.html import read

_numbers = st.one_of(
    st.integers(-3, 10**12).map(str),
    st.decimals(0, 10**6, places=3).map(str),
    st.sampled_from(
        ["0", "1", "32", "63K", "4G", "100M", "9" * 24, "0.0000000000001", "1e9", "NaN", "Infinity", "½", "٣"]
    ),
)
_texts = st.one_of(
    _numbers,
    st.text(max_size=60),
    st.sampled_from(
        [*DEFAULTS.values(), "rate", "no", "CF01 CF01", "A" * 600, "\x00", "\r\n", "');--", "\U0010ffff"]
    ),
)
_queries = st.dictionaries(st.sampled_from([*DEFAULTS, "unknown", ""]), _texts, max_size=8)
WIDELY = settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@WIDELY
@given(query=_queries, how=st.sampled_from(["messages", "rate"]))
def test_calculator_handles_any_field_values(app: FastAPI, query: dict[str, str], how: str) -> None:
    address = "/calculator?" + urlencode({"backlog_by": how, **query}, errors="surrogatepass")
    answer = html(app, address)
    assert answer.status in {200, 422}, answer.text[:300]
    shown = read(answer.text)
    if answer.status == 200:
        assert shown.all("pre")
    else:
        assert shown.all(class_="wrong") or shown.all(class_="finding") or shown.all(class_="error")
        assert shown.one(id="summary").text.endswith("to see a result.")
    for name in DEFAULTS:
        box = shown.all("input", name=name)[0]
        if name in query and box["type"] == "text":
            assert box["value"] == query[name][:500].strip()


@WIDELY
@given(query=_queries, kind=st.sampled_from([*SHOWN_OUTPUTS, DOCUMENT_OUTPUT]))
def test_download_is_a_text_or_a_page_with_the_reason(app: FastAPI, query: dict[str, str], kind: str) -> None:
    answer = html(app, f"/calculator/{kind}?" + urlencode(query, errors="surrogatepass"))
    assert answer.status in {200, 422}, answer.text[:300]
    assert answer.media_type == ("text/plain" if answer.status == 200 else "text/html")


@WIDELY
@given(raw=st.binary(max_size=80))
def test_any_query_string_gets_a_page(app: FastAPI, raw: bytes) -> None:
    answer = html(app, "/calculator?messages=" + quote(raw))
    assert answer.status in {200, 422}


@WIDELY
@given(raw=st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="?#"), max_size=60))
def test_any_address_gets_a_response_without_an_internal_error(app: FastAPI, raw: str) -> None:
    # 308: hypothesis also tries texts of the source, among them the old addresses of documentation pages.
    for folder in ("reference", "docs", "quick"):
        assert html(app, f"/{folder}/{raw}").status in {200, 307, 308, 404, 405}


@pytest.mark.parametrize(
    "address",
    [
        "/calculator?backlog_by=rate&rate_per_minute=1.200",
        "/calculator?target_usage_percent=1.200",
        "/calculator?target_usage_percent=1,200",
        "/whatif/recovery?recovery_minutes=1.200",
        "/whatif/recovery?recovery_minutes=1,200",
    ],
)
def test_point_that_may_separate_thousands_is_refused_in_every_form(app: FastAPI, address: str) -> None:
    answer = html(app, address)
    assert answer.status == 422
    # A question has a second form if plans are stored.
    assert {wrong.text for wrong in read(answer.text).all(class_="wrong")} == {
        "This may have a thousands separator: write 1200 or 1.2."
    }


@pytest.mark.parametrize(
    "address", ["/whatif/recovery?backup_overhead_bytes=1.200", "/calculator?messages=1.200"]
)
def test_whole_number_with_a_point_is_refused_with_the_number_that_it_may_be(
    app: FastAPI, address: str
) -> None:
    wrong = {each.text for each in read(html(app, address).text).all(class_="wrong")}
    assert wrong == {"This may have a thousands separator: write 1200."}
