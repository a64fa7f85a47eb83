"""The page language in a site's build: findings as warnings, and pages that show every mistake in place."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ledger.prose.book import Book, names_of

LOG = logging.getLogger("mkdocs.plugins.ledger")


def check_site(env: Any) -> Book:
    """The book that a site is built from, each of its findings logged as a warning.

    A strict build ends here if there are any: the generator has not touched the last good site yet.
    Serving goes on, so that the next save can heal the page.
    """
    book = Book(root=Path(env.project_dir), names=names_of(env))
    findings = book.check([Path(env.conf["docs_dir"])])
    for finding in findings:
        LOG.warning("%s", finding)
    if findings and env.conf["strict"] and not _is_serving(env.conf):
        LOG.error("%d findings: nothing was built; the last good site is where it was", len(findings))
        raise SystemExit(1)
    return book


def show_page(env: Any, book: Book) -> None:
    """Put the checked text in place of the page's source, unless it waits for the generator's own names."""
    rendered = book.render(Path(env.page.file.abs_src_path))
    if not rendered.is_late:
        env.markdown = rendered.markdown
        env.page.meta["render_macros"] = False


def _is_serving(conf: Any) -> bool:
    # The development server sets the site's address to its own.
    host, port = conf["dev_addr"]
    return urlsplit(conf["site_url"] or "").netloc == f"{host}:{port}"
