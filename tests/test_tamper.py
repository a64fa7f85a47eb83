"""Every reading of the shipped book changed in turn: the check names each, at its line and column."""

import re
from functools import cache
from pathlib import Path

import pytest

from ledger.prose.book import find_book
from ledger.prose.page import Page
from ledger.prose.rendering import Use, render

ROOT = Path(__file__).parents[1]
BOOK = find_book(ROOT)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
SWAPS = {
    "MB": "KB",
    "KB": "MB",
    "GB": "MB",
    "MiB": "GiB",
    "KiB": "MiB",
    "µs": "ns",
    "kB": "MB",
    "bytes": "MB",
    "B": "MB",
}
UNITS = {
    "blocks": "SMs",
    "SMs": "blocks",
    "block": "SMs",
    "MB": "µs",
    "KB": "µs",
    "µs": "MB",
    "%": "MB",
    "×": "MB",
}


def value(text: str) -> str | None:
    """The reading with another leading digit, or another number word."""
    for index, word in enumerate(NUMBER_WORDS):
        if re.search(rf"\b{word}\b", text, re.IGNORECASE) and not re.search(r"\d", text):
            return re.sub(rf"\b{word}\b", NUMBER_WORDS[index - 1], text, flags=re.IGNORECASE)
    match = re.search(r"[1-9]", text)
    return text[: match.start()] + str(int(match.group()) % 9 + 1) + text[match.end() :] if match else None


def prefix(text: str) -> str | None:
    """The reading with another prefix."""
    return _swapped(text, SWAPS)


def unit(text: str) -> str | None:
    """The reading in the unit of something else."""
    return _swapped(text, UNITS)


def sign(text: str) -> str | None:
    """The reading with the other sign."""
    match = re.search(r"[-−]?\d", text)
    if match is None or not re.search(r"[1-9]", text):
        return None
    flipped = match.group()[-1] if len(match.group()) == 2 else f"-{match.group()}"
    return text[: match.start()] + flipped + text[match.end() :]


def name(text: str) -> str:
    """Another verdict, or another name."""
    return "another option" if text == "NEITHER" else "NEITHER"


def _swapped(text: str, pairs: dict[str, str]) -> str | None:
    """The text with the unit right behind its number swapped; nothing is nothing in any unit."""
    units = "|".join(map(re.escape, sorted(pairs, key=len, reverse=True)))
    match = re.search(rf"\d[ \u00a0]?({units})(?=$|/s)", text)
    if match is None or not re.search(r"[1-9]", text):
        return None
    return text[: match.start(1)] + pairs[match.group(1)] + text[match.end(1) :]


@cache
def read(path: Path) -> Page:
    """The page in a file."""
    return Page(path.name, path.read_text())


@cache
def readings(page: Page) -> dict[int, Use]:
    """The readings of a page by where they stand."""
    return {
        use.start: use for use in render(page, BOOK.names).uses if use.kind == "reads" and use.page is page
    }


def tampered(page: Page, change, numbers: bool) -> tuple[Page, set[tuple[int, int]]]:
    """The page with each reading of a kind changed, and the places of the changed readings."""
    uses = readings(page)
    text, places, moved = "", [], 0
    for start, use in sorted(uses.items()):
        quote = page.text[start]
        end = page.text.index(quote, start + 1) + 1
        is_name = use.said == use.shows and change(use.said) is not None and _is_name(page, use)
        new = change(use.said) if is_name is not numbers else None
        if quote in "\"'" and page.text[start:end] == f"{quote}{use.said}{quote}" and new is not None:
            text += page.text[moved:start]
            places.append(len(text))
            text += f"{quote}{new}{quote}"
            moved = end
    changed = Page(page.path, text + page.text[moved:])
    return changed, {changed.place(place) for place in places}


def _is_name(page: Page, use) -> bool:
    """Whether a reading is of a word: its finding would be a flip or name a text, not a number."""
    tag = page.text[page.text.rindex("{{", 0, use.start) : use.start]
    return bool(re.search(r"\.(winner|label|name|line|vendor|reason)\b[^|]*\|", tag))


CHANGES = [(value, True), (prefix, True), (unit, True), (sign, True), (name, False)]


@pytest.mark.parametrize(("change", "numbers"), CHANGES, ids=[c.__name__ for c, _ in CHANGES])
@pytest.mark.parametrize("path", PAGES, ids=[p.relative_to(ROOT / "docs").as_posix() for p in PAGES])
def test_every_reading_that_is_changed_is_named_at_its_place(path, change, numbers):
    page = read(path)
    changed, places = tampered(page, change, numbers)
    found = {(f.line, f.column) for f in render(changed, BOOK.names).findings if f.code in {"drift", "flip"}}
    assert places - found == set()


def test_the_book_has_readings_of_each_kind_to_change():
    counts = {change.__name__: 0 for change, _ in CHANGES}
    for path in PAGES:
        for change, numbers in CHANGES:
            counts[change.__name__] += len(tampered(read(path), change, numbers)[1])
    assert counts["value"] > 400
    assert min(counts.values()) > 30, counts
