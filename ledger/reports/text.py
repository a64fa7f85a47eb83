"""Reports for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ledger.candidates import Best, Fastest, Tiling
from ledger.decision import Decision
from ledger.decisions.question import Question
from ledger.flips import Flip
from ledger.machine import Machine
from ledger.option import Option
from ledger.prose.census import KINDS, total
from ledger.prose.fix import Proposal
from ledger.prose.impact import Change
from ledger.reports.lines import (
    FLIPS_HEAD,
    MACHINE_HEAD,
    TERMS_HEAD,
    TILINGS_HEAD,
    best_sentences,
    derivations,
    flip_row,
    flip_sentence,
    impact_summary,
    machine_row,
    nearest_flips,
    opinion_sentence,
    rows,
    run_row,
    second_opinion,
    shape_text,
    span,
    terms,
    tiling_row,
)
from ledger.units import kibibytes, megabytes

if TYPE_CHECKING:
    from ledger.sweep import Sweep

MAP_ROWS, MAP_COLUMNS = 24, 64  # of a terminal
MOST_RUNS = 200


def report(bandwidth_gbs: float, decisions: Sequence[Decision]) -> str:
    """The reference's report: one table of all decisions, then each with its two options."""
    first = decisions[0]
    head = (
        f"machine: {bandwidth_gbs:.1f} GB/s effective ({float(first.bytes_per_us):.0f} bytes/us), "
        f"{first.sm_count} SMs"
    )
    titles = f"{'decision':<48}{'A MB':>10}{'B MB':>10}{'delta MB':>10}{'A grid':>10}{'B grid':>10} winner"
    parts = [head, "", titles, *map(_summary, decisions), ""]
    return "\n".join([*parts, *map(_details, decisions)])


def show(decision: Decision) -> str:
    """A decision in full: the four lines, the verdict, what flips it, each number's formula."""
    table = [
        ["line", f"A: {decision.a.label}", f"B: {decision.b.label}"],
        *([row.line, row.a.text, row.b.text] for row in rows(decision)),
    ]
    machine = f"machine {decision.machine.name}, " if decision.machine else ""
    found = [f"  {flip_sentence(flip)}" for flip in nearest_flips(decision)]
    return "\n".join(
        [
            decision.name,
            f"  {decision.note}",
            f"  {machine}{decision.sm_count} SMs, budget {kibibytes(decision.budget)} KB a block",
            f"  {shape_text(decision)}",
            "",
            _table(table),
            "",
            f"winner: {decision.winner} -- {decision.reason}",
            "flips, nearest first:",
            *(found or ["  no limit and no parameter of the shape changes the verdict"]),
            *_opinion(decision),
            "how:",
            *_formulas(decision),
        ]
    )


def _opinion(decision: Decision) -> Iterable[str]:
    found = second_opinion(decision)
    if isinstance(found, str):
        yield f"second opinion: {found}"
        return
    yield f"second opinion, estimated, {span()}: {opinion_sentence(found)}"
    rows = [[cell.text for cell in row] for row in terms(found)]
    yield from ("  " + line for line in _table([TERMS_HEAD, *rows]).split("\n"))


def flips(given: Decision, found: Sequence[Flip]) -> str:
    """Today's verdict, and every flip in a table."""
    head = f"{given.name}: {given.winner}"
    if not found:
        return f"{head}\nno value of these changes the verdict"
    return f"{head}\n{_table([FLIPS_HEAD, *map(flip_row, found)])}"


def best(found: Best, quickest: Fastest | None, usable: Sequence[Tiling]) -> str:
    """What the rule picks among many options, and the second opinion; where NEITHER, the usable tilings."""
    sentences = best_sentences(found, quickest)
    if found.decision is not None:
        return "\n".join([*sentences, f"because: {found.decision.reason}"])
    return "\n".join([*sentences, "", "re-tile, do not choose:" if usable else "", tilings(usable)])


def tilings(found: Sequence[Tiling]) -> str:
    """Every usable tiling, fewest bytes first, then the most on chip: its re-reads are in no line."""
    if not found:
        return "no tiling fits and fills"
    return _table([TILINGS_HEAD, *map(tiling_row, found)])


def sweep(found: Sweep) -> str:
    """A sweep's counts, and its runs along one axis or a map of two, as many values as a terminal shows."""
    counts = ", ".join(f"{count:,} {word}" for word, count in found.counts.items() if count)
    meaning = f"A: {found.labels[0]}    B: {found.labels[1]}    .: NEITHER    -: not a shape"
    if len(found.axes) == 2:
        return "\n".join([counts, meaning, "", *_map(found)])
    axis = next(iter(found.axes))
    runs = [run_row(run, axis, found.labels) for run in islice(found.changes(), MOST_RUNS)]
    return "\n".join([counts, meaning, "", _table([["values", "verdict"], *runs])])


def _map(found: Sweep) -> Iterable[str]:
    """One character a verdict: the first axis downwards, the second across."""
    (down, ys), (across, xs) = found.axes.items()
    rows, columns = _spread(len(ys), MAP_ROWS), _spread(len(xs), MAP_COLUMNS)
    if len(rows) < len(ys) or len(columns) < len(xs):
        yield f"shown: {len(rows)} of {len(ys)} {down}, {len(columns)} of {len(xs)} {across}"
    width = max(len(str(ys[i])) for i in rows)
    yield f"{'':{width}}  {across} = {xs[columns[0]]} to {xs[columns[-1]]}"
    for i in rows:
        yield f"{ys[i]:>{width}}  " + "".join("AB.-"[found.codes[i, j]] for j in columns)
    yield f"{down} downwards"


def _spread(count: int, most: int) -> list[int]:
    """Places spread evenly over a count, the first and the last among them."""
    return list(range(count)) if count <= most else [i * (count - 1) // (most - 1) for i in range(most)]


def decisions(questions: Mapping[str, Question]) -> str:
    """Every decision: its slug, what it compares, its shape parameters with their defaults."""
    lines = []
    for slug, question in questions.items():
        shape = " ".join(f"{name}={value}" for name, value in question.parameters.items())
        lines += [slug, f"  {question.summary}", f"  {shape}"]
    return "\n".join(lines)


def machines(catalogue: Iterable[Machine]) -> str:
    """Every machine in a row."""
    return _table([MACHINE_HEAD, *map(machine_row, catalogue)])


def proposal(given: Proposal) -> str:
    """A sentence as it stands, and as it would read."""
    place = f"{given.finding.path}:{given.finding.line}:{given.finding.column}: {given.finding.code}"
    return "\n".join([place, *_prefixed("- ", given.old), *_prefixed("+ ", given.new)])


def impact(changes: Sequence[Change]) -> str:
    """Every change with its place, old and new, and how many there are of each kind."""
    lines = [f"{c.path}:{c.line}:{c.column}: {c.kind}: {c.old} → {c.new}" for c in changes]
    return "\n".join([*lines, impact_summary(changes)])


def census(pages: Mapping[str, Counter[str]]) -> str:
    """How many numbers and fences of each kind each page has, and all together."""
    body = [[path, *(str(counts[kind]) for kind in KINDS)] for path, counts in pages.items()]
    sums = total(pages.values())
    return _table([["page", *KINDS], *body, ["all", *(str(sums[kind]) for kind in KINDS)]])


def _prefixed(prefix: str, text: str) -> list[str]:
    return [f"{prefix}{line}" for line in text.splitlines()]


def _summary(decision: Decision) -> str:
    a, b = decision.a, decision.b
    traffic = (a.bytes, b.bytes, a.bytes - b.bytes)
    cells = "".join(f"{megabytes(value):>10}" for value in traffic)
    return f"{decision.name:<48}{cells}{a.grid:>10}{b.grid:>10} {decision.winner}"


def _details(decision: Decision) -> str:
    winner, reason = decision.verdict()
    return "\n".join(
        [
            decision.name,
            f" {decision.note}",
            _option("A", decision.a),
            _option("B", decision.b),
            f" on-chip budget {kibibytes(decision.budget)} KB; machine has {decision.sm_count} SMs",
            f" winner: {winner} -- {reason}",
            "",
        ]
    )


def _option(name: str, option: Option) -> str:
    return (
        f" {name}: {option.label:<34} {megabytes(option.bytes):>8} MB"
        f" grid {option.grid:>7} on chip {kibibytes(option.on_chip, 1):>7} KB"
    )


def _formulas(decision: Decision) -> Iterable[str]:
    for label, name, value in derivations(decision):
        yield f"  {label}: {name} = {value.derivation()}"
        yield from (f"      {part} = {step.derivation()}" for part, step in value.parts().items())


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
