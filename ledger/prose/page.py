"""A page as its author sees it: the whole file, with places counted from its first line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ledger.errors import DataError

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One Markdown file: its path as messages show it, and its text."""

    path: str
    text: str

    @cached_property
    def body_start(self) -> int:
        """Where the text behind the front matter begins."""
        match = _FRONT_MATTER.match(self.text)
        return match.end() if match else 0

    @property
    def body(self) -> str:
        """The text behind the front matter: what macros and Markdown are given."""
        return self.text[self.body_start :]

    @cached_property
    def meta(self) -> dict[str, Any]:
        """The front matter's values; empty where there is none or it is not a mapping."""
        match = _FRONT_MATTER.match(self.text)
        if not match or not match["yaml"]:
            return {}
        import yaml  # here: most pages of a check have no front matter to read

        try:
            values = yaml.safe_load(match["yaml"])
        except yaml.YAMLError:
            return {}
        return values if isinstance(values, dict) else {}

    def shown_meta(self) -> Iterator[tuple[int, str]]:
        """The front matter's texts that readers see, title and description, each with its offset."""
        match = _FRONT_MATTER.match(self.text)
        if not match or not self.meta:
            return
        import yaml

        start = match.start("yaml")
        tree = yaml.compose(match["yaml"], Loader=yaml.SafeLoader)
        assert tree is not None, "meta has values, so the text has a tree"
        for key, value in tree.value:
            if key.value in {"title", "description", "summary", "subtitle"}:
                begin, end = value.start_mark.index, value.end_mark.index
                yield start + begin, match["yaml"][begin:end]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into the text, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_span(self, line: int) -> tuple[int, int]:
        """The offsets at which a line begins and ends; a line past the end is the last one."""
        starts = self._line_starts
        index = min(max(line, 1), len(starts)) - 1
        end = starts[index + 1] - 1 if index + 1 < len(starts) else len(self.text)
        return starts[index], end


def read_page(path: Path, shown: str) -> Page:
    """The page in a file.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    try:
        return Page(shown, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        found = f"byte {error.object[error.start]:#04x} at offset {error.start}"
        raise DataError(f"the page must be UTF-8, found {found}") from None
    except OSError as error:
        raise DataError(f"the page cannot be read: {error.strerror}") from None
