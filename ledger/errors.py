"""The errors that a user can cause, in one family."""

from __future__ import annotations

from collections.abc import Iterable


class LedgerError(Exception):
    """A mistake in what the user gave: its text says the subject, what was found, what is allowed."""


class UnknownName(LedgerError):
    """A machine, decision, parameter, field or source that does not exist."""

    def __init__(self, kind: str, found: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = nearest(found, names)
        hint = f"did you mean {near!r}? " if near else ""
        super().__init__(f"unknown {kind} {found!r}: {hint}known: {', '.join(names)}")
        self.near = near


class BadValue(LedgerError):
    """A value outside what its place allows."""

    def __init__(self, subject: str, allowed: str, found: object) -> None:
        super().__init__(f"{subject} must be {allowed}, got {found}")


class MissingFigure(LedgerError):
    """A machine's figure that nobody has published."""


class DimensionError(LedgerError):
    """Two numbers that cannot meet: bytes plus blocks, a time read as a size."""


class DataError(LedgerError):
    """A data file that does not say what it must."""


def nearest(found: str, names: Iterable[str]) -> str | None:
    """The known name closest to what was typed, or None when none is close."""
    import difflib  # here: only a mistake pays for it

    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(found.casefold(), folded, n=1, cutoff=0.55)
    return folded[close[0]] if close else None
