"""Reports for pages: Markdown with each number marked up, and for the command's ``--format markdown``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from ledger.candidates import Best, Fastest, Tiling
from ledger.decision import Decision, Standing
from ledger.decisions import QUESTIONS, decision, question
from ledger.decisions.question import Question
from ledger.errors import MissingFigure
from ledger.estimate import CONSTANTS
from ledger.flips import Flip
from ledger.machine import FIELDS, Machine
from ledger.machine import machine as find_machine
from ledger.machine import machines as catalogue
from ledger.option import Option
from ledger.prose.census import KINDS, total
from ledger.prose.finding import CODES
from ledger.prose.impact import Change
from ledger.prose.markup import decided, escape, number, word
from ledger.reports.lines import (
    FLIPS_HEAD,
    MACHINE_HEAD,
    NOTHING,
    TERMS_HEAD,
    TILINGS_HEAD,
    Cell,
    best_sentences,
    derivations,
    figures,
    flip_row,
    flip_sentence,
    impact_summary,
    machine_row,
    nearest_flips,
    opinion_sentence,
    rows,
    run_row,
    span,
    terms,
    tiling_row,
)
from ledger.reports.lines import second_opinion as find_opinion
from ledger.sources import sources
from ledger.traced import Traced
from ledger.units import kibibytes, megabytes, round_to

if TYPE_CHECKING:
    from ledger.sweep import Sweep


def lines(given: Decision) -> str:
    """The four lines of both options, as a table."""
    head = ["line", f"A: {given.a.label}", f"B: {given.b.label}"]
    body = [[f"**{row.line}**, {row.counts}", _cell(row.a), _cell(row.b)] for row in rows(given)]
    return table([escape(cell) for cell in head], body)


def verdict(given: Decision) -> str:
    """The verdict box: the winner, the reason, what would flip it nearest, and a fold with every flip."""
    kind = "neither" if given.choice is None else "verdict"
    machine = f" on {given.machine.name}" if given.machine else ""
    found = nearest_flips(given)
    box = [
        f'!!! {kind} "{decided(given.winner)}{escape(machine)}"',
        f"    {escape(given.reason)}.",
        "",
    ]
    if not found:
        return "\n".join([*box, "    Nothing would flip it: no limit and no parameter of the shape."])
    rows = flips(given, found)
    return "\n".join(
        [
            *box,
            f"    What would flip it, nearest first: {escape(flip_sentence(found[0]))}.",
            "",
            f'    ??? note "All {len(found)} flips"',
            "",
            *("        " + line for line in rows.split("\n")),
        ]
    )


def flips(given: Decision, found: Sequence[Flip]) -> str:
    """Flips as a table: parameter, today's value, the first with another verdict, how far, which verdict."""
    return table(FLIPS_HEAD, [list(map(escape, flip_row(flip))) for flip in found])


def best(found: Best, quickest: Fastest | None, tilings: Sequence[Tiling]) -> str:
    """What the rule picks among many options, and the second opinion; where NEITHER, the usable tilings."""
    parts = [f"- {escape(each)}" for each in best_sentences(found, quickest)]
    return "\n".join(parts) + (f"\n\n{_tilings(tilings)}" if found.decision is None else "")


def tilings(found: Sequence[Tiling]) -> str:
    """Every usable tiling, fewest bytes first, as a table."""
    if not found:
        return "No tiling fits and fills."
    return table(TILINGS_HEAD, [list(map(escape, tiling_row(each))) for each in found])


_tilings = tilings


def sweep(found: Sweep) -> str:
    """The runs of equal verdicts along the first axis, as a table."""
    axis = next(iter(found.axes))
    body = [list(map(escape, run_row(run, axis, found.labels))) for run in found.changes()]
    return table(["values", "verdict"], body)


def second_opinion(given: Decision, mode: Literal["stream", "graph"] = "stream") -> str:
    """The box of the second opinion: what it says, both times, and every term of them."""
    found = find_opinion(given, mode)
    if isinstance(found, str):
        return f'!!! opinion "Second opinion: none"\n    {escape(found.removeprefix("none: "))}.'
    body = [[_cell(cell) for cell in row] for row in terms(found)]
    box = [
        f'!!! opinion "Second opinion: {decided(found.says)}"',
        f"    {escape(opinion_sentence(found))}.",
        f"    Estimated, {span()}, not measured.",
        "",
        '    ??? note "Every term"',
        "",
        *("        " + line for line in table(TERMS_HEAD, body).split("\n")),
    ]
    return "\n".join(box)


def constants() -> str:
    """The constants of the second opinion, each with what it is and who found it."""
    body = [
        [f"`{name}`", f"{value:g}", escape(str(dimension)), escape(what), _source(key)]
        for name, (value, dimension, what, key) in CONSTANTS.items()
    ]
    return table(["constant", "value", "unit", "what", "source"], body)


def formulas(given: Decision) -> str:
    """How each number of the four lines is computed, as a table."""
    names = {"bytes": "traffic", "on_chip": "capacity", "grid": "parallelism"}
    body = []
    for label, name, value in derivations(given):
        body.append(
            [escape(label), names[name], escape(value.formula()), escape(value.filled()), _number(value)]
        )
    steps = {n: s for _, _, value in derivations(given) for n, s in value.parts().items()}
    for name, step in steps.items():
        body.append(
            ["both", f"*{escape(name)}*", escape(step.formula()), escape(step.filled()), _number(step)]
        )
    return table(["option", "line", "formula", "with its numbers", "value"], body)


def summary() -> str:
    """Every decision at the reference's shape on the default machine: both traffics, grids, the winner."""
    head = ["decision", "A: MB", "B: MB", "A: blocks", "B: blocks", "the rule says"]
    return table(head, [_summary(decision(slug)) for slug in QUESTIONS])


def report(decisions: Sequence[Decision]) -> str:
    """Each of the decisions in full."""
    return "\n\n".join(show(each) for each in decisions)


def show(given: Decision) -> str:
    """A decision in full: question, four lines, formulas, verdict."""
    parts = [f"## {escape(given.name)}", escape(given.note), lines(given), formulas(given), verdict(given)]
    return "\n\n".join(parts)


def truth_table() -> str:
    """The rule over every pair of standings: nine rows, each computed on a decision made to stand so."""
    head = ["option A", "option B", "the rule says", "line", "reason"]
    return table(head, [_truth(a, b) for a, b in product(Standing, repeat=2)])


def questions(known: Mapping[str, Question]) -> str:
    """Every decision: slug, what it compares, its parameters."""
    body = [
        [f"`{slug}`", escape(each.summary), ", ".join(f"`{n}={v}`" for n, v in each.parameters.items())]
        for slug, each in known.items()
    ]
    return table(["slug", "question", "shape"], body)


def machines(chosen: Iterable[Machine]) -> str:
    """Every machine in a row."""
    return table(MACHINE_HEAD, [[escape(cell) for cell in machine_row(each)] for each in chosen])


def machine_figures(key: str) -> str:
    """Every figure of a machine with its kind and source."""
    body = []
    for name, value, kind, source, note in figures(find_machine(key)):
        where = sources()[source].title if source in sources() else source
        body.append([f"`{name}`", value, escape(FIELDS[name][1]), kind, escape(f"{where}. {note}".strip())])
    return table(["field", "value", "what", "kind", "source"], body)


def verdicts() -> str:
    """Every decision on every machine at the reference's shapes: fuse (the coarse option), split, NEITHER."""
    head = ["machine", *(f"`{slug}`" for slug in QUESTIONS)]
    return table(head, [[escape(gpu.name), *_row_of_verdicts(gpu)] for gpu in catalogue().values()])


def parameters(slug: str) -> str:
    """The shape parameters of a decision with the reference's values."""
    body = [[f"`{name}`", round_to(value, 0, ",")] for name, value in question(slug).parameters.items()]
    return table(["parameter", "the reference's value"], body)


def codes() -> str:
    """Every finding's code with its meaning."""
    return table(["code", "what it means"], [[f"`{code}`", escape(text)] for code, text in CODES.items()])


def impact(changes: Sequence[Change]) -> str:
    """Every change as a table row, and how many there are of each kind: for a pull request."""
    body = [[c.kind, f"`{c.path}:{c.line}`", escape(c.old), escape(c.new)] for c in changes]
    return f"{table(['what', 'where', 'old', 'new'], body)}\n\n{impact_summary(changes)}"


def census(pages: Mapping[str, Counter[str]]) -> str:
    """How many numbers and fences of each kind each page has, and all together."""
    body = [[f"`{path}`", *(str(counts[kind]) for kind in KINDS)] for path, counts in pages.items()]
    sums = total(pages.values())
    return table(["page", *KINDS], [*body, ["**all**", *(f"**{sums[kind]}**" for kind in KINDS)]])


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table of cells that are Markdown already."""
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *body])


def _source(key: str) -> str:
    source = sources()[key]
    return word(source.title, title=source.where, url=source.url)


def _summary(given: Decision) -> list[str]:
    a, b = given.a, given.b
    return [
        escape(given.name),
        number(megabytes(a.bytes), a.bytes),
        number(megabytes(b.bytes), b.bytes),
        number(round_to(int(a.grid), 0, ","), a.grid),
        number(round_to(int(b.grid), 0, ","), b.grid),
        decided(given.winner),
    ]


def _truth(a: Standing, b: Standing) -> list[str]:
    budget, sms = 100 * 1024, 100
    stand: Mapping[Standing, Callable[[str, int], Option]] = {
        Standing.USABLE: lambda label, size: Option(label, size, sms, budget),
        Standing.IDLE: lambda label, size: Option(label, size, sms - 1, budget),
        Standing.TOO_BIG: lambda label, size: Option(label, size, sms, 2 * budget),
    }
    made = Decision("a truth table", stand[a]("A", 10**6), stand[b]("B", 2 * 10**6), budget, 1000, sms)
    both = a is b is Standing.USABLE
    swapped = (
        replace(made, option_a=stand[a]("A", 2 * 10**6), option_b=stand[b]("B", 10**6)) if both else made
    )
    winner = "the one with fewer bytes" if both and swapped.winner != made.winner else str(made.winner)
    return [a.value, b.value, f"**{winner}**", made.line.value, escape(made.reason)]


def _row_of_verdicts(gpu: Machine) -> Iterable[str]:
    for slug in QUESTIONS:
        try:
            given = decision(slug, machine=gpu)
        except MissingFigure:
            yield NOTHING
        else:
            words = {"NEITHER": "NEITHER", given.coarse.label: "fuse"}
            yield decided(words.get(given.winner, "split"))


def _cell(cell: Cell) -> str:
    shown = escape(cell.number) if cell.value is None else number(cell.number, cell.value)
    return shown + escape(cell.words)


def _number(value: Traced) -> str:
    unit = {"bytes": f" ({_size(value)})"}.get(str(value.dimension), "")
    return number(round_to(value.value, 0, ","), value) + escape(f" {value.dimension}{unit}")


def _size(value: Traced) -> str:
    return f"{megabytes(value)} MB" if value >= 10**6 else f"{kibibytes(value, 1)} KB"
