"""The page language: what ``reads``, ``holds``, ``cited`` and ``plain`` make of a value.

Each gives an outcome: the markup to show, and what is wrong, if anything. The outcome is made once and
then shown by a build, reported by a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ledger.errors import LedgerError, UnknownName
from ledger.prose.markup import claim, marked, number, word
from ledger.traced import Choice, Traced, dimension_of, plain
from ledger.units import read, show


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a page shows at one place, and the finding's code, message and mend if it is wrong."""

    kind: Literal["reads", "holds", "cited", "plain"]
    said: str  # what the page says
    shows: str  # what it has to say
    markup: str
    code: str = ""
    message: str = ""
    mend: str = ""

    def __str__(self) -> str:
        return self.markup


class BrokenCall(Exception):
    """A call of the page language that makes no sense: what is wrong, and what to do."""

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.mend = mend


def reads(value: object, text: str) -> Outcome:
    """A value beside what the sentence says it is, compared at the precision that was written."""
    if not isinstance(text, str):
        raise BrokenCall(f"reads was given {text!r}", 'give the reading as text: reads("67.1 MB")')
    if isinstance(value, str):
        return _reads_word(value, text)
    if isinstance(plain(value), bool):
        raise BrokenCall(f"reads({text!r}) was given a comparison", "use holds for a claim")
    if not isinstance(plain(value), int | float):
        kind = type(value).__name__
        raise BrokenCall(f"reads({text!r}) was given a {kind}", "give it a number or a name: d.a.bytes")
    return _reads_number(value, text)


def holds(value: object, text: str) -> Outcome:
    """A claim in words beside the comparison it states."""
    if not isinstance(text, str):
        raise BrokenCall(f"holds was given {text!r}", 'give the claim as text: holds("half the traffic")')
    if not isinstance(plain(value), bool):
        kind = type(value).__name__
        raise BrokenCall(f"holds({text!r}) was given a {kind}", "give it a comparison: (d.a.grid < 132)")
    if value:
        return Outcome(kind="holds", said=text, shows=text, markup=claim(text, value))
    why = f": {value.formula()} is {value.filled()}" if isinstance(value, Traced) else ""
    return Outcome(
        kind="holds",
        said=text,
        shows="",  # a false claim is for the author
        markup=marked(claim(text, value), "this claim does not hold"),
        code="false",
        message=f"{text!r} does not hold{why}",
        mend="say what holds, or mend the comparison",
    )


def cited(text: str, key: str, sources: Mapping[str, Any]) -> Outcome:
    """A number somebody else published, with a link to where."""
    if key not in sources:
        unknown = UnknownName("source", key, sources)
        near = f"write {unknown.near!r}" if unknown.near else "add it to the sources"
        return Outcome(
            kind="cited",
            said=str(text),
            shows=str(text),
            markup=marked(word(str(text)), f"unknown source {key}"),
            code="source",
            message=f"no source has the key {key!r}",
            mend=near,
        )
    source = sources[key]
    link = word(str(text), title=f"{source.title}: {source.where}", url=source.url)
    return Outcome(kind="cited", said=str(text), shows=str(text), markup=link)


def declared(text: str, reason: str = "") -> Outcome:
    """A number that is none of the book's, with the reason why: ``plain`` in the page language."""
    if not isinstance(reason, str) or not reason.strip():
        raise BrokenCall(f"plain({text!r}) has no reason", 'say what it is: {{ "2017" | plain("year") }}')
    return Outcome(kind="plain", said=str(text), shows=str(text), markup=word(str(text)))


def _reads_word(value: str, text: str) -> Outcome:
    if " ".join(value.split()) == " ".join(text.split()):
        return Outcome(kind="reads", said=text, shows=text, markup=word(value))
    return Outcome(
        kind="reads",
        said=text,
        shows=str(value),
        markup=marked(word(value), f"the page says {text}"),
        code="flip" if isinstance(value, Choice) else "drift",
        message=f"the page says {text!r}, the library {value!r}",
        mend=f"write {value!r}",
    )


def _reads_number(value: Any, text: str) -> Outcome:
    dimension = dimension_of(value)
    try:
        reading = read(text, dimension)
    except LedgerError as error:
        return Outcome(
            kind="reads",
            said=text,
            shows="",  # what was meant is for the author
            markup=marked(number(show(plain(value)), value), str(error)),
            code="drift",
            message=str(error),
            mend="write the number with its unit, or read another value",
        )
    shown = reading.show(plain(value), dimension)
    if reading.accepts(plain(value), dimension):
        return Outcome(kind="reads", said=text, shows=text, markup=number(shown, value))
    return Outcome(
        kind="reads",
        said=text,
        shows=shown,
        markup=marked(number(shown, value), f"the page says {text}"),
        code="drift",
        message=f"the page says {text!r}, the library {shown!r}",
        mend=f"write {shown!r}",
    )
