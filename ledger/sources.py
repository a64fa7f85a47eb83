"""Where figures come from: the keys that machines, cases and pages cite."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from ledger.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Source:
    """One place that published a figure."""

    title: str
    where: str
    url: str = ""
    note: str = ""


def read_sources(text: str, name: str) -> dict[str, Source]:
    """The sources that a TOML text describes, by key.

    Raises:
        DataError: the text is not TOML, or an entry lacks or misuses something; it says which.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: not TOML: {error}") from None
    return {key: _read_source(table, f"{name}: {key}") for key, table in tables.items()}


def _read_source(table: object, where: str) -> Source:
    if not isinstance(table, dict) or not {"title", "where"} <= set(table):
        raise DataError(f"{where}: must be a table with title and where, found {table!r}")
    for name, value in table.items():
        if name not in Source.__dataclass_fields__ or not isinstance(value, str):
            allowed = ", ".join(Source.__dataclass_fields__)
            raise DataError(f"{where}: {name} = {value!r} is not a text among {allowed}")
    return Source(**table)


@cache
def sources() -> Mapping[str, Source]:
    """Every source of the book by key."""
    return MappingProxyType(read_sources(data_text("sources.toml"), "sources.toml"))


def data_text(name: str) -> str:
    """The text of a data file of this package.

    Raises:
        DataError: the file is missing or cannot be read.
    """
    try:
        return files("ledger").joinpath(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None
