"""The rule over more than two options: the best of many shapes, and the tilings that are usable at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

from ledger.decision import NEITHER, Decision, Standing, standing
from ledger.decisions import budget_of, decision, question
from ledger.errors import MissingFigure
from ledger.estimate import estimate
from ledger.machine import DEFAULT, Machine
from ledger.machine import machine as find_machine
from ledger.option import Option
from ledger.span import Values, swept
from ledger.traced import Choice, plain

Place = Literal["a", "b"]


@dataclass(frozen=True, kw_only=True)
class Best:
    """What the rule picks among all options of all swept values.

    Args:
        values: the swept parameters' values at which the winner was found; empty if none is usable.
        decision: the decision there, traced; None if none is usable.
        place: which of its two options wins.
        usable: how many options fit and fill, equal ones counted once.
        idle: how many fit and do not fill.
        too_big: how many do not fit.
    """

    values: Mapping[str, int]
    decision: Decision | None
    place: Place | None
    usable: int
    idle: int
    too_big: int

    @property
    def option(self) -> Option | None:
        """The winning option, traced; None if none is usable."""
        if self.decision is None:
            return None
        return self.decision.option_a if self.place == "a" else self.decision.option_b

    @property
    def winner(self) -> Choice:
        """The label of the winning option, or NEITHER."""
        return NEITHER if self.option is None else Choice(self.option.label)

    @property
    def candidates(self) -> int:
        """How many different options there were."""
        return self.usable + self.idle + self.too_big


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """A usable option with the tile values that make it one, its lines in bytes, blocks and bytes."""

    values: Mapping[str, int]
    label: str
    place: Place
    bytes: int
    grid: int
    on_chip: int


def best(
    slug: str,
    over: Mapping[str, Values],
    *,
    machine: str | Machine = DEFAULT,
    budget: int | None = None,
    **shape: object,
) -> Best:
    """The rule over both options at every swept value: the usable one with the fewest bytes.

    On equal bytes the smaller swept value wins, then the first option. Traffic is compared as it stands:
    sweep what the kernel's author chooses, ``split`` or ``tile``, not how much work there is.

    Args:
        slug: which decision.
        over: shape parameters to sweep, each with its values.
        machine: as for ``decision``.
        budget: as for ``decision``.
        shape: the other shape parameters.

    Raises:
        UnknownName: no such decision, machine or parameter.
        BadValue: a value is not what its place allows, or a parameter is swept and given.
        MissingFigure: the machine lacks a figure that the rule needs.

    Examples:
        >>> found = best("split-k", {"split": "1..64"})
        >>> found.winner, found.values, found.usable
        ('split-K=3', {'split': 3}, 62)
    """
    found = list(_candidates(slug, over, machine, budget, shape))
    standings = Counter(each.standing for each in found)
    usable = [each for each in found if each.standing is Standing.USABLE]
    first = min(
        usable, key=lambda each: (each.option.bytes, tuple(each.values.values()), each.place), default=None
    )
    return Best(
        values=first.values if first else {},
        decision=decision(slug, machine=machine, budget=budget, **{**shape, **first.values})
        if first
        else None,
        place=first.place if first else None,
        usable=len(usable),
        idle=standings[Standing.IDLE],
        too_big=standings[Standing.TOO_BIG],
    )


def retile(
    slug: str,
    *,
    machine: str | Machine = DEFAULT,
    budget: int | None = None,
    over: Mapping[str, Values] | None = None,
    **shape: object,
) -> tuple[Tiling, ...]:
    """Every option that fits and fills at some tiling: what to try where the verdict is NEITHER.

    The fewest bytes come first; then the most bytes on chip, since a larger tile reads its operands less
    often, which no line counts; then the fewest blocks. An option that a tile does not change is listed
    once, at the first value.

    Args:
        slug: which decision.
        machine: as for ``decision``.
        budget: as for ``decision``.
        over: the parameters to choose, each with its values; by default the question's ``tiles``.
        shape: the other shape parameters.

    Raises:
        UnknownName: no such decision, machine or parameter.
        BadValue: a value is not what its place allows, or a parameter is to be chosen and given.
        MissingFigure: the machine lacks a figure that the rule needs.

    Examples:
        >>> retile("split-k", split=1)[0].label
        'no split, 256 blocks'
    """
    tiles = question(slug).tiles if over is None else over
    found = [
        Tiling(
            values=each.values,
            label=each.option.label,
            place=each.place,
            bytes=each.option.bytes,
            grid=each.option.grid,
            on_chip=each.option.on_chip,
        )
        for each in _candidates(slug, tiles, machine, budget, shape)
        if each.standing is Standing.USABLE
    ]
    return tuple(sorted(found, key=lambda each: (each.bytes, -each.on_chip, each.grid)))


def fastest(
    slug: str,
    over: Mapping[str, Values],
    *,
    machine: str | Machine = DEFAULT,
    budget: int | None = None,
    mode: str = "stream",
    **shape: object,
) -> Fastest | None:
    """The option that the second opinion holds for the fastest, among all that fit on chip.

    It asks no option to fill the machine. None where none fits, or where the machine lacks a figure that
    the estimate needs; the first of several as fast.

    Args:
        slug: which decision.
        over: shape parameters to sweep, each with its values.
        machine: as for ``decision``.
        budget: as for ``decision``.
        mode: ``stream`` or ``graph``, how kernels are launched.
        shape: the other shape parameters.

    Raises:
        UnknownName: no such decision, machine or parameter.
        BadValue: a value is not what its place allows, or a parameter is swept and given.

    Examples:
        >>> found = fastest("split-kv", {"split": "1..64"}, batch_heads=8)
        >>> found.values
        {'split': 9}
    """
    gpu = find_machine(machine)
    found = []
    for each in _candidates(slug, over, gpu, budget, shape):
        if each.standing is not Standing.TOO_BIG:
            try:
                took = estimate(each.option, gpu, mode)
            except MissingFigure:
                return None
            found.append(Fastest(each.values, each.option.label, each.standing, float(took.us)))
    return min(found, key=lambda each: each.us, default=None)


class Fastest(NamedTuple):
    """The fastest option by the second opinion: its swept values, label, standing and time in µs."""

    values: Mapping[str, int]
    label: str
    standing: Standing
    us: float


class _Candidate(NamedTuple):
    values: Mapping[str, int]
    place: Place
    option: Option
    standing: Standing


def _candidates(
    slug: str,
    over: Mapping[str, Values],
    machine: str | Machine,
    budget: int | None,
    shape: Mapping[str, object],
) -> Iterator[_Candidate]:
    """Both options at every combination of values that is a shape, equal ones once."""
    asked, gpu = question(slug), find_machine(machine)
    axes, fixed = swept(asked, over, shape)
    most, sm_count = plain(budget_of(asked, gpu, budget)), int(gpu.sm_count)
    seen = set()
    for point in product(*axes.values()):
        values = dict(zip(axes, point, strict=True))
        full = {**fixed, **values}
        if any(full[name] > full[bound] for name, bound in asked.at_most.items()):
            continue
        places: tuple[Place, Place] = ("a", "b")
        for place, option in zip(places, asked.options(**full), strict=True):
            lines = (place, option.label, option.bytes, option.grid, option.on_chip)
            if lines not in seen:
                seen.add(lines)
                yield _Candidate(values, place, option, standing(option, most, sm_count))
