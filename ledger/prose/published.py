"""The built site held against the pages it was built from: each value arrived, and no error text did."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from ledger.errors import DataError
from ledger.prose.book import Book, pages
from ledger.prose.finding import Finding

_ERROR_TEXT = re.compile(
    r"Traceback \(most recent call last\)|Macro (?:Rendering|Syntax) Error|\{\{.*?\}\}|\{%.*?%\}"
)
_MEND = "build the site again; if that does not help, look at what stands between Markdown and HTML"


def published(book: Book, docs: Path, site: Path) -> list[Finding]:
    """Where a built site does not say what its pages' sources say, in HTML and in the search index.

    Raises:
        DataError: there is no site in that folder.
    """
    if not (site / "index.html").is_file():
        raise DataError(f"{site}: holds no index.html; build the site first")
    index = _search_index(site)
    found: list[Finding] = []
    for path in pages([docs]):
        html = _address(site, path.relative_to(docs))
        rendered = book.render(path)
        if not html.is_file():
            found.append(_finding(path, f"has no page in the site: {html}"))
            continue
        expected, shown = _Values(rendered.markdown), _Values(html.read_text(encoding="utf-8"))
        if not rendered.is_late:
            found += [_finding(path, text) for text in _differences(expected.values, shown.values)]
        if index is not None:
            searched = index.get(html.parent.relative_to(site).as_posix(), "")
            missing = {text for _, text in expected.values if text not in searched}
            found += [_finding(path, f"{text!r} is not in the search index") for text in sorted(missing)]
        found += [_finding(path, f"publishes {text!r}") for text in _ERROR_TEXT.findall(shown.prose)]
        found += [_finding(path, f"publishes a finding: {text!r}") for text in shown.marked]
    return found


def _address(site: Path, page: Path) -> Path:
    """Where a page of the sources lies in the site, with or without folders for addresses."""
    is_index = page.stem in {"index", "README"}
    nested = page.parent if is_index else page.with_suffix("")
    flat = site / page.with_suffix(".html")
    return flat if flat.is_file() and not is_index else site / nested / "index.html"


def _search_index(site: Path) -> dict[str, str] | None:
    """The text that search knows of each page, by the page's folder; None where the site has no search."""
    path = site / "search" / "search_index.json"
    if not path.is_file():
        return None
    texts: dict[str, str] = {}
    for entry in json.loads(path.read_text(encoding="utf-8"))["docs"]:
        folder = entry["location"].partition("#")[0].rstrip("/") or "."
        plain = _Values(f"{entry['title']} {entry['text']}").prose
        texts[folder] = f"{texts.get(folder, '')} {plain}"
    return texts


def _differences(expected: Counter[tuple[str, str]], shown: Counter[tuple[str, str]]) -> Iterator[str]:
    for (value, text), count in sorted((expected - shown).items()):
        yield f"{text!r} (value {value}) is missing from the site, {count} of {expected[value, text]}"
    for (value, text), count in sorted((shown - expected).items()):
        yield f"{text!r} (value {value}) is on the site and not in the source, {count} more"


def _finding(path: Path, message: str) -> Finding:
    return Finding(str(path), 1, 1, "drift", message, _MEND)


class _Values(HTMLParser):
    """The values marked up in HTML, the text outside code, and what is marked as wrong."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.values: Counter[tuple[str, str]] = Counter()
        self.marked: list[str] = []
        self._texts: list[str] = []
        self._value: str | None = None
        self._text = ""
        self._quiet = 0
        self._is_marked = False
        self.feed(html)
        self.close()

    @property
    def prose(self) -> str:
        """The text outside code, scripts and styles."""
        return "".join(self._texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what begins."""
        given = dict(attrs)
        self._quiet += tag in {"script", "style", "code", "pre"}
        if tag == "data" and given.get("class") == "value":
            self._value, self._text = given.get("value") or "", ""
        self._is_marked = self._is_marked or (tag == "mark" and given.get("class") == "finding")

    def handle_endtag(self, tag: str) -> None:
        """Note what ends."""
        self._quiet -= tag in {"script", "style", "code", "pre"}
        if tag == "data" and self._value is not None:
            self.values[self._value, self._text] += 1
            self._value = None
        if tag == "mark" and self._is_marked:
            self.marked.append(self._text)
            self._is_marked = False

    def handle_data(self, data: str) -> None:
        """Note text."""
        if self._value is not None:
            self._text += data
        if not self._quiet:
            self._texts.append(data)
