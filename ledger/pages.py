"""The names that the book's pages can use: decisions, machines, and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ledger.decisions import QUESTIONS, decision
from ledger.decisions.gemm import gemm
from ledger.estimate import opinion, sm_draw, streaming, time
from ledger.machine import machine, machines
from ledger.occupancy import occupancy
from ledger.prose import attach
from ledger.reports import markdown
from ledger.sources import sources
from ledger.traced import in_unit
from ledger.units import FLOPS

NAMES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "decision": decision,
        "machine": machine,
        "occupancy": occupancy,
        "opinion": opinion,
        "launch_time": time,
        "sm_draw": sm_draw,
        "streaming": streaming,
        "gemm": gemm,
        "questions": lambda: list(QUESTIONS.values()),
        "machines": lambda: list(machines().values()),
        "lines": markdown.lines,
        "verdict": markdown.verdict,
        "second_opinion": markdown.second_opinion,
        "constants": markdown.constants,
        "formulas": markdown.formulas,
        "summary": markdown.summary,
        "truth_table": markdown.truth_table,
        "machine_figures": markdown.machine_figures,
        "verdicts": markdown.verdicts,
        "codes": markdown.codes,
        "parameters": markdown.parameters,
        "flops": lambda count: in_unit(count, FLOPS),
    }
)


def define_names(env: Any) -> None:
    """Give a site's ``env`` the page language and every name above; under MkDocs, check its pages."""
    attach(env, {}, functions=NAMES, sources=sources())
