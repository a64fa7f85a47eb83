"""A finding: a place where a page and the library disagree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

CODES = MappingProxyType(
    {
        "drift": "a reading is off: the value is no longer what the sentence says",
        "flip": "a verdict reading is off: the sentence names an option that no longer wins",
        "false": "a claim does not hold",
        "broken": "a name, a call or a tag that cannot be evaluated",
        "source": "a cited key that does not exist",
    }
)
"""Every code with its meaning in one line."""


@dataclass(frozen=True, order=True)
class Finding:
    """What is wrong at one place of one file; findings sort by place."""

    path: str
    line: int
    column: int
    code: str
    message: str
    mend: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message} — {self.mend}"


def as_text(findings: Sequence[Finding]) -> str:
    """One line for each finding."""
    return "\n".join(map(str, findings))


def as_json(findings: Sequence[Finding]) -> str:
    """A list of objects with the fields of a finding."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands that GitHub shows as annotations beside the lines."""
    return "\n".join(
        f"::error file={_escape(f.path, ',:')},line={f.line},col={f.column},title={f.code}"
        f"::{_escape(f'{f.message} — {f.mend}')}"
        for f in findings
    )


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)
