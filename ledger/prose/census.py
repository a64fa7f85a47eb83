"""How many numbers and fences a book has, and of which kind; none may be unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ledger.prose.book import Book, pages
from ledger.prose.fences import read
from ledger.prose.rendering import Rendered, Shown

KINDS = ("read", "claimed", "cited", "plain", "in tables", "fences run", "fences marked", "unknown")
_KIND_OF = {"reads": "read", "holds": "claimed", "cited": "cited", "plain": "plain"}
_UNKNOWN = {"typed", "unread", "untested"}


def census(book: Book, paths: Iterable[Path]) -> dict[str, Counter[str]]:
    """How many of each kind there are on each page, by the page's path.

    Raises:
        DataError: a path does not exist.
    """
    return {page.page.path: _count(page) for page in map(book.render, pages(paths))}


def total(pages: Iterable[Counter[str]]) -> Counter[str]:
    """The sums over all pages."""
    return sum(pages, Counter())


def _count(rendered: Rendered) -> Counter[str]:
    found = Counter(_KIND_OF[use.kind] for use in rendered.uses)
    found["in tables"] = sum(
        not isinstance(value, Shown) and str(value).strip() != ""
        for output in rendered.outputs
        for value in output.values
    )
    for fence in read(rendered.page.text):
        found["fences run"] += bool(fence.kind and not fence.reason)
        found["fences marked"] += bool(fence.reason)
    found["unknown"] = sum(finding.code in _UNKNOWN for finding in rendered.findings)
    return found
