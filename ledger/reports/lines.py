"""What every report says of a decision, before any of them decides how it looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ledger.candidates import Best, Fastest, Tiling
from ledger.decision import Decision
from ledger.errors import LedgerError
from ledger.estimate import UNCERTAINTY, Estimate, Opinion, Timed, opinion
from ledger.flips import Flip, flips
from ledger.machine import FIELDS, Machine
from ledger.option import Count, Option
from ledger.prose.impact import KINDS as IMPACT_KINDS
from ledger.prose.impact import Change
from ledger.traced import Traced, dimension_of, plain
from ledger.units import BYTES, kibibytes, megabytes, microseconds, round_to

if TYPE_CHECKING:
    from ledger.sweep import Run

NOTHING = "–"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number as a table shows it, the value behind it, and words that follow."""

    number: str
    value: Count = None
    words: str = ""

    @property
    def text(self) -> str:
        """The cell as plain text."""
        return self.number + self.words


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the ledger: its name, what it counts, and a cell for each option."""

    line: str
    counts: str
    a: Cell
    b: Cell


def rows(decision: Decision) -> list[Row]:
    """The four lines of both options."""
    a, b = decision.a, decision.b
    return [
        Row(line="traffic", counts="bytes moved", a=_megabytes(a.bytes), b=_megabytes(b.bytes)),
        Row(line="capacity", counts="bytes on chip, a block", a=_kibibytes(a), b=_kibibytes(b)),
        Row(line="parallelism", counts="blocks launched", a=_blocks(a.grid), b=_blocks(b.grid)),
        Row(
            line="epilogue",
            counts="new work of the finer option",
            a=_epilogue(decision, a),
            b=_epilogue(decision, b),
        ),
    ]


def nearest_flips(decision: Decision) -> list[Flip]:
    """What would flip the verdict, nearest first: both limits, and each shape parameter but element sizes."""
    sized = {name for name, value in decision.shape.items() if dimension_of(value) == BYTES}
    found = (flip for flip in flips(decision) if flip.parameter not in sized)
    return sorted(found, key=lambda flip: abs(flip.margin))


def flip_sentence(flip: Flip) -> str:
    """One flip in words: ``from 513 SMs up (+289 %): NEITHER``, ``from split = 2 down (−75 %): NEITHER``."""
    direction = "up" if flip.at > flip.now else "down"
    return f"from {flip_value(flip)} {direction} ({margin(flip)}): {flip.winner}"


def flip_value(flip: Flip) -> str:
    """The value at which the verdict is another one: ``513 SMs``, ``split = 2``."""
    at = round_to(flip.at, 0, ",")
    units = {"SMs": "SM" if flip.at == 1 else "SMs", "budget": "bytes of budget"}
    return f"{at} {units[flip.parameter]}" if flip.parameter in units else f"{flip.parameter} = {at}"


def margin(flip: Flip) -> str:
    """How far a flip is, from today's value: ``+0.8 %``, ``−75 %``, from ten times on ``13 ×``."""
    share = Fraction(flip.at) / Fraction(flip.now)
    if share >= 10:
        return f"{round_to(share, 0, ',')} ×"
    away = 100 * (share - 1)
    decimals = 0 if abs(away) >= 10 else 1 if abs(away) >= 1 else 2
    return f"{'+' if away > 0 else '−'}{round_to(abs(away), decimals)} %"


FLIPS_HEAD = ["parameter", "today", "flips at", "away", "to"]


def flip_row(flip: Flip) -> list[str]:
    """A flip as a row of a table."""
    today, at = round_to(plain(flip.now), 0, ","), round_to(flip.at, 0, ",")
    return [flip.parameter, today, at, margin(flip), str(flip.winner)]


TILINGS_HEAD = ["tiles", "option", "bytes, MB", "blocks", "on chip, KB"]


def tiling_row(tiling: Tiling) -> list[str]:
    """A usable tiling as a row of a table."""
    return [
        values_text(tiling.values),
        tiling.label,
        megabytes(tiling.bytes),
        round_to(tiling.grid, 0, ","),
        kibibytes(tiling.on_chip, 1),
    ]


def values_text(values: Mapping[str, int]) -> str:
    """Chosen values in one line: ``split=3 tile=64``."""
    return " ".join(f"{name}={value}" for name, value in values.items()) or "whatever the values"


def best_sentences(found: Best, quickest: Fastest | None) -> list[str]:
    """What the rule picks among many options, how many were usable, and what the second opinion picks."""
    counts = f"{found.usable} usable, {found.idle} fit and do not fill, {found.too_big} do not fit"
    picked = f"the rule: {found.winner}"
    if found.option is not None:
        size = f"{megabytes(found.option.bytes)} MB, {round_to(int(found.option.grid), 0, ',')} blocks"
        picked = f"{picked} at {values_text(found.values)} ({size})"
    sentences = [picked, f"of {found.candidates} options: {counts}"]
    if quickest is None:
        return [*sentences, "the second opinion: none, since no option fits or a figure is missing"]
    time = f"{microseconds(quickest.us)} us, estimated, {span()}; {quickest.standing.value}"
    return [*sentences, f"the second opinion: {quickest.label} at {values_text(quickest.values)} ({time})"]


def run_row(run: Run, axis: str, labels: Sequence[str]) -> list[str]:
    """A run of equal verdicts as a row: the values it reaches over, and the verdict."""
    reach = f"{run.first}" if run.first == run.last else f"{run.first}..{run.last}"
    others = [f"{name}={value}" for name, value in run.others.items()]
    return [" ".join([f"{axis}={reach}", *others]), labels[run.code]]


def derivations(decision: Decision) -> list[tuple[str, str, Traced]]:
    """Option, line and traced number of every line that has a formula."""
    found = [
        (option.label, name, getattr(option, name))
        for option in (decision.a, decision.b)
        for name in ("bytes", "on_chip", "grid")
    ]
    return [(label, name, value) for label, name, value in found if isinstance(value, Traced)]


def shape_text(decision: Decision) -> str:
    """The shape in one line: ``m=1024 n=1024``."""
    return " ".join(f"{name}={value}" for name, value in decision.shape.items())


def second_opinion(decision: Decision, mode: Literal["stream", "graph"] = "stream") -> Opinion | str:
    """The second opinion on a decision; where there is none, why not."""
    try:
        return opinion(decision, mode)
    except LedgerError as error:
        return f"none: {error}"


def opinion_sentence(found: Opinion) -> str:
    """What the second opinion says of the rule's verdict, in one sentence."""
    if found.is_close:
        return f"too close to call: {found.reason}"
    stand = "agrees with the rule" if found.agrees else "differs from the rule"
    return f"{found.says}, which {stand}: {found.reason}"


def span() -> str:
    """How far an estimate may be off, in words."""
    return f"±{round_to(100 * Fraction(str(UNCERTAINTY)), 0)} %"


TERMS_HEAD = [
    *("option", "kernel", "launch, µs", "blocks", "at once", "waves"),
    *("a full wave, µs", "the last, µs", "total, µs", "bound by"),
]


def terms(found: Opinion) -> list[list[Cell]]:
    """Every kernel of both options in a row, with each term of its time, and a row for each option's sum."""
    known = [each for each in (found.a, found.b) if each is not None]
    return [row for each in known for row in _option_terms(each)]


def _option_terms(found: Estimate) -> list[list[Cell]]:
    rows = [_kernel_terms(found, n, each) for n, each in enumerate(found.launches, 1)]
    blank = [Cell(number=NOTHING)] * (len(TERMS_HEAD) - 4)
    total = [Cell(number=found.option.label), Cell(number="all"), *blank, _us(found.us), Cell(number=NOTHING)]
    return [*rows, total] if len(rows) > 1 else rows


def _kernel_terms(found: Estimate, number: int, timed: Timed) -> list[Cell]:
    full = Cell(number=NOTHING) if timed.waves == 1 else _us(timed.wave.longest)
    return [
        Cell(number=found.option.label),
        Cell(number=f"{number}"),
        _us(timed.cost),
        _whole(timed.launch.grid),
        _whole(timed.slots),
        _whole(timed.waves),
        full,
        _us(timed.tail.longest),
        _us(timed.us),
        Cell(number=timed.binding),
    ]


def machine_row(machine: Machine) -> list[str]:
    """A machine in one row: key, name, SMs, shared memory per SM, bandwidth and its kind."""
    figure = machine.figures.get(machine.bandwidth_field)
    return [
        machine.key,
        machine.name,
        str(machine.sm_count),
        figure_text(machine, "smem_per_sm_kib"),
        f"{figure.value}" if figure else NOTHING,
        figure.kind if figure else NOTHING,
    ]


MACHINE_HEAD = ["key", "name", "SMs", "shared memory per SM, KiB", "bandwidth, GB/s", "kind"]


def figure_text(machine: Machine, name: str) -> str:
    """A figure of a machine as it stands in the catalogue, or a dash where nobody has published it."""
    return f"{machine.figures[name].value}" if name in machine.figures else NOTHING


def figures(machine: Machine) -> Iterable[Sequence[str]]:
    """Every figure of a machine: field, value, kind, source, note; in the order of the fields."""
    for name in FIELDS:
        if name in machine.figures:
            figure = machine.figures[name]
            yield name, f"{figure.value}", figure.kind, figure.source, figure.note


def impact_summary(changes: Iterable[Change]) -> str:
    """How many changes there are of each kind, in one line."""
    counts = Counter(change.kind for change in changes)
    words = {"flip": "flips", "claim": "claims", "reading": "readings", "cell": "cells"}
    parts = [f"{counts[kind]} {words[kind] if counts[kind] != 1 else kind}" for kind in IMPACT_KINDS]
    return f"{sum(counts.values())} changes: {', '.join(parts)}"


def _megabytes(value: Count) -> Cell:
    return Cell(number=f"{megabytes(value)} MB", value=value)


def _kibibytes(option: Option) -> Cell:
    return Cell(number=f"{kibibytes(option.on_chip, 1)} KB", value=option.on_chip)


def _whole(value: Count) -> Cell:
    return Cell(number=round_to(int(value), 0, ","), value=value)


def _us(value: Traced) -> Cell:
    return Cell(number=microseconds(value), value=value)


def _blocks(value: Count) -> Cell:
    return Cell(number=f"{round_to(int(value), 0, ',')} blocks", value=value)


def _epilogue(decision: Decision, option: Option) -> Cell:
    if option is not decision.fine:
        return Cell(number=NOTHING)
    new = option.epilogue
    launches = f"{new.launches} launch{'' if new.launches == 1 else 'es'}"
    return Cell(number=f"{megabytes(new.bytes)} MB", value=new.bytes, words=f", {launches}: {new.work}")
