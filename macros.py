"""Gives the book's names to its pages, from a library that is as fresh as its files."""

import sys
import traceback
from logging import getLogger
from pathlib import Path

HERE = Path(__file__).parent
LOG = getLogger("mkdocs.plugins.ledger")

sys.dont_write_bytecode = True  # two saves within a second would leave stale bytecode


def define_env(env):
    """Called by the site generator at each build, and by ``ledger check``."""
    try:
        forget_stale_modules()
        from ledger import pages

        pages.define_names(env)
    except SystemExit:  # a strict build whose pages have findings
        raise
    except Exception as error:  # an author's slip in the library must not end the server
        if not hasattr(env, "on_page_markdown"):  # it is not MkDocs that asks
            raise
        complaint = f"{place_of(error)}: the library cannot be loaded: {error}"
        LOG.warning(complaint)
        if env.conf["strict"]:
            sys.exit(f"{complaint}; nothing was built, the last good site is where it was")
        env.show_page = lambda page: f"# The library cannot be loaded\n\n    {complaint}\n"


def on_pre_page_macros(env):
    """Called by mkdocs-macros ahead of each page: shows the page as it was checked.

    ``ledger.prose`` has this for other books; here it has to work when the library does not load.
    """
    shown = env.show_page(env.page)
    if shown is not None:
        env.markdown = shown
        env.page.meta["render_macros"] = False


def forget_stale_modules():
    """Drop the library from memory if one of its files has changed since it was loaded."""
    stamp = {path: path.stat().st_mtime_ns for path in (HERE / "ledger").rglob("*.[pt]*") if path.is_file()}
    if getattr(sys.modules.get("ledger"), "stamp", stamp) != stamp:
        for name in [name for name in sys.modules if name.partition(".")[0] == "ledger"]:
            del sys.modules[name]
    import ledger

    ledger.stamp = stamp


def place_of(error):
    """File and line of what stopped the library from loading."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    file, line = last.filename, last.lineno
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno
    path = Path(file)
    return f"{path.relative_to(HERE) if path.is_relative_to(HERE) else path}:{line}"
