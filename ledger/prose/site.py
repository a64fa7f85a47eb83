"""The page language in a site's build: findings as warnings, and pages that show every mistake in place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ledger.errors import LedgerError
from ledger.prose.book import Book, Kept, names_of, pages, register
from ledger.prose.rendering import Rendered

_KEPT: dict[Path, Kept] = {}  # from one build of a server to the next; gone when the library is loaded anew
LOG = logging.getLogger("mkdocs.plugins.ledger")


def attach(
    env: Any, values: Mapping[str, Any], functions: Mapping[str, Any], sources: Mapping[str, Any]
) -> None:
    """Give an ``env`` the page language and a book's names; where MkDocs builds a site, check its pages.

    Raises:
        LedgerError: a name, a value, a function or a source cannot be used, and it is not MkDocs that asks.
    """
    try:
        register(env, functions, sources, values)
    except LedgerError as error:
        if not calls_hooks(env):
            raise
        env.show_page = _unusable(env, str(error))
    else:
        if calls_hooks(env):
            env.show_page = check_site(env)


def show_page(env: Any) -> None:
    """Show a page as it was checked: called by mkdocs-macros ahead of each page."""
    shown = env.show_page(env.page)
    if shown is not None:
        env.markdown = shown
        env.page.meta["render_macros"] = False


def calls_hooks(env: Any) -> bool:
    """Whether an ``env`` is that of MkDocs, which defines names once and calls hooks for each page.

    Zensical defines names anew for each page and calls no hook; ``ledger check`` builds nothing.
    """
    return hasattr(env, "conf") and hasattr(env, "on_page_markdown")


def _unusable(env: Any, complaint: str) -> Callable[[Any], str]:
    """What shows the complaint on each page; a strict build ends here instead."""
    if env.conf["strict"]:
        stop(f"{complaint}; nothing was built, the last good site is where it was")
    LOG.warning("%s", complaint)
    return lambda page: f"# The values cannot be used\n\n    {complaint}\n"


def check_site(env: Any) -> Callable[[Any], str | None]:
    """Log each finding of a site's pages as a warning, and give back what shows a page as it was checked.

    What is given back takes a page of the generator and gives its Markdown with every value in place, or
    None where the page waits for names that only the generator knows.
    A strict build ends here if there are findings: the generator has not touched the last good site yet.
    """
    book = Book(root=Path(env.project_dir), names=names_of(env), kept=_KEPT)
    checked: dict[Path, Rendered] = {path: book.render(path) for path in pages([Path(env.conf["docs_dir"])])}
    findings = sorted(finding for rendered in checked.values() for finding in rendered.findings)
    for finding in findings:
        LOG.warning("%s", finding)
    if findings and env.conf["strict"]:
        stop(
            f"{len(findings)} findings in strict mode: nothing was built, the last good site is where it was"
        )

    def show(page: Any) -> str | None:
        path = Path(page.file.abs_src_path)
        rendered = checked[path] if path in checked else book.render(path)
        return None if rendered.is_late else rendered.markdown

    return show


def stop(reason: str) -> NoReturn:
    """End a build with one line; a server that rebuilds lives on."""
    from mkdocs.exceptions import Abort  # here: only a build with MkDocs gets this far

    raise Abort(reason)
