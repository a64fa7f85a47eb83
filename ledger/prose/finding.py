"""A finding: a place where a page and the library disagree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

CODES = MappingProxyType(
    {
        "drift": "a reading is off: the value is no longer what the sentence says",
        "flip": "a verdict reading is off: the sentence names an option that no longer wins",
        "false": "a claim does not hold",
        "broken": "a name, a call or a tag that cannot be evaluated",
        "source": "a cited key that does not exist",
        "typed": "a number, or a word for a ratio, that nobody computed, cited or declared plain",
        "unread": "a value in a sentence without its reading",
        "untested": "a code fence that is neither run nor marked with a reason",
    }
)
"""Every code with its meaning in one line."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line that has a finding, one that has not, and how to get from one to the other."""

    wrong: str
    right: str
    mend: str


EXAMPLES = MappingProxyType(
    {
        "drift": Example(
            wrong='{{ decision("split-k").a.grid | reads("65 blocks") }}',
            right='{{ decision("split-k").a.grid | reads("64 blocks") }}',
            mend="Write what the library says, or let `ledger fix` write it.",
        ),
        "flip": Example(
            wrong='{{ decision("split-k").winner | reads("no split, 64 blocks") }} wins.',
            right='{{ decision("split-k").winner | reads("split-K=8") }} wins.',
            mend="Read the sentences around it again: their argument has changed sides.",
        ),
        "false": Example(
            wrong='It launches {{ (decision("split-k").a.grid > 132) | holds("more blocks than SMs") }}.',
            right='It launches {{ (decision("split-k").a.grid < 132) | holds("fewer blocks than SMs") }}.',
            mend="Say what holds. No command rewrites a claim.",
        ),
        "broken": Example(
            wrong='{{ decision("split-kk").winner | reads("split-K=8") }}',
            right='{{ decision("split-k").winner | reads("split-K=8") }}',
            mend="Correct the name, the call or the tag; the message says what is known.",
        ),
        "source": Example(
            wrong='{{ "50 MiB" | cited("xla-spec") }}',
            right='{{ "50 MiB" | cited("xla-specs") }}',
            mend="Write a key of the sources, or add the source.",
        ),
        "typed": Example(
            wrong="The unsplit GEMM moves 4.2 MB.",
            right='The unsplit GEMM moves {{ decision("split-k").a.bytes | reads("4.2 MB") }}.',
            mend="Compute the number, cite it, or declare it plain; state a ratio as a claim.",
        ),
        "unread": Example(
            wrong='The unsplit GEMM launches {{ decision("split-k").a.grid }} blocks.',
            right='The unsplit GEMM launches {{ decision("split-k").a.grid | reads("64 blocks") }}.',
            mend="Add the reading, or let `ledger fix` add it: the source has to say what the reader sees.",
        ),
        "untested": Example(
            wrong="```sh\nnvidia-smi\n```",
            right="<!-- not run: needs a GPU -->\n```sh\nnvidia-smi\n```",
            mend="Write an example that runs, or say in a comment above it why it cannot.",
        ),
    }
)
"""A wrong and a right example of each code."""


def explain(code: str) -> str:
    """What a code means, with an example of each kind and the way to mend it."""
    example = EXAMPLES[code]
    wrong, right = (text.replace("\n", "\n  ") for text in (example.wrong, example.right))
    return f"{code}: {CODES[code]}\n\nwrong\n  {wrong}\nright\n  {right}\n\n{example.mend}"


@dataclass(frozen=True, slots=True)
class Edit:
    """What mends a finding: the text to put between two offsets of the file."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, order=True)
class Finding:
    """What is wrong at one place of one file; findings sort by place."""

    path: str
    line: int
    column: int
    code: str
    message: str
    mend: str
    edit: Edit | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message} — {self.mend}"


def as_text(findings: Sequence[Finding]) -> str:
    """One line for each finding."""
    return "\n".join(map(str, findings))


def as_json(findings: Sequence[Finding]) -> str:
    """A list of objects with the fields of a finding."""
    fields = ("path", "line", "column", "code", "message", "mend")
    found = [{name: getattr(finding, name) for name in fields} for finding in findings]
    return json.dumps(found, indent=2, ensure_ascii=False)


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands that GitHub shows as annotations beside the lines."""
    return "\n".join(
        f"::error file={_escape(f.path, ',:')},line={f.line},col={f.column},title={f.code}"
        f"::{_escape(f'{f.message} — {f.mend}')}"
        for f in findings
    )


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)
