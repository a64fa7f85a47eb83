"""A book: a folder of pages, the names they can use, and where both are found."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import FileSystemLoader, TemplateError
from jinja2.defaults import DEFAULT_NAMESPACE

from ledger.errors import DataError, LedgerError
from ledger.prose.account import account
from ledger.prose.finding import Finding
from ledger.prose.language import cited, declared, holds, reads
from ledger.prose.page import Page, read_page
from ledger.prose.rendering import Names, Rendered, render
from ledger.prose.sites import tags
from ledger.prose.values import callables, citable, traced
from ledger.traced import Traced, ceil_div, largest, smallest

# What mkdocs-macros and the site generator hand to pages while they build.
LATE = frozenset(
    "config environment extra files filters filters_builtin fix_url git macros macros_info navigation now"
    " page plugin context".split()
)
# The arithmetic of pages that has no sign of its own.
ARITHMETIC: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"ceil": math.ceil, "ceil_div": ceil_div, "largest": largest, "smallest": smallest}
)
# Names that mean something on every page, so that no book can give them to something else.
_JINJA = frozenset(DEFAULT_NAMESPACE) | {*"true false none loop self super caller varargs kwargs".split()}
RESERVED = LATE | _JINJA | ARITHMETIC.keys() | {"reads", "holds", "cited", "plain"}


@dataclass
class Collector:
    """What a ``define_env`` is given when no site is being built: it keeps the names."""

    macros: dict[str, Any] = field(default_factory=dict)
    filters: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)

    def macro(self, function: Any, name: str = "") -> Any:
        """Keep a function under its own or another name."""
        self.macros[name or function.__name__] = function
        return function

    def filter(self, function: Any, name: str = "") -> Any:
        """Keep a filter under its own or another name."""
        self.filters[name or function.__name__] = function
        return function


def register(
    env: Any,
    functions: Mapping[str, Any],
    sources: Mapping[str, Any],
    values: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Give a site's ``env`` the page language, and functions and values of the book's own.

    Raises:
        BadValue: a function, a source or a value is none, or its name cannot be used on a page.
    """
    for name, function in {**ARITHMETIC, **callables(functions, RESERVED)}.items():
        env.macro(function, name)
    language = {"reads": reads, "holds": holds, "cited": _Cited(citable(sources)), "plain": declared}
    for name, each in language.items():
        env.filter(each, name)
    for name, value in traced(values, RESERVED | functions.keys()).items():
        env.variables[name] = value


@dataclass(frozen=True)
class _Cited:
    """The filter ``cited``; one is equal to another with the same sources."""

    sources: Mapping[str, Any]

    def __call__(self, text: str, key: str) -> Any:
        return cited(text, key, self.sources)


@dataclass(frozen=True)
class Kept:
    """A page as it was rendered, with all it was made of."""

    page: Page
    used: dict[str, tuple[Any, ...]]  # what each name in its tags stood for
    rendered: Rendered


@dataclass(frozen=True, kw_only=True)
class Book:
    """A folder with a ``macros`` module, and what its pages can name.

    With ``kept``, which can outlive the book, a page is rendered anew only if its text or what its names
    stand for has changed. Whoever alters the library's values between two renderings must do without.
    """

    root: Path
    names: Names
    define: Callable[[], Names] | None = None  # asks the module for its names once more
    kept: dict[Path, Kept] | None = field(default=None, repr=False)

    def again(self) -> Book:
        """The same book with its values asked for once more: as they are with other inputs.

        Raises:
            LedgerError: the module cannot give them.
        """
        return replace(self, names=self.define()) if self.define else self

    def render(self, path: Path) -> Rendered:
        """One page with its values in place."""
        shown = _shown(path)
        try:
            page = read_page(path, shown)
        except DataError as error:
            finding = Finding(shown, 1, 1, "broken", str(error), "save the page as UTF-8 text")
            return Rendered(page=Page(shown, ""), markdown="", findings=(finding,))
        if self.kept is None:
            return self._rendered(page)
        kept = self.kept.get(path)
        if kept and kept.page == page and kept.used == _used(kept.used, self.names):
            return kept.rendered
        self.kept.pop(path, None)
        rendered = self._rendered(page)
        used = _used(_words(page), self.names)
        if used is not None:
            self.kept[path] = Kept(page, used, rendered)
        return rendered

    def _rendered(self, page: Page) -> Rendered:
        rendered = render(page, self.names, self._loader)
        findings = {*rendered.findings, *account(page, rendered)}
        return replace(rendered, findings=tuple(sorted(findings)))

    @cached_property
    def _loader(self) -> FileSystemLoader:
        return FileSystemLoader([self.root / "docs", self.root])

    def check(self, paths: Iterable[Path]) -> list[Finding]:
        """The findings of all pages, sorted by place.

        Raises:
            DataError: a path does not exist.
        """
        return sorted(finding for path in pages(paths) for finding in self.render(path).findings)


def _words(page: Page) -> set[str]:
    """The names in a page's tags."""
    try:
        return {token.text for tag in tags(page.body) for token in tag.tokens if token.kind == "name"}
    except TemplateError:
        return {"include"}  # what blanking its faulty tag leaves may include another file


def _used(words: Iterable[str], names: Names) -> dict[str, tuple[Any, ...]] | None:
    """What each of these names stands for; None if a page can change while all of that stays the same."""
    tables = (names.functions, names.filters, names.variables)
    used = {word: tuple(_known_by(table.get(word)) for table in tables) for word in words}
    functions = (each for found in used.values() for each in found[:2] if each is not None)
    if used.keys() & {"include", "import", "from", "extends"}:
        return None
    return used if all(_is_of_the_library(each) for each in functions) else None


def _known_by(found: Any) -> Any:
    """What tells a value from another one: of a traced number its expression, which holds its inputs."""
    return (found.node, found.dimension) if isinstance(found, Traced) else found


def _is_of_the_library(function: Any) -> bool:
    """Whether a function gives the same for the same; one of the author's own may read a file or a clock."""
    return str(getattr(function, "__module__", "")).partition(".")[0] in {__name__.partition(".")[0], "math"}


def names_of(env: Any) -> Names:
    """The names that a site's ``env`` has after ``define_env``."""
    extra = dict(env.variables) if isinstance(env.variables, Mapping) else {}
    return Names(
        functions={name: f for name, f in env.macros.items() if name not in LATE},
        filters=dict(env.filters),
        variables={name: value for name, value in extra.items() if name not in LATE},
        late=LATE,
    )


def find_book(start: Path, module_name: str = "macros") -> Book | None:
    """The book whose folder holds a path: the nearest folder upwards with a ``macros.py``; None without.

    Raises:
        DataError: its module cannot be loaded.
    """
    for folder in (start, *start.parents):
        module = folder / f"{module_name}.py"
        if module.is_file():
            define = partial(_defined, module)
            return Book(root=folder, names=define(), define=define)
    return None


def pages(paths: Iterable[Path]) -> Iterator[Path]:
    """Every Markdown file among the paths and below the folders, sorted, each once.

    Raises:
        DataError: a path does not exist.
    """
    found: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; give Markdown files or folders of them")
        found |= set(path.rglob("*.md")) if path.is_dir() else {path}
    return iter(sorted(found))


def _defined(path: Path) -> Names:
    """The names that the book's module gives to an ``env``."""
    env = Collector()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None, "a .py file has a spec"
    assert spec.loader is not None, "and a loader"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        define = getattr(module, "define_env", None)
        if define is None:
            raise DataError(f"{path}: has no define_env(env), which gives names to the pages")
        define(env)
        return names_of(env)
    except LedgerError:
        raise
    except Exception as error:
        raise DataError(f"{path}: cannot be loaded: {error} ({type(error).__name__})") from error


def _shown(path: Path) -> str:
    """The path as messages show it: relative to where the user stands, where that is shorter."""
    here = Path.cwd()
    absolute = path.resolve()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else str(path)
