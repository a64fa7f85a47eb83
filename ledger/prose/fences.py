"""The fences of a page: what each holds, whether it is run, and why not.

A fence is read as Material reads it (pymdownx.superfences). Where that reading would make an example
vanish (a fence that is never closed, an info string that Material does not take) it has a problem instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

#: What each language that is run is run as.
KINDS = {
    "python": "python",
    "python3": "python",
    "py": "python",
    "py3": "python",
    "pycon": "pycon",
    "python-console": "pycon",
    "console": "console",
    "shell-session": "console",
}

OPENER = re.compile(
    r"(?P<quote>[ >]*)"
    r"(?P<bullet>(?:(?:[-*+:]|\d+[.)]|\[\^[^]\s]+\]:) +)*)"
    r"(?P<ticks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
)
TITLE = r"""title(?:_mode)?=(?:"[^"]*"|'[^']*')"""
LINES = r"""(?:hl_lines|linenums)=(?:"[\d -]+"|'[\d -]+')"""
INFO = re.compile(rf"\.?(?P<language>[\w#.+-]+)(?: +\{{.*\}}|(?: +(?:{TITLE}|{LINES}))*)")
BRACES = re.compile(r"\{(?P<attributes>.*)\}")
QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
#: A word that says an example is meant, wherever it stands in an info string.
NAME = re.compile(
    r"(?<![\w-])(?<!\w\.)(?:i?python|pycon|py|console|shell-session)(?![a-z_-])",
    re.IGNORECASE,
)
MARKER = re.compile(
    r"(?P<quote>[ >]*)<!--+ *not[ -]run\b(?: *: *(?P<reason>.*?)|.*?) *--+> *",
    re.IGNORECASE,
)
RAW = re.compile(r"\{%[-+]? *(?P<end>end)?raw *[-+]?%\}")
TAG = re.compile(r"\{\{|\{%|\{#")

FORM = (
    "the info string `{0}` names an example in a form that Material does not take for one: write"
    ' ```python, ```pycon or ```console, then title="…", hl_lines="…" or linenums="…"'
)
BULLET = "Material finds no fence behind a list marker: give the fence a line of its own"
LONGER = "line {0} closes the fence with more ticks than open it, which Material does not accept"
DEDENTED = "the fence is never closed: line {0} stands further left and ends it"
UNCLOSED = "the fence is never closed"
REASON = "say why it is not run: <!-- not run: the reason -->"
INDENT = "the comment `not run` must be indented as the fence below it is"
RAW_ALONE = "{% raw %} and {% endraw %} must each stand on a line of their own inside an example"
AS_WRITTEN = (
    "examples are run as they are written, and this one holds a Jinja tag: put it between the lines"
    " {% raw %} and {% endraw %} if the tag is part of the example, and spell the value out if not"
)


class Line(NamedTuple):
    """A line of a page, and its number in the file."""

    number: int
    text: str


@dataclass(frozen=True)
class Fence:
    """A fence as it stands on a page, and what is to be done with it.

    Args:
        first: The number of the line that opens it.
        last: The number of the last line that belongs to it.
        info: What follows the ticks that open it.
        lines: Its content, without the indentation of the fence.
        closed: Whether a line closes it, for every reader the same.
        fault: What keeps Material from showing it as it is meant.
        problem: Why it cannot be run, and the line to blame.
        reason: Why its author does not want it run.
    """

    first: int
    last: int
    info: str
    lines: tuple[Line, ...] = ()
    closed: bool = True
    fault: str | None = None
    problem: Line | None = None
    reason: str | None = None

    @property
    def kind(self) -> str | None:
        """What it is run as; nothing if it is not."""
        return KINDS.get(self.language.lower())

    @property
    def language(self) -> str:
        """The language that Material reads off the info string; empty if it finds none."""
        return _language(self.info)

    @property
    def is_accounted(self) -> bool:
        """Whether it is run, or its author says why not; what a diagram says is read as prose."""
        return bool(self.kind or self.reason) or self.language == "mermaid"

    @property
    def code(self) -> str:
        """The content as source text, with as many lines as on the page."""
        text = {line.number: line.text for line in self.lines}
        end = max(text, default=self.first)
        return "".join(f"{text.get(number, '')}\n" for number in range(self.first + 1, end + 1))


@lru_cache(maxsize=8)
def read(text: str) -> tuple[Fence, ...]:
    """The fences of a page, without those that another one quotes."""
    lines = [line.expandtabs(4) for line in text.split("\n")]
    raw = _raw(lines)
    found = []
    index = 0
    while index < len(lines):
        opener = OPENER.fullmatch(lines[index])
        if opener:
            fence = _fence(lines, index, opener)
            found.append(_judged(fence, lines, raw))
            index = fence.last
        else:
            index += 1
    return tuple(found)


def _fence(lines: Sequence[str], index: int, opener: re.Match[str]) -> Fence:
    """The fence that the line at an index opens, as far as it goes."""
    fault = BULLET if opener["bullet"] else None
    found = Fence(index + 1, len(lines), opener["info"].strip(), fault=fault)
    body: list[Line] = []
    for number, line in enumerate(lines[index + 1 :], index + 2):
        text = _inside(line, opener)
        if text is None:
            found = replace(found, last=number - 1, closed=False, fault=DEDENTED.format(number))
            break
        if _closes(text, opener["ticks"]):
            found = replace(found, last=number)
            if text.rstrip() != opener["ticks"]:
                found = replace(found, closed=False, fault=LONGER.format(number))
            break
        body.append(Line(number, text))
    else:
        found = replace(found, closed=False, fault=UNCLOSED)
    return replace(found, lines=tuple(body))


def _inside(line: str, opener: re.Match[str]) -> str | None:
    """A line without the indentation of its fence; nothing if it stands outside the fence."""
    width = opener.start("ticks")
    depth = opener["quote"].count(">")
    head = line[:width]
    outside = head.strip(" >" if depth else " ") or head.count(">") != depth
    return None if outside else line[width:]


def _closes(text: str, ticks: str) -> bool:
    """Whether a line closes a fence that these ticks open, for a reader on GitHub at least."""
    text = text.rstrip()
    return len(text) >= len(ticks) and not text.strip(ticks[0])


def _language(info: str) -> str:
    """The language that Material reads off an info string; empty if it finds none."""
    braces = BRACES.fullmatch(info)
    if braces:
        classes = re.findall(r"(?<!\S)\.(\S+)", QUOTED.sub("", braces["attributes"]))
        return classes[0] if classes else ""
    match = INFO.fullmatch(info)
    return match["language"] if match else ""


def _raw(lines: Iterable[str]) -> frozenset[int]:
    """The numbers of the lines that start inside a raw block of the template."""
    inside = False
    found = set()
    for number, line in enumerate(lines, 1):
        if inside:
            found.add(number)
        for tag in RAW.finditer(line):
            inside = not tag["end"]
    return frozenset(found)


def _judged(fence: Fence, lines: Sequence[str], raw: frozenset[int]) -> Fence:
    """The fence with what is to be done with it, and without the tags of raw blocks."""
    fault = fence.fault if fence.kind or not fence.closed else None
    if not fault and not fence.kind and NAME.search(QUOTED.sub("", fence.info)):
        fault = FORM.format(fence.info)
    if fault:
        return replace(fence, problem=Line(fence.first, fault))
    marker = _marker(lines, fence)
    if not fence.kind and not marker:
        return fence
    if marker:
        aligned = lines[fence.first - 1].startswith((marker["quote"] + "`", marker["quote"] + "~"))
        wrong = REASON if not marker["reason"] else None if aligned else INDENT
        return replace(
            fence,
            reason=marker["reason"],
            problem=Line(fence.first, wrong) if wrong else None,
        )
    kept = tuple(line for line in fence.lines if not RAW.fullmatch(line.text.strip()))
    return replace(fence, lines=kept, problem=_template(kept, raw))


def _marker(lines: Sequence[str], fence: Fence) -> re.Match[str] | None:
    """The comment right above a fence that says it is not run."""
    above = (line for line in reversed(lines[: fence.first - 1]) if line.strip(" >"))
    return MARKER.fullmatch(next(above, ""))


def _template(lines: Iterable[Line], raw: frozenset[int]) -> Line | None:
    """The first line that the site generator would replace before a reader sees it."""
    for number, text in lines:
        if RAW.search(text):
            return Line(number, RAW_ALONE)
        if number not in raw and TAG.search(text):
            return Line(number, AS_WRITTEN)
    return None
