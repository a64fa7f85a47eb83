"""Fuse or split? Four numbers per option, and a rule that reads the verdict off them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.candidates import Best, Tiling, best, retile
    from ledger.decision import NEITHER, Decision, Verdict
    from ledger.decisions import QUESTIONS, build, decision
    from ledger.errors import LedgerError
    from ledger.flips import Flip, flips
    from ledger.machine import Machine, machine, machines
    from ledger.option import Epilogue, Option
    from ledger.sweep import Sweep as Sweep
    from ledger.sweep import sweep as sweep

__all__ = [
    "NEITHER",
    "QUESTIONS",
    "Best",
    "Decision",
    "Epilogue",
    "Flip",
    "LedgerError",
    "Machine",
    "Option",
    "Tiling",
    "Verdict",
    "best",
    "build",
    "decision",
    "flips",
    "machine",
    "machines",
    "retile",
]  # not sweep: it needs NumPy, and is imported by name

_HOMES = {
    "ledger.candidates": ("Best", "Tiling", "best", "retile"),
    "ledger.decision": ("NEITHER", "Decision", "Verdict"),
    "ledger.decisions": ("QUESTIONS", "build", "decision"),
    "ledger.errors": ("LedgerError",),
    "ledger.flips": ("Flip", "flips"),
    "ledger.machine": ("Machine", "machine", "machines"),
    "ledger.option": ("Epilogue", "Option"),
    "ledger.sweep": ("Sweep", "sweep"),
}


class _Package(ModuleType):
    """A package that imports each public name when it is first used, so that importing it is quick."""

    def __getattr__(self, name: str) -> object:
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'ledger' has no attribute {name!r}")
        value = getattr(import_module(home), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Some functions are called as the modules that define their nouns are: the functions are public.
        if name not in {"decision", "flips", "machine", "sweep"} or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
