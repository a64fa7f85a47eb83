"""What would change on the pages if some inputs had other values."""

from __future__ import annotations

import difflib
import html
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ledger.errors import LedgerError, UnknownName
from ledger.prose.book import Book, pages
from ledger.prose.rendering import Rendered, Shown, Use
from ledger.traced import Scalar, overriding

_DECIDED = re.compile(r"<strong class='decided'>(.*?)</strong>")
KINDS = ("flip", "claim", "reading", "cell")


@dataclass(frozen=True, order=True)
class Change:
    """One place that would read otherwise; changes sort by kind, verdicts first, then by place."""

    rank: int
    path: str
    line: int
    column: int
    old: str
    new: str

    @property
    def kind(self) -> str:
        """A verdict that flips, a claim that fails, a reading, or a cell of a table."""
        return KINDS[self.rank]


def impact(book: Book, paths: Iterable[Path], values: Mapping[str, Scalar]) -> list[Change]:
    """Every sentence, cell, claim and verdict that would change, flips first. Nothing is written.

    Raises:
        UnknownName: neither the book's values nor its pages depend on an input of that name.
        LedgerError: a value is not one that the library takes.
    """
    changes: set[Change] = set()
    other, met = _with(book, values)
    for path in pages(paths):
        now = book.render(path)
        with overriding(values) as override:
            then = other.render(path)
        met |= override.met
        _refuse(now, then, values)
        changes |= {*_of_uses(now.uses, then.uses), *_of_outputs(now, then)}
    for name in values:
        if name not in met:
            raise UnknownName("input", name, met)
    return sorted(changes)


def _with(book: Book, values: Mapping[str, Scalar]) -> tuple[Book, set[str]]:
    """The book with other values in place of its own, and the names of the inputs that it gave a value."""
    with overriding(values) as override:
        try:
            return book.again(), override.met
        except LedgerError as error:
            raise LedgerError(f"{_settings(values)}: {error}") from None


def _refuse(now: Rendered, then: Rendered, values: Mapping[str, Scalar]) -> None:
    broken = {f.message for f in then.findings if f.code == "broken"}
    new = sorted(broken - {f.message for f in now.findings})
    if new:
        raise LedgerError(f"{_settings(values)}: {new[0]}")


def _settings(values: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _of_uses(now: Iterable[Use], then: Iterable[Use]) -> Iterator[Change]:
    for old, new in zip(now, then, strict=True):
        place = old.page.place(old.start)
        before, after = old.shows or old.said, new.shows or new.said
        if old.kind == "holds" and bool(old.code) != bool(new.code):
            state = {True: "does not hold", False: "holds"}
            yield Change(
                1, old.page.path, *place, f"{old.said!r} {state[bool(old.code)]}", state[bool(new.code)]
            )
        elif before != after:
            yield Change(0 if new.code == "flip" else 2, old.page.path, *place, before, after)


def _of_outputs(now: Rendered, then: Rendered) -> Iterator[Change]:
    for old, new in zip(now.outputs, then.outputs, strict=True):
        page = now.page
        place = (page.path, *page.place(page.body_start + old.tag.start))
        for before, after in zip(old.values, new.values, strict=False):
            if not isinstance(before, Shown) and str(before) != str(after):
                yield from (Change(rank, *place, *pair) for rank, *pair in _lines(str(before), str(after)))


def _lines(before: str, after: str) -> Iterator[tuple[int, str, str]]:
    """The lines that differ between two texts, as a reader sees them; another verdict is a flip."""
    old, new = before.splitlines(), after.splitlines()
    for tag, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        pairs = itertools.zip_longest(old[a:b], new[c:d], fillvalue="") if tag != "equal" else ()
        for left, right in pairs:
            rank = 0 if _DECIDED.findall(left) != _DECIDED.findall(right) else 3
            yield rank, _text(left), _text(right)


def _text(line: str) -> str:
    """A line of Markdown as a reader sees it: no tags, no entities, no marks of a table or a box."""
    shown = html.unescape(re.sub(r"<[^>]*>", "", line))
    return re.sub(r'^!!! \w+ "(.*)"$', r"\1", shown.strip().strip("|").strip())
