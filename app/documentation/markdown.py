"""Render Markdown as HTML: headings with anchors, and links that work on disk and in the application."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from app.documentation.articles import Article, Heading, Section, Summary
from app.documentation.pictures import inline_picture
from app.web.rendering import slug

_COMMENT = re.compile(r"^<!--[^>]*-->\n", re.MULTILINE)
"""A line that marks a generated part of a file: HTML in files is shown as text, but this line is not for readers."""


LEAST_COLUMNS = 3
LEAST_LETTERS = 40
"""Tables with this many columns and a text of this length are cards on narrow pages; others, such as tables of figures, scroll."""
_IN_A_NAME = re.compile(r"(?<=[A-Z0-9])_(?=[A-Z0-9])")


class _Renderer(RendererHTML):
    """A renderer that makes tables and examples scrollable, including by keyboard, and adds anchors to headings."""

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        label = _label("Table", env)
        names = ' class="list"' if tokens[idx].attrs.get("class") else ""
        return f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">\n<table{names}>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table>\n</div>\n"

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # Names such as those of findings are wider than a phone: they may break after an underscore.
        return _IN_A_NAME.sub("_<wbr>", super().text(tokens, idx, options, env))

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        picture = inline_picture(str(tokens[idx].attrs["src"]), alt=tokens[idx].content)
        return str(picture) if picture else super().image(tokens, idx, options, env)

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        opening = f'<pre role="group" aria-label="{_label("Example", env)}" tabindex="0">'
        return super().fence(tokens, idx, options, env).replace("<pre>", opening, 1)

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        env["heading"] = text_of(tokens[idx + 1])
        return self.renderToken(tokens, idx, options, env)

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        anchor = tokens[idx - 2].attrs.get("id", "")
        link = ""
        # The title needs no link: it is where the page begins.
        if anchor and tokens[idx].tag != "h1":
            label = Markup.escape(f"Link to {env['heading']}")
            link = f' <a class="anchor" href="#{anchor}" aria-label="{label}">#</a>'
        return f"{link}</{tokens[idx].tag}>\n"


def _label(kind: str, env: EnvType) -> Markup:
    """Return the accessible name of a table or an example, unique on its page."""
    label = f"{kind}: {env['heading']}" if env.get("heading") else kind
    given = env.setdefault("labels", {})
    # Screen readers list regions by name; two regions with the same name would be indistinguishable there.
    given[label] = given.get(label, 0) + 1
    return Markup.escape(label if given[label] == 1 else f"{label}, {given[label]}")


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")


def read_summary(text: str, at: str) -> Summary:
    """Return title and lead of a page without rendering it.

    Args:
        text: The Markdown, which begins with the title.
        at: Path of the file below docs/, the title of a page that has none.
    """
    # Blank lines end titles and paragraphs. Reading only these two takes a tenth of the time of rendering the page.
    tokens = _parser().parse("\n\n".join(text.split("\n\n", 2)[:2]))
    return Summary(_title(tokens) or at, _lead(tokens))


def render_article(text: str, at: str) -> Article:
    """Return a page, rendered as HTML.

    Args:
        text: The Markdown; raw HTML in it is shown as text.
        at: Path of the file below docs/, such as `a/b.md`: relative links are resolved against it.
    """
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(_COMMENT.sub("", text), env)
    headings, taken = [], set[str]()
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.tag == "h1":
            continue
        words = text_of(inline)
        anchor = _unused(slug(words), taken)
        opening.attrSet("id", anchor)
        headings.append(Heading(level=int(opening.tag[1:]), text=words, anchor=anchor))
    _align_by_class(tokens)
    _make_cards(tokens)
    _mark_rows_of_parts(tokens, at=at, taken=taken)
    for token in _inline(tokens):
        _relink(token, at=at)
    html = parser.renderer.render(tokens, parser.options, env)
    return Article(title=_title(tokens) or at, html=Markup(html), headings=tuple(headings))  # noqa: S704 - html is off: our own markup only


_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r"#{1,6} +(.*?)(?: +#+)? *")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w.])\*(\w[^*]*)\*(?![\w.])")
_TABLE_RULE = re.compile(r"[|:\- ]*-[|:\- ]*")
_MARKUP = re.compile(r"`|^ *(?:[-*>] |\d+\. |\|)|\\(?=\W)", re.MULTILINE)


def read_sections(text: str) -> tuple[Section, ...]:
    """Return the text of a page for a search, divided at its headings, with their anchors.

    Only headings are parsed as Markdown, because parsing all pages takes a hundred times as long.
    """
    parser = _parser()
    found: list[Section] = []
    heading, anchor, lines, taken = "", "", list[str](), set[str]()
    fence = ""

    def close() -> None:
        if heading or lines:
            found.append(Section(heading, anchor, _plain(lines)))

    for line in _COMMENT.sub("", text).splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        opened = None if fence else _HEADING.fullmatch(line)
        if opened is None:
            lines.append(line)
            continue
        close()
        heading = text_of(parser.parseInline(opened[1])[0])
        anchor = "" if line.startswith("# ") else _unused(slug(heading), taken)
        lines = []
    close()
    return tuple(found)


def _plain(lines: Sequence[str]) -> str:
    kept = "\n".join(line for line in lines if not _TABLE_RULE.fullmatch(line))
    words = (
        _MARKUP.sub("", _EMPHASIS.sub(r"\1", _LINK.sub(r"\1", kept).replace("**", "")))
        .replace(" | ", " \N{MIDDLE DOT} ")
        .replace("|", " ")
    )
    return " ".join(words.split())


def text_of(inline: Token) -> str:
    """Return the text of an inline token, without markup."""
    return "".join(
        " " if child.type == "softbreak" else child.content
        for child in inline.children or ()
        if child.type in {"text", "code_inline", "softbreak"}
    )


def _title(tokens: Sequence[Token]) -> str:
    return next((text_of(inline) for opening, inline in pairwise(tokens) if _opens_title(opening)), "")


def _opens_title(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h1"


def _lead(tokens: Sequence[Token]) -> str:
    """Return the first sentence of a paragraph directly below the title."""
    below = [at for at, token in enumerate(tokens) if token.type == "heading_close" and token.tag == "h1"]
    if not below or [token.type for token in tokens[below[0] + 1 : below[0] + 2]] != ["paragraph_open"]:
        return ""
    sentence = re.split(r"(?<=[.?!])\s", text_of(tokens[below[0] + 2]), maxsplit=1)[0]
    return sentence.rstrip(":")


def _unused(wanted: str, taken: set[str]) -> str:
    anchor, number = wanted, 0
    while anchor in taken:
        number += 1
        anchor = f"{wanted}-{number}"
    taken.add(anchor)
    return anchor


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _align_by_class(tokens: Sequence[Token]) -> None:
    # The parser aligns cells with a style attribute, which the security policy forbids.
    for token in tokens:
        if token.type in {"th_open", "td_open"}:
            style = str(token.attrs.pop("style", ""))
            if "right" in style:
                token.attrSet("class", "r")
        if token.type == "th_open":
            token.attrSet("scope", "col")


def _make_cards(tokens: Sequence[Token]) -> None:
    """Give tables that are too wide for a phone the headings of their cells: each row becomes a card there."""
    for table in _tables(tokens):
        headings = [text_of(table[at + 1]) for at, token in enumerate(table) if token.type == "th_open"]
        cells = [at for at, token in enumerate(table) if token.type == "td_open"]
        places = [(at, nth % len(headings)) for nth, at in enumerate(cells)]
        long = {column for at, column in places if len(text_of(table[at + 1])) >= LEAST_LETTERS}
        if len(headings) < LEAST_COLUMNS or not long:
            continue
        table[0].attrSet("class", "list")
        for at, column in places:
            if column and headings[column]:
                table[at].attrSet("data-label", headings[column])
            if not column or column in long:
                table[at].attrJoin("class", "first")


def _tables(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    begin = 0
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            begin = at
        elif token.type == "table_close":
            yield tokens[begin : at + 1]


def _mark_rows_of_parts(tokens: Sequence[Token], *, at: str, taken: set[str]) -> None:
    """Give each row that begins with a link to a part of the page an anchor: the part was once a section of the page."""
    name = posixpath.basename(at).removesuffix(".md")
    for row, cell, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (row.type, cell.type) != ("tr_open", "td_open") or not inline.children:
            continue
        link = inline.children[0]
        if link.type == "link_open" and str(link.attrs.get("href", "")).startswith(f"{name}/"):
            row.attrSet("id", _unused(slug(text_of(inline)), taken))


def _relink(token: Token, *, at: str) -> None:
    if token.type == "link_open":
        token.attrSet("href", page_link(str(token.attrs.get("href", "")), at=at))
    elif token.type == "image":
        token.attrSet("src", page_link(str(token.attrs.get("src", "")), at=at))


def page_link(href: str, *, at: str) -> str:
    """Convert a link between files to a link between pages.

    Pages are served under the path of their file without `.md`, so a relative link loses only
    that ending. Files outside docs/ are not served: a link to one becomes a link to the list of
    pages.

    >>> page_link("glossary.md#entry", at="quick-calculator.md")
    'glossary#entry'
    """
    path, mark, fragment = href.partition("#")
    if not path or re.match(r"[a-z][a-z0-9+.-]*:|//|/", path, re.IGNORECASE):
        return href
    target = posixpath.normpath(posixpath.join(posixpath.dirname(at), path))
    if target.startswith(".."):
        return "./" if "/" not in at else "../" * at.count("/")
    return path.removesuffix(".md") + mark + fragment
