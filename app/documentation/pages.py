"""The documentation pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.documentation import library
from app.documentation.articles import Article, Heading
from app.documentation.pictures import screenshot
from app.web.rendering import Page, render
from app.web.router import Router

router = Router(include_in_schema=False)
SECTION_LEVEL = 2
FEWEST_LISTED = 3
"""A page with fewer sections needs no list of them."""


@dataclass(frozen=True, kw_only=True)
class DocumentationContentsPage(Page):
    """The list of all pages."""

    shelves: Annotated[tuple[library.Shelf, ...], "All pages, grouped"]


@dataclass(frozen=True, kw_only=True)
class ArticlePage(Page):
    """One page of the documentation."""

    shelves: Annotated[tuple[library.Shelf, ...], "All pages, for the list in the sidebar"]
    slug: Annotated[str, "The address of this page below /docs"]
    article: Annotated[Article, "The page, rendered"]
    above: Annotated[library.Entry | None, "The page of which this page is a part"]
    headings: Annotated[tuple[Heading, ...], "The headings listed next to the page; none on a short page"]
    before: Annotated[library.Entry | None, "The previous page"]
    after: Annotated[library.Entry | None, "The next page"]


@router.get("/docs", response_class=HTMLResponse)
def contents(request: Request) -> HTMLResponse:
    """List all pages of the documentation."""
    page = DocumentationContentsPage(title="Documentation", section="docs", shelves=library.shelves())
    return render(request, "documentation/contents.html", page)


@router.get("/docs/{slug:path}", response_class=HTMLResponse)
def article(request: Request, slug: str) -> Response:
    """Show a page of the documentation, or a screenshot; an old address without a folder redirects to the new one."""
    picture = screenshot(slug)
    if picture is not None:
        return Response(picture, media_type="image/png")
    found = library.article(slug)
    above = library.divided_page(slug)
    if found is None and (new := library.moved(slug)):
        return RedirectResponse(f"/docs/{new}", status_code=308)
    if found is None and above:
        # Stored results may cite a finding or an assumption that this version no longer has. Temporary, because a later
        # version may have the page.
        return RedirectResponse(f"/docs/{above}", status_code=307)
    if found is None:
        raise HTTPException(status_code=404, detail="The documentation has no such page.")
    before, after = library.neighbours(slug)
    sections = tuple(heading for heading in found.headings if heading.level == SECTION_LEVEL)
    page = ArticlePage(
        title=found.title,
        section="docs",
        shelves=library.shelves(),
        slug=slug,
        article=found,
        above=library.entry(above) if above else None,
        headings=sections if len(sections) >= FEWEST_LISTED else (),
        before=before,
        after=after,
    )
    return render(request, "documentation/article.html", page)
