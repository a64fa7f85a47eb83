"""The values that a parameter is swept over, as a command or a page writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ledger.decisions.question import MOST, Question, whole
from ledger.errors import BadValue

Values = str | Iterable[Any]  # "1..256", or whole numbers
ALLOWED = "whole numbers from 1 to 2^53, upwards, as in 1..256, 1..4096:64, 1..65536*2 or 1,2,4,8"

_RANGE = re.compile(r"(?P<first>\d+)\.\.(?P<last>\d+)(?:(?P<how>[:*])(?P<by>\d+))?")
_LIST = re.compile(r"\d+(,\d+)*")


def span(subject: str, values: Values) -> Sequence[int]:
    """The values in the order given: of a text as it is written, of numbers each one checked.

    ``1..256`` is every whole number, ``1..4096:64`` each 64th from the first on, ``1..65536*2`` twice as
    much each time, ``1,2,4,8`` just these; blanks do not count. A range takes no memory however long it is.

    Args:
        subject: what the values are of, for the message.
        values: the text, or whole numbers.

    Raises:
        BadValue: not such a text, no value at all, or one that is not a whole number from 1 to 2^53.

    Examples:
        >>> list(span("split", "1..65536*4"))
        [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]
        >>> span("n", "1..4096:64")
        range(1, 4097, 64)
    """
    found = _read(subject, values) if isinstance(values, str) else _checked(subject, values)
    if not len(found):
        raise BadValue(subject, "at least one value", "none")
    return found


def swept(
    asked: Question, over: Mapping[str, Values], shape: Mapping[str, object]
) -> tuple[dict[str, Sequence[int]], dict[str, int]]:
    """The values of each swept parameter, and the value of every shape parameter that is not swept.

    Raises:
        UnknownName: no such parameter.
        BadValue: a value is not a whole number from 1 to 2^53 or above its bound, or one is swept and given.
    """
    for name in over:
        if name in shape:
            raise BadValue(f"{asked.slug}: {name}", "either swept or given", "both")
    asked.inputs(dict.fromkeys(over, 1))  # there are such parameters
    axes = {name: span(f"{asked.slug}: {name}", values) for name, values in over.items()}
    fixed = {name: int(value) for name, value in asked.inputs(shape).items() if name not in axes}
    for name, bound in asked.at_most.items():
        if name in fixed and bound in fixed and fixed[name] > fixed[bound]:
            raise BadValue(f"{asked.slug}: {name}", f"at most {bound} = {fixed[bound]}", fixed[name])
    return axes, fixed


def _checked(subject: str, values: Iterable[Any]) -> Sequence[int]:
    if isinstance(values, range):
        for end in (values[0], values[-1]) if values else ():
            whole(subject, end)
        return values
    tolist = getattr(values, "tolist", None)  # an array gives its numbers as plain ones
    return tuple(whole(subject, value) for value in (tolist() if tolist else values))


def _read(subject: str, text: str) -> Sequence[int]:
    written = "".join(text.split())
    if _LIST.fullmatch(written):
        return tuple(whole(subject, int(each)) for each in written.split(","))
    match = _RANGE.fullmatch(written)
    if not match:
        raise BadValue(subject, ALLOWED, repr(text))
    first, last, by = int(match["first"]), int(match["last"]), int(match["by"] or 1)
    if not 1 <= first <= last <= MOST or by < (2 if match["how"] == "*" else 1):
        raise BadValue(subject, ALLOWED, repr(text))
    return _times(first, last, by) if match["how"] == "*" else range(first, last + 1, by)


def _times(first: int, last: int, factor: int) -> tuple[int, ...]:
    found = [first]
    while found[-1] * factor <= last:
        found.append(found[-1] * factor)
    return tuple(found)
