"""What of a page a reader reads: where each numeral and each output of a tag ends up.

Every numeral and every output is replaced by one character of a private range, the page is put through
the Markdown parser that the site itself uses, and where the characters come out in the HTML tells what
they are: prose, a table's cell, code, or part of a link that nobody reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

from markdown import Markdown

from ledger.prose.numeral import stated
from ledger.prose.sites import tokens

# Two private planes: a page hardly ever holds one of these characters, and never one that is used for it.
_PRIVATE = (*range(0xF0000, 0xFFFFE), *range(0x100000, 0x10FFFE))
_IS_PRIVATE = re.compile("[\U000f0000-\U0010fffd]")
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
    r"^[ \t>]*(?:`{3,}(?=[^`\n]*$)|~{3,}).*$"  # a fence's first line
    r"|\bmarkdown=[\"']?1"  # an attribute that Markdown itself reads
    r"|^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+[\w -]+(?=\"|$)"  # an admonition's kind
    r"|\[\^[^\]\n]*\]"  # a footnote's label
    r"|(?<![\w!])\[\d{1,3}\](?![(\[])"  # a source's number
    r"|\]\[[^\]\n]*\]|^[ \t>]*\[[^\]\n]*\]:(?=[ \t])"  # a link by reference
    r"|^[ \t>]*\#{1,6}[ \t]+\d+(?:\.\d+)*"  # a heading's number
    r"(?:[.)](?=[ \t])|(?<=\.\d)(?=[ \t]+[A-Z][a-z]{2}))"
    r"|^[ \t]*-+8<-+.*$|^[ \t]*:::[ \t].*(?:\n+[ \t]+\S.*)*"  # a snippet, a part of the reference
    r"|&\#?\w+;|(?<![\w:]):[a-z0-9_+-]+:(?![\w:])",  # an entity, an emoji
    re.MULTILINE,
)
# Without Pygments the parser knows no options of a fence, and would take one with a title for running text.
_OPTIONS = re.compile(
    r"^([ \t>]*(?:`{3,}|~{3,})[ \t]*[\w#.+-]+)[ \t]+(?:title|title_mode|hl_lines|linenums)=.*$", re.MULTILINE
)
_ITEM = re.compile(r"^[ \t>]*(?:(?:[-*+:]|\d{1,3}[.)])[ \t]+)*?(\d{1,3}(?:\.\d{1,3})*)[.)](?=[ \t]|$)")
_BULLET = re.compile(r"[ \t>]*(?:[-*+:]|\d{1,3}[.)])[ \t]")
_OPENS = re.compile(r"[ \t>]*(?:#|!!!|\?\?\?|===|```|~~~|<|$)")  # behind such a line a list can begin
_MONEY = re.compile(r"\$(?=\d[^$\n]*\$\d)")  # no formula ends ahead of a digit
_MACHINERY = re.compile(r"[ \t]*(?:%%|(?:style|classDef|class|linkStyle|click)\b).*")  # of a diagram
_QUIET = {"code", "kbd", "math", "pre", "samp", "script", "style", "textarea", "tt", "var"}
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
    text, offsets, seams = _without_tags(body)
    marks = sorted(_marks(text, seams), key=lambda mark: mark.start)
    free = iter(_PRIVATE)
    if held := set(_IS_PRIVATE.findall(text)):
        free = (each for each in _PRIVATE if chr(each) not in held)
    characters = {chr(each): mark for mark, each in zip(marks, free, strict=False)}
    seen = _Seen()
    seen.feed(_html(_replaced(text, characters)))
    seen.close()
    return [
        (Mark(offsets[mark.start], mark.text, mark.is_output), seen.places[character])
        for character, mark in characters.items()
        if character in seen.places
    ]


_OUTPUT = "\ue000"  # stands for an output until it gets a character of its own


def _without_tags(body: str) -> tuple[str, list[int], list[int]]:
    """The body, an output as one character and no other tags; where each character stood; where tags were."""
    pieces: list[str] = []
    offsets: list[int] = []
    seams = [0]
    for token in tokens(body):
        if token.kind == "data":
            pieces.append(token.text)
            offsets.extend(range(token.start, token.end))
        elif token.kind == "variable_begin":
            pieces.append(_OUTPUT)
            offsets.append(token.start)
        elif token.kind.endswith("_end") and seams[-1] != len(offsets):
            seams.append(len(offsets))
    return "".join(pieces), [*offsets, len(body)], [*seams, len(offsets)]


def _marks(text: str, seams: list[int]) -> Iterator[Mark]:
    taken = bytearray(len(text))
    for start, end in (*(m.span() for m in _STRUCTURE.finditer(text)), *_list_numbers(text)):
        taken[start:end] = b"x" * (end - start)
    for first, last in pairwise(seams):  # what a tag parts is not one word
        for each in stated(text[first:last]):
            if not any(taken[first + each.start : first + each.end]):
                yield Mark(first + each.start, each.text, False)
    yield from (Mark(m.start(), "", True) for m in re.finditer(_OUTPUT, text))


def _list_numbers(text: str) -> Iterator[tuple[int, int]]:
    """The numbers of list items; in the midst of a paragraph only such as count from one."""
    start, is_list, before, expected = 0, True, "", 1
    for line in text.split("\n"):
        if _OPENS.match(before) or line.lstrip().startswith(": "):
            is_list, expected = bool(_BULLET.match(line)), 1
        item = _ITEM.match(line)
        if item and not is_list and item[1] == str(expected):
            is_list = before.rstrip().endswith(":") or _follows(text, start, expected + 1)
        if item and is_list:
            yield start + item.start(1), start + item.end(1)
        start += len(line) + 1
        before = line


def _follows(text: str, start: int, number: int) -> bool:
    """Whether a list goes on with a number, not far behind an offset."""
    return bool(re.compile(rf"\n[ \t>]*{number}[.)][ \t]").search(text, start, start + 4000))


def _replaced(text: str, characters: Mapping[str, Mark]) -> str:
    """The text with a character in place of each mark."""
    text = _MONEY.sub("＄", text)
    pieces, done = [], 0
    for character, mark in characters.items():
        pieces += [text[done : mark.start], character]
        done = mark.start + (1 if mark.is_output else len(mark.text))
    return "".join([*pieces, text[done:]])


def _html(text: str) -> str:
    """What the site makes of a text; the text itself, should the parser fail on it."""
    parser = _markdown()
    parser.reset()
    try:
        html: str = parser.convert(_OPTIONS.sub(r"\1", text))
    except Exception:  # whatever it is: a check reads every page
        return text
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
        if _IS_PRIVATE.search(data):
            is_diagram = any("mermaid" in names for _, names in self._open)
            self._note(_MACHINERY.sub("", data) if is_diagram else data, self._place(is_diagram))

    def _place(self, is_diagram: bool) -> Place:
        tags = {tag for tag, _ in self._open}
        is_formula = any("arithmatex" in names for _, names in self._open)
        if is_formula or (tags & _QUIET and not is_diagram):
            return Place.CODE
        return Place.CELL if tags & {"td", "th", "figcaption", "caption"} else Place.SENTENCE

    def _note(self, text: str, place: Place) -> None:
        for character in _IS_PRIVATE.findall(text):
            self.places[character] = place
