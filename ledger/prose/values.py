"""What a book hands to its pages, made ready for them: values under names that can be used, and sources."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from types import SimpleNamespace
from typing import Any

from ledger.errors import BadValue
from ledger.traced import Operation, Traced, given, named


class Group:
    """Values under one name: pages write ``ring.large``; a loop over it gives pairs of name and value."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(vars(self).items())

    def __repr__(self) -> str:
        return f"Group({', '.join(vars(self))})"


def traced(values: Mapping[str, Any], taken: Set[str]) -> dict[str, Any]:
    """The values as pages use them: numbers as traced inputs, mappings as groups of them.

    Raises:
        BadValue: a value is nothing that a page can read, or its name is none or in ``taken``.
    """
    if not isinstance(values, Mapping):
        raise BadValue("the values", "a mapping from names to values", _shown(values))
    return {_name(name, taken, "a value"): _value(name, found) for name, found in values.items()}


def callables(functions: Mapping[str, Any], taken: Set[str]) -> dict[str, Callable[..., Any]]:
    """The functions by name.

    Raises:
        BadValue: one cannot be called, or its name is none or in ``taken``.
    """
    for name, found in functions.items():
        _name(name, taken, "a function")
        if not callable(found):
            raise BadValue(f"the function {name}", "something that can be called", _shown(found))
    return dict(functions)


def citable(sources: Mapping[str, Any]) -> dict[str, Any]:
    """The sources by key, each with the attributes title, where and url.

    Raises:
        BadValue: one is no mapping of these, and has no such attributes.
    """
    return {key: _source(key, found) for key, found in sources.items()}


def _name(name: Any, taken: Set[str], owner: str) -> str:
    subject = f"the name of {owner}"
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_":
        raise BadValue(subject, "an identifier that begins with a letter, such as ring", repr(name))
    if name in taken:
        raise BadValue(subject, "one that pages do not need for something else", repr(name))
    return name


def _value(key: str, found: Any) -> Any:
    """One value under its name in full, ``ring.large``, by which formulas and ``ledger impact`` know it."""
    if isinstance(found, SimpleNamespace):
        found = vars(found)
    if isinstance(found, Mapping):
        owner = f"a value in {key}"
        return Group({_name(n, frozenset(), owner): _value(f"{key}.{n}", each) for n, each in found.items()})
    if isinstance(found, Traced):
        return named(key, found) if isinstance(found.node, Operation) else found
    if isinstance(found, str | bool):
        return found
    if isinstance(found, int) or (isinstance(found, float) and math.isfinite(found)):
        return given(key, found)
    allowed = "a finite number, a text, a truth, or a mapping of these"
    raise BadValue(f"the value {key}", allowed, _shown(found))


def _source(key: str, found: Any) -> SimpleNamespace:
    has = found.get if isinstance(found, Mapping) else partial(getattr, found)
    texts = {"title": has("title", None), "where": has("where", None), "url": has("url", "")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise BadValue(f"the source {key}", "a mapping with title, where and url, all texts", _shown(found))
    return SimpleNamespace(**texts)


def _shown(found: object) -> str:
    return f"{found!r} ({type(found).__name__})"
