"""Mending pages: the text that a finding expects, written in place of the text that stands there."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ledger.errors import LedgerError
from ledger.prose.book import Book, pages
from ledger.prose.finding import Edit, Finding


class ChangedMeanwhileError(LedgerError):
    """A page that somebody saved while its mending was being decided."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """One edit: its finding, the sentence as it stands, and as it would read."""

    finding: Finding
    edit: Edit
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A page that can be mended: its bytes as they were read, what is proposed, which verdicts moved."""

    path: Path
    content: bytes
    proposals: tuple[Proposal, ...]
    verdicts: tuple[Finding, ...]

    def write(self, accepted: Iterable[Proposal]) -> int:
        """Put the accepted edits into the file, all or none, and give back how many there were.

        Everything else in the file stays byte for byte.

        Raises:
            ChangedMeanwhileError: the file is no longer what was read.
        """
        edits = sorted({each.edit for each in accepted}, key=lambda edit: edit.start, reverse=True)
        if not edits:
            return 0
        text = self.content.decode("utf-8")
        for edit in edits:
            start, end = (_offset_in_file(text, offset) for offset in (edit.start, edit.end))
            text = text[:start] + edit.text + text[end:]
        if self.path.read_bytes() != self.content:
            raise ChangedMeanwhileError(f"{self.path}: saved by somebody else meanwhile; left as it is")
        _replace(self.path, text.encode("utf-8"))
        return len(edits)


def drafts(book: Book, paths: Iterable[Path]) -> Iterator[Draft]:
    """The pages that can be mended, sorted by path.

    Raises:
        DataError: a path does not exist.
    """
    for path in pages(paths):
        content = path.read_bytes()
        findings = book.render(path).findings
        if proposals := tuple(_proposals(content, findings)):
            moved = tuple(f for f in findings if f.code in {"flip", "false"})
            yield Draft(path=path, content=content, proposals=proposals, verdicts=moved)


def _proposals(content: bytes, findings: Iterable[Finding]) -> Iterator[Proposal]:
    text = re.sub("\r\n?", "\n", content.decode("utf-8-sig"))
    found = [(each, each.edit) for each in findings if each.edit is not None]
    for finding, edit in found:
        rivals = {other for _, other in found if (other.start, other.end) == (edit.start, edit.end)}
        if len(rivals) == 1:  # a reading in a loop may be asked to say several things: that is for the author
            start, end = _sentence(text, edit)
            new = text[start : edit.start] + edit.text + text[edit.end : end]
            yield Proposal(finding=finding, edit=edit, old=text[start:end], new=new)


def _sentence(text: str, edit: Edit) -> tuple[int, int]:
    """The bounds of the sentence around an edit: a full stop and a blank, a cell's bar, or an empty line."""
    begins = [
        m.end()
        for m in re.finditer(r"\n\s*\n|%\}\s*\n|[.!?]\s+(?=[A-Z{])|^[ \t]*[-*|] ", text[: edit.start], re.M)
    ]
    ends = re.compile(r"[.!?](?=\s|$)|\n\s*\n|\Z").search(text, edit.end)
    assert ends is not None, "the end of the text is an end"
    return (begins[-1] if begins else 0), ends.end() if ends.group().strip() else ends.start()


def _offset_in_file(text: str, offset: int) -> int:
    """Where an offset into the page stands in the file, which may have a mark and lines in CR LF."""
    position = 1 if text.startswith("\ufeff") else 0
    while offset > 0:
        position += 2 if text.startswith("\r\n", position) else 1
        offset -= 1
    return position


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never half of it."""
    mode = path.stat().st_mode
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
        draft.write(content)
    try:
        Path(draft.name).chmod(mode)
        Path(draft.name).replace(path)
    except OSError:
        Path(draft.name).unlink(missing_ok=True)
        raise
