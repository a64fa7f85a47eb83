"""The rule: which of two options is usable, and which usable one moves fewer bytes.

An option is *usable* iff it fits the budget and its grid covers the machine. Among usable options the
fewest bytes win. If none is usable the answer is NEITHER: re-tile, do not choose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ledger.errors import BadValue
from ledger.machine import Machine
from ledger.option import Count, Option
from ledger.traced import Choice, plain
from ledger.units import kibibytes, megabytes, microseconds

NEITHER = Choice("NEITHER")
A_WINS, B_WINS, NONE_WINS = range(3)  # verdicts by the winner's place, whatever its label says


class Line(StrEnum):
    """The lines of the ledger that can decide."""

    TRAFFIC = "traffic"
    CAPACITY = "capacity"
    PARALLELISM = "parallelism"


class Standing(StrEnum):
    """How one option stands before the rule."""

    USABLE = "usable"
    IDLE = "fits, does not fill"
    TOO_BIG = "does not fit"


class Verdict(NamedTuple):
    """The winner's label or NEITHER, and the reason, which names the line that decided."""

    winner: str
    reason: str


def fits(option: Option, budget: Count) -> Any:
    """Whether one block of the option fits the budget, in bytes; of arrays, where."""
    return option.on_chip <= budget


def fills(option: Option, sm_count: Count) -> Any:
    """Whether the option's grid has a block for every SM; of arrays, where."""
    return option.grid >= sm_count


def standing(option: Option, budget: Count, sm_count: Count) -> Standing:
    """How the option stands before the rule."""
    if not fits(option, budget):
        return Standing.TOO_BIG
    return Standing.USABLE if fills(option, sm_count) else Standing.IDLE


def choose(options: Iterable[Option], budget: Count, sm_count: Count) -> Option | None:
    """The option that the rule picks among any number, None where none is usable; on equal bytes the first.

    Examples:
        >>> thrifty, broad = Option("thrifty", 4, 64, 1024), Option("broad", 7, 512, 1024)
        >>> choose([thrifty, broad], budget=1024, sm_count=132).label
        'broad'
    """
    usable = [each for each in options if standing(each, budget, sm_count) is Standing.USABLE]
    return min(usable, key=lambda each: plain(each.bytes), default=None)


@dataclass(frozen=True)
class Decision:
    """A named question with two options, a budget and a machine.

    Args:
        name: the question, with its shape.
        option_a: the first option.
        option_b: the second option.
        budget: bytes that one block may keep on chip.
        bytes_per_us: the machine's effective bandwidth, bytes per microsecond.
        sm_count: the machine's SMs.
        note: one line on what the decision is about.
        slug: its short name, ``split-k``; empty for one made by hand.
        finer: which option cuts the work finer, "a" or "b".
        machine: the GPU the limits were read from, if they were.
        shape: the shape parameters by name.

    Raises:
        BadValue: a line, the budget or a limit is not a finite number in its range.
    """

    name: str
    option_a: Option
    option_b: Option
    budget: Count
    bytes_per_us: Count
    sm_count: Count
    note: str = ""
    slug: str = ""
    finer: Literal["a", "b"] = "a"
    machine: Machine | None = None
    shape: Mapping[str, Count] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        subject = self.slug or self.name
        require(f"{subject}: budget", self.budget, above=0)
        require(f"{subject}: bytes_per_us", self.bytes_per_us, above=0)
        require(f"{subject}: sm_count", self.sm_count, at_least=1, whole=True)
        for option in (self.option_a, self.option_b):
            where = f"{subject}: {option.label}"
            require(f"{where}: grid", option.grid, at_least=1, whole=True)
            require(f"{where}: bytes", option.bytes, at_least=0)
            require(f"{where}: on_chip", option.on_chip, at_least=0)

    @property
    def a(self) -> Option:
        """The first option."""
        return self.option_a

    @property
    def b(self) -> Option:
        """The second option."""
        return self.option_b

    @property
    def fine(self) -> Option:
        """The option that cuts the work finer; its epilogue is the ledger's fourth line."""
        return self.option_a if self.finer == "a" else self.option_b

    @property
    def coarse(self) -> Option:
        """The option that is not the finer one."""
        return self.option_b if self.finer == "a" else self.option_a

    def fits(self, option: Option) -> Any:
        """Whether one block of the option fits the budget."""
        return fits(option, self.budget)

    def fills(self, option: Option) -> Any:
        """Whether the option's grid has a block for every SM."""
        return fills(option, self.sm_count)

    def standing(self, option: Option) -> Standing:
        """How the option stands before the rule."""
        return standing(option, self.budget, self.sm_count)

    def usable(self, option: Option) -> bool:
        """Whether the option fits and fills."""
        return self.standing(option) is Standing.USABLE

    @property
    def choice(self) -> Option | None:
        """The option that the rule picks, None where neither is usable; on equal bytes the first."""
        return choose((self.option_a, self.option_b), self.budget, self.sm_count)

    @property
    def line(self) -> Line:
        """The line that decided."""
        standings = {self.standing(self.option_a), self.standing(self.option_b)}
        if standings == {Standing.USABLE}:
            return Line.TRAFFIC
        if standings in ({Standing.TOO_BIG}, {Standing.TOO_BIG, Standing.USABLE}):
            return Line.CAPACITY
        return Line.PARALLELISM

    @property
    def winner(self) -> Choice:
        """The label of the option that the rule picks, or NEITHER."""
        return NEITHER if self.choice is None else Choice(self.choice.label)

    @property
    def reason(self) -> str:
        """Why, in one line that names the deciding line and its numbers."""
        choice = self.choice
        if choice is None:
            return self._why_neither()
        other = self.option_b if choice is self.option_a else self.option_a
        if self.line is Line.CAPACITY:
            return f"capacity veto on the other option ({kibibytes(other.on_chip)} KB)"
        if self.line is Line.PARALLELISM:
            return self._why_parallelism(choice, other)
        return self._why_traffic(choice, other)

    def verdict(self) -> Verdict:
        """The winner and the reason."""
        return Verdict(self.winner, self.reason)

    def _why_neither(self) -> str:
        if self.line is Line.CAPACITY:
            sizes = f"{kibibytes(self.option_a.on_chip)} KB and {kibibytes(self.option_b.on_chip)} KB"
            return (
                f"capacity: {sizes} both exceed the {kibibytes(self.budget)} KB budget;"
                " re-tile, do not choose"
            )
        return "neither option both fits on chip and fills the machine"

    def _why_parallelism(self, choice: Option, other: Option) -> str:
        text = f"parallelism: the other option launches {other.grid} blocks for {self.sm_count} SMs"
        if choice is self.option_a:
            return text
        return f"{text}, so it pays {megabytes(choice.bytes - other.bytes, '+')} MB to reach {choice.grid}"

    def _why_traffic(self, choice: Option, other: Option) -> str:
        text = f"traffic: {megabytes(choice.bytes)} MB vs {megabytes(other.bytes)} MB"
        if choice is self.option_a:
            return f"{text}, and both fit"
        saved = other.bytes - choice.bytes
        return f"{text} (saves {megabytes(saved)} MB = {microseconds(saved / self.bytes_per_us)} us)"


def require(
    subject: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    whole: bool = False,
) -> None:
    """Refuse what is not a finite number in its range.

    Raises:
        BadValue: it is not; the message says what is allowed.
    """
    number = plain(value)
    kind = "a whole number" if whole else "a finite number"
    bound = f"above {above:g}" if above is not None else f"of at least {at_least:g}"
    good = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    good = good and (not whole or number == int(number))
    if not good or (above is not None and number <= above) or (at_least is not None and number < at_least):
        raise BadValue(subject, f"{kind} {bound}", repr(number))
