"""Sentences that a library checks: readings, claims, and the findings where they disagree.

Knows pages and values, and nothing of GPUs. The two functions below are all that the ``macros.py`` of a
book has to call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["attach", "show_page"]


def attach(
    env: Any,
    values: Mapping[str, Any],
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> None:
    """Give a site's ``env`` the page language and a book's values; under MkDocs, check all its pages.

    A plain number becomes a traced input under its name, a mapping a group of them (``ring.large``).
    Call it in ``define_env`` with values made on the spot: they are asked for anew at each build, and by
    ``ledger impact`` with other inputs.

    Args:
        env: what ``define_env`` is given, by a site generator or by ``ledger check``.
        values: numbers, traced numbers, texts, truths, and mappings of these, by the names that pages use.
        functions: functions that pages can call, by name.
        sources: what ``cited`` can name: for each key a mapping with title, where, and url if there is one.

    Raises:
        LedgerError: a value, a function or a source is none, or its name cannot be used on a page; under
            MkDocs a strict build ends with that line instead, and any other shows it on each page.
    """
    from ledger.prose import site  # here: importing this package has to stay cheap

    site.attach(env, values, functions or {}, sources or {})


def show_page(env: Any) -> None:
    """Show a page as it was checked; a book's ``macros.py`` imports it as ``on_pre_page_macros``."""
    from ledger.prose import site

    site.show_page(env)
