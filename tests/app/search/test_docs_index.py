from __future__ import annotations

import pytest

from app.documentation import library
from app.search.docs_index import address_of, search_docs
from app.search.query import read_query
from planner_core.findings import catalogue


def test_page_with_the_words_in_its_title_comes_first() -> None:
    first, *others = search_docs(read_query("searching"))
    assert (first.title, first.path, first.heading) == ("Searching", "/docs/how-to/searching", "")
    assert first.excerpt
    assert len({hit.path.partition("#")[0] for hit in others}) == len(others)


def test_section_with_the_words_is_linked_with_an_excerpt_around_them() -> None:
    hits = {hit.path: hit for hit in search_docs(read_query("generic names asterisk"))}
    hit = hits["/docs/how-to/searching#words-and-generic-names"]
    assert hit.heading == "Words and generic names"
    assert "generic" in hit.excerpt.lower() or "asterisk" in hit.excerpt.lower()


@pytest.mark.parametrize("text", ["*", "zzzqqq", "searching zzzqqq"])
def test_search_without_matches_is_empty(text: str) -> None:
    assert search_docs(read_query(text)) == []


def test_anchors_of_sections_are_those_of_the_pages() -> None:
    for slug, sections in library.sections():
        article = library.article(slug)
        assert article is not None
        assert [each.anchor for each in sections if each.anchor] == [each.anchor for each in article.headings]
        assert sections[0].heading == article.title


def test_every_finding_has_a_page_or_section() -> None:
    assert [code for code in catalogue() if address_of(code) is None] == []
