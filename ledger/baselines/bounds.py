"""What the numbers of a question may be: checked once, and stored without their trace."""

from __future__ import annotations

import math

from ledger.errors import BadValue
from ledger.traced import plain


def whole_numbers(question: object, subject: str, *names: str, least: int = 1) -> None:
    """Store these fields of a frozen question as plain whole numbers; traced ones and 4.0 count.

    Raises:
        BadValue: one is not a whole number of at least ``least``.
    """
    for name in names:
        value = _finite(getattr(question, name))
        if value is None or value != int(value) or value < least:
            allowed = f"a whole number of at least {least}"
            raise BadValue(f"{subject}: {name}", allowed, repr(plain(getattr(question, name))))
        object.__setattr__(question, name, int(value))


def finite_numbers(question: object, subject: str, *names: str, zero: bool = False) -> None:
    """Store these fields of a frozen question as plain finite numbers above 0, or from 0 on.

    Raises:
        BadValue: one is not.
    """
    for name in names:
        value = _finite(getattr(question, name))
        if value is None or value < 0 or (value == 0 and not zero):
            allowed = f"a finite number {'of at least' if zero else 'above'} 0"
            raise BadValue(f"{subject}: {name}", allowed, repr(plain(getattr(question, name))))
        object.__setattr__(question, name, value)


def _finite(value: object) -> int | float | None:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return number
