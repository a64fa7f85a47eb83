"""The page language in a site's build: findings as warnings, and pages that show every mistake in place."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ledger.prose.book import Book, names_of

LOG = logging.getLogger("mkdocs.plugins.ledger")


def check_site(env: Any) -> Callable[[Any], str | None]:
    """Log each finding of a site's pages as a warning, and give back what shows a page as it was checked.

    What is given back takes a page of the generator and gives its Markdown with every value in place, or
    None where the page waits for names that only the generator knows.
    A strict build ends here if there are findings: the generator has not touched the last good site yet.
    """
    book = Book(root=Path(env.project_dir), names=names_of(env))
    findings = book.check([Path(env.conf["docs_dir"])])
    for finding in findings:
        LOG.warning("%s", finding)
    if findings and env.conf["strict"]:
        stop(
            f"{len(findings)} findings in strict mode: nothing was built, the last good site is where it was"
        )

    def show(page: Any) -> str | None:
        rendered = book.render(Path(page.file.abs_src_path))
        return None if rendered.is_late else rendered.markdown

    return show


def stop(reason: str) -> NoReturn:
    """End a build with one line; a server that rebuilds lives on."""
    from mkdocs.exceptions import Abort  # here: only a build with MkDocs gets this far

    raise Abort(reason)
