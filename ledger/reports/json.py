"""Reports for programs: plain dictionaries, written as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ledger.candidates import Best, Fastest, Tiling
from ledger.decision import Decision
from ledger.decisions.question import Question
from ledger.estimate import UNCERTAINTY
from ledger.flips import Flip
from ledger.flips import flips as find_flips
from ledger.machine import Machine
from ledger.option import Count, Option
from ledger.prose.impact import Change
from ledger.reports.lines import second_opinion
from ledger.traced import Traced, plain

if TYPE_CHECKING:
    from ledger.sweep import Sweep


def write(value: object) -> str:
    """A value as JSON, indented, in the order it was built."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def decision(given: Decision) -> dict[str, Any]:
    """A decision: shape, limits, both options with the trace of each line, verdict and flips."""
    return {
        "slug": given.slug,
        "name": given.name,
        "note": given.note,
        "machine": given.machine.key if given.machine else None,
        "shape": {name: plain(value) for name, value in given.shape.items()},
        "budget": _number(given.budget),
        "bytes_per_us": _number(given.bytes_per_us),
        "sm_count": _number(given.sm_count),
        "option_a": _option(given.a),
        "option_b": _option(given.b),
        "finer": given.finer,
        "winner": str(given.winner),
        "reason": given.reason,
        "flips": _flips(find_flips(given)),
        "second_opinion": _opinion(given),
    }


def report(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Every decision, as ``decision`` gives one."""
    return [decision(each) for each in decisions]


def questions(known: Mapping[str, Question]) -> list[dict[str, Any]]:
    """Every decision's slug, summary, note and shape parameters with their defaults."""
    return [
        {"slug": slug, "summary": each.summary, "note": each.note, "parameters": each.parameters}
        for slug, each in known.items()
    ]


def machines(catalogue: Iterable[Machine]) -> list[dict[str, Any]]:
    """Every machine with all its figures, each with kind and source."""
    return [
        {
            "key": each.key,
            "name": each.name,
            "vendor": each.vendor,
            "compute_capability": each.compute_capability,
            "aliases": list(each.aliases),
            "figures": {name: asdict(figure) for name, figure in each.figures.items()},
            "conflicts": list(each.conflicts),
            "notes": list(each.notes),
        }
        for each in catalogue
    ]


def impact(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Every change with its kind, place, old and new text."""
    names = ("kind", "path", "line", "column", "old", "new")
    return [{name: getattr(change, name) for name in names} for change in changes]


def flips(given: Decision, found: Sequence[Flip]) -> dict[str, Any]:
    """Today's verdict and every flip."""
    return {"name": given.name, "winner": str(given.winner), "flips": _flips(found)}


def _flips(found: Iterable[Flip]) -> list[dict[str, Any]]:
    return [{**flip._asdict(), "margin": flip.margin} for flip in found]


def best(found: Best, quickest: Fastest | None, usable: Sequence[Tiling]) -> dict[str, Any]:
    """What the rule picks among many options, what the second opinion does, and the usable tilings."""
    return {
        "winner": str(found.winner),
        "values": dict(found.values),
        "usable": found.usable,
        "idle": found.idle,
        "too_big": found.too_big,
        "second_opinion": quickest and quickest._asdict(),
        "tilings": tilings(usable),
    }


def tilings(found: Iterable[Tiling]) -> list[dict[str, Any]]:
    """Every usable tiling, fewest bytes first."""
    return [asdict(each) for each in found]


def sweep(found: Sweep) -> dict[str, Any]:
    """A sweep's axes, its verdicts as nested lists of codes, what each code means, and the counts."""
    return {
        "slug": found.slug,
        "axes": {name: list(values) for name, values in found.axes.items()},
        "labels": list(found.labels),
        "counts": found.counts,
        "codes": found.codes.tolist(),
    }


def _opinion(given: Decision) -> dict[str, Any]:
    found = second_opinion(given)
    if isinstance(found, str):
        return {"says": None, "reason": found}
    return {
        "says": found.says,
        "agrees": found.agrees,
        "reason": found.reason,
        "uncertainty": UNCERTAINTY,
        "a_us": _number(found.a.us) if found.a else None,
        "b_us": _number(found.b.us) if found.b else None,
    }


def _option(option: Option) -> dict[str, Any]:
    new = option.epilogue
    return {
        "label": option.label,
        "bytes": _number(option.bytes),
        "grid": _number(option.grid),
        "on_chip": _number(option.on_chip),
        "epilogue": {"bytes": _number(new.bytes), "launches": plain(new.launches), "work": new.work},
    }


def _number(value: Count) -> Any:
    if not isinstance(value, Traced):
        return {"value": value}
    return {**value.to_json(), "formula": value.formula(), "filled": value.filled()}
