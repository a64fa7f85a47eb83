"""What of a page a reader reads: where each numeral and each output of a tag ends up.

Every numeral and every output is replaced by one character of a private range, the page is put through
the Markdown parser that the site itself uses, and where the characters come out in the HTML tells what
they are: prose, a table's cell, code, or part of a link that nobody reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from html.parser import HTMLParser

from markdown import Markdown

from ledger.prose.numeral import Numeral, numerals, ratios
from ledger.prose.sites import tokens

_FIRST, _LAST = 0xF0000, 0xFFFFD  # a private plane: no page holds these characters
_EXTENSIONS = {
    "abbr": {},
    "admonition": {},
    "attr_list": {},
    "def_list": {},
    "footnotes": {},
    "md_in_html": {},
    "tables": {},
    "pymdownx.arithmatex": {"generic": True},
    "pymdownx.details": {},
    "pymdownx.highlight": {"use_pygments": False},
    "pymdownx.inlinehilite": {},
    "pymdownx.superfences": {},
    "pymdownx.tabbed": {"alternate_style": True},
}  # fmt: skip
# Digits that structure a page and that Markdown must see as they are.
_STRUCTURE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?\d+[.)](?=[ \t])"  # the number of a list item
    r"|^[ \t>]*(?:`{3,}|~{3,}).*$"  # a fence's first line
    r"|^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+[\w -]+(?=\"|$)"  # an admonition's kind
    r"|\[\^[^\]\n]*\]"  # a footnote's label
    r"|\]\[[^\]\n]*\]|^[ ]{0,3}\[[^\]\n]*\]:.*$"  # a link by reference
    r"|\{[:#.][^}\n]*\}|\{ [:#.][^}\n]*\}"  # an attribute list
    r"|&#?\w+;|:[a-z0-9_+-]+:|<!--[\s\S]*?-->",  # an entity, an emoji, a comment
    re.MULTILINE,
)
# Without Pygments the parser knows no options of a fence, and would take one with a title for running text.
_OPTIONS = re.compile(
    r"^([ \t>]*(?:`{3,}|~{3,})[ \t]*[\w#.+-]+)[ \t]+(?:title|title_mode|hl_lines|linenums)=.*$", re.MULTILINE
)
_QUIET = {"code", "kbd", "math", "pre", "samp", "script", "style", "textarea"}
_SHOWN_ATTRIBUTES = {"alt", "title", "aria-label", "summary", "label"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Place(Enum):
    """Where a reader meets something."""

    SENTENCE = "sentence"
    CELL = "table cell or caption"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something of the page that is looked for in its HTML: an offset into the body, and its text."""

    start: int
    text: str
    is_output: bool


def placed(body: str) -> list[tuple[Mark, Place]]:
    """Every numeral, ratio and output of a body that a reader meets, with where; in the body's order.

    Raises:
        jinja2.TemplateSyntaxError: the body is not a template.
    """
    text, offsets = _without_tags(body)
    marks = sorted(_marks(text), key=lambda mark: mark.start)[: _LAST - _FIRST]
    html = _html(_replaced(text, marks))
    seen = _Seen()
    seen.feed(html)
    seen.close()
    found = []
    for index, mark in enumerate(marks):
        place = seen.places.get(chr(_FIRST + index))
        if place is not None:
            found.append((Mark(offsets[mark.start], mark.text, mark.is_output), place))
    return found


_OUTPUT = "\ue000"  # stands for an output until it gets a character of its own


def _without_tags(body: str) -> tuple[str, list[int]]:
    """The body, an output as one character and no other tags, and where each character stood."""
    pieces: list[str] = []
    offsets: list[int] = []
    for token in tokens(body):
        if token.kind == "data":
            pieces.append(token.text)
            offsets.extend(range(token.start, token.end))
        elif token.kind == "variable_begin":
            pieces.append(_OUTPUT)
            offsets.append(token.start)
    return "".join(pieces), [*offsets, len(body)]


def _marks(text: str) -> Iterator[Mark]:
    structure = [(m.start(), m.end()) for m in _STRUCTURE.finditer(text)]

    def is_free(each: Numeral) -> bool:
        return not any(start < each.end and each.start < end for start, end in structure)

    numbers = [each for each in numerals(text) if is_free(each)]
    words = [each for each in ratios(text) if is_free(each)]
    taken = {position for each in words for position in range(each.start, each.end)}
    numbers = [each for each in numbers if each.start not in taken]
    yield from (Mark(each.start, each.text, False) for each in (*numbers, *words))
    yield from (Mark(m.start(), "", True) for m in re.finditer(_OUTPUT, text))


def _replaced(text: str, marks: Iterable[Mark]) -> str:
    pieces, done = [], 0
    for index, mark in enumerate(marks):
        pieces += [text[done : mark.start], chr(_FIRST + index)]
        done = mark.start + (1 if mark.is_output else len(mark.text))
    return "".join([*pieces, text[done:]])


def _html(text: str) -> str:
    parser = _markdown()
    parser.reset()
    html: str = parser.convert(_OPTIONS.sub(r"\1", text))
    return html


@cache
def _markdown() -> Markdown:
    return Markdown(extensions=list(_EXTENSIONS), extension_configs=_EXTENSIONS)


class _Seen(HTMLParser):
    """Where each character of the private plane is met."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.places: dict[str, Place] = {}
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in _SHOWN_ATTRIBUTES & given.keys():
            self._note(given[name], Place.SENTENCE)
        if tag not in _VOID:
            self._open.append((tag, given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and any(tag == name for name, _ in self._open):
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        self._note(data, self._place())

    def _place(self) -> Place:
        tags = {tag for tag, _ in self._open}
        is_diagram = any("mermaid" in names for _, names in self._open)
        is_formula = any("arithmatex" in names for _, names in self._open)
        if is_formula or (tags & _QUIET and not is_diagram):
            return Place.CODE
        return Place.CELL if tags & {"td", "th", "figcaption", "caption"} else Place.SENTENCE

    def _note(self, text: str, place: Place) -> None:
        for character in text:
            if _FIRST <= ord(character) <= _LAST:
                self.places[character] = place
