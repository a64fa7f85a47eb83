"""Whether what the book stands on can change unseen: ``make mutants``.

Every number, arithmetic operator and comparison of the rule and of the decisions, and every figure of
the catalogue that a page asks for, is changed in turn in a copy of the book. For each, a test must fail
or ``ledger check`` must find something that it does not find today. A change that nothing notices is a
survivor: it gets a test or a sentence, or the code that it is in goes. Only where no test could ever
tell the two texts apart does it get a row in ``EQUIVALENT``.

A figure that survives fails the run as well: some page asks for it, and no sentence and no cell says it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import cache_from_source
from multiprocessing.pool import IMapIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ledger.prose.book import Book
    from ledger.prose.rendering import Rendered

ROOT = Path(__file__).parents[1]
NEEDED = ("ledger", "docs", "tests", "macros.py", "pyproject.toml", "README.md", "CONTRIBUTING.md")
CODE = ("ledger/decisions/*.py", "ledger/decision.py", "ledger/option.py", "ledger/estimate.py")
CATALOGUE = "ledger/machines.toml"
TESTS = ("decisions", "decision", "golden", "machine", "estimate")
PATIENCE = 600  # seconds until the next result; past it, a change has made something endless

OPERATORS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}


class Same(NamedTuple):
    """A change that alters nothing anybody can observe: the line before and after, and why."""

    file: str
    line: str
    becomes: str
    reason: str


EQUIVALENT: tuple[Same, ...] = (
    Same(
        "ledger/estimate.py",
        "by_memory = machine.smem_per_sm // largest(kept, 1)",
        "by_memory = machine.smem_per_sm // largest(kept, 2)",
        "a block without shared memory is limited by its threads, long before",
    ),
)


@dataclass(frozen=True, order=True)
class Mutant:
    """One change to one file: what stands at a place, and what is put there."""

    file: str
    line: int  # from 1
    column: int  # from 1, in characters
    old: str
    new: str
    source: str  # the line that it is in
    figure: str = ""  # of the catalogue: "h200.sm_count"

    @property
    def changed(self) -> str:
        """The line with the change made."""
        before, after = self.source[: self.column - 1], self.source[self.column - 1 + len(self.old) :]
        return f"{before}{self.new}{after}"

    @property
    def is_explained(self) -> bool:
        """Whether ``EQUIVALENT`` has a row for it."""
        return any(self.matches(same) for same in EQUIVALENT)

    def matches(self, same: Same) -> bool:
        """Whether it is the change that a row of ``EQUIVALENT`` speaks of."""
        return (self.file, self.source.strip(), self.changed.strip()) == same[:3]

    def write(self, folder: Path) -> None:
        """Make the change in a copy of the book."""
        path = folder / self.file
        lines = path.read_text(encoding="utf-8").split("\n")
        assert lines[self.line - 1] == self.source, f"{path}:{self.line} is not what was read"
        lines[self.line - 1] = self.changed
        path.write_text("\n".join(lines), encoding="utf-8")
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def __str__(self) -> str:
        what = f"{self.figure}: " if self.figure else ""
        return f"{self.file}:{self.line}:{self.column}: {what}{self.old} -> {self.new or 'nothing'}"


class Survey(NamedTuple):
    """What the unchanged book says: its findings, its outputs by place, the inputs that its pages ask for."""

    findings: frozenset[str]
    outputs: Mapping[str, Sequence[str]]
    met: frozenset[str]


class Outcome(NamedTuple):
    """What noticed a change: ``tests``, ``check`` or nothing; and which outputs of pages it altered."""

    mutant: Mutant
    killer: str
    altered: tuple[str, ...] = ()


# what can be changed ------------------------------------------------------------------------------------


class Text:
    """A module's text, with the places of its syntax tree as offsets."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place of the tree, whose columns count bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def mutant(self, start: int, old: str, new: str) -> Mutant:
        """The change of what stands at an offset."""
        assert self.text.startswith(old, start), f"{self.file}: no {old!r} at {start}"
        line = self.text.count("\n", 0, start) + 1
        return Mutant(self.file, line, start - self.starts[line - 1] + 1, old, new, self.lines[line - 1])

    def between(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> Mutant:
        """The change of the operator between two operands."""
        old, new = OPERATORS[type(operator)]
        start = self.offset(left.end_lineno or 0, left.end_col_offset or 0)
        gap = self.text[start : self.offset(right.lineno, right.col_offset)]
        space = r"(?:[\s()\\]|#[^\n]*)*"
        found = re.fullmatch(rf"{space}({re.escape(old)})=?{space}", gap)
        assert found, f"{self.file}:{left.end_lineno}: no {old!r} in {gap!r}"
        return self.mutant(start + found.start(1), old, new)


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Every change of a number, an arithmetic operator, a comparison or a sign in a module's text."""
    tree, places = ast.parse(text), Text(file, text)
    quiet = {inner for node in _annotations(tree) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node not in quiet:
            yield from _of_node(node, places)


def _of_node(node: ast.AST, places: Text) -> Iterator[Mutant]:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            start = places.offset(node.lineno, node.col_offset)
            old = places.text[start : places.offset(node.end_lineno or 0, node.end_col_offset or 0)]
            assert ast.literal_eval(old) == number, f"{places.file}:{node.lineno}: {old!r}"
            yield places.mutant(start, old, str(number + 1))
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield places.between(node.left, node.op, node.right)
        case ast.AugAssign() if type(node.op) in OPERATORS:
            yield places.between(node.target, node.op, node.value)
        case ast.Compare():
            sides = (node.left, *node.comparators)
            yield from map(places.between, sides, node.ops, sides[1:])
        case ast.UnaryOp(op=ast.USub()):
            yield places.mutant(places.offset(node.lineno, node.col_offset), "-", "")


def _annotations(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if isinstance(found := getattr(node, name, None), ast.AST):
                yield found


def figures_of(text: str, met: Iterable[str]) -> Iterator[Mutant]:
    """Every figure of the catalogue that a page asks for, made larger."""
    figures = {f"{m.file}.{m.figure}": m for m in _figures(text)}
    for name in sorted({_field(name, figures) for name in met} & figures.keys()):
        here = figures[name]
        yield replace(here, file=CATALOGUE, new=_larger(name, ast.literal_eval(here.old)), figure=name)


def _larger(name: str, number: float) -> str:
    """One more of what is counted, a tenth more of what is measured; a whole number stays one."""
    if not re.search(r"_(kib|mib|gbs|tflops|mhz|us|ns)$", name):
        return str(number + 1)
    return str(max(number + 1, round(number * 1.1))) if isinstance(number, int) else f"{number * 1.1:g}"


def _figures(text: str) -> Iterator[Mutant]:
    """Every figure as a change not made yet, of a machine's key in place of a file."""
    key = ""
    for number, line in enumerate(text.split("\n"), 1):
        if table := re.match(r"\[([\w-]+)\.figures\]", line):
            key = table[1]
        elif found := re.match(r"(\w+) = \{ value = ([\d.]+)", line):
            yield Mutant(key, number, found.start(2) + 1, found[2], "", line, found[1])


def _field(name: str, figures: Mapping[str, Mutant]) -> str:
    """A figure's name in full, of the field that effective bandwidth stands for."""
    key, _, field = name.partition(".")
    if field != "bandwidth_gbs":
        return name
    calibrated = f"{key}.bandwidth_calibrated_gbs"
    return calibrated if calibrated in figures else f"{key}.bandwidth_vendor_gbs"


# what notices -------------------------------------------------------------------------------------------


def survey(template: Path) -> Survey:
    """What the unchanged book says.

    Raises:
        AssertionError: a test fails without any change.
    """
    with _copy(template):
        from ledger.traced import overriding

        findings: set[str] = set()
        outputs: dict[str, list[str]] = {}
        with overriding({}) as override:
            for path, book in _pages():
                rendered = book.render(path)
                findings |= set(map(str, rendered.findings))
                outputs |= dict(_outputs(rendered))
        assert not _tests_fail(TESTS), "the tests fail without any change: run make test"
        return Survey(frozenset(findings), outputs, frozenset(override.met))


def judge(mutant: Mutant, template: Path, said: Survey) -> Outcome:
    """What notices a change; of a change that nothing notices, where a page's output is another one."""
    nearest = sorted(TESTS, key=lambda name: name not in mutant.file)
    with _copy(template, mutant):
        if not mutant.figure and _tests_fail(nearest):
            return Outcome(mutant, "tests")
        altered = _altered(mutant, said)
        if altered is None:
            return Outcome(mutant, "check")
        if mutant.figure and _tests_fail(nearest):  # after the check: a page should say so itself
            return Outcome(mutant, "tests")
        return Outcome(mutant, "", altered)


@contextlib.contextmanager
def _copy(template: Path, mutant: Mutant | None = None) -> Iterator[None]:
    """Within it, a copy of the book is the working folder and its library the one that is imported."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder).resolve() / "book"
        shutil.copytree(template, book)
        if mutant:
            mutant.write(book)
        os.chdir(book)
        sys.path.insert(0, str(book))
        assert "ledger" not in sys.modules, "each change needs a process of its own"
        yield
        ledger = sys.modules.get("ledger")
        assert ledger is None or Path(ledger.__file__ or "").is_relative_to(book), "another ledger"


def _tests_fail(names: Iterable[str]) -> bool:
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    quick = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "--confcutdir=tests"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main([*quick, *(f"tests/test_{name}.py" for name in names), "tests/decisions"])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}:
        raise RuntimeError(said.getvalue())
    return code != pytest.ExitCode.OK


def _altered(mutant: Mutant, said: Survey) -> tuple[str, ...] | None:
    """The places whose output is another one than the unchanged book's; None where the check finds more."""
    from ledger.errors import LedgerError

    altered: list[str] = []
    own = Path(mutant.file).stem.replace("_", "-")  # "split-k", "machines": the page that it is on
    try:
        for path, book in sorted(_pages(), key=lambda page: page[0].stem != own):
            rendered = book.render(path)
            if set(map(str, rendered.findings)) - said.findings:
                return None
            altered += [place for place, values in _outputs(rendered) if said.outputs.get(place) != values]
    except LedgerError:  # the library cannot be loaded
        return None
    return tuple(altered)


def _pages() -> Iterator[tuple[Path, Book]]:
    """Every page that is checked, with the book."""
    from ledger.prose.book import find_book, pages

    book = find_book(Path.cwd())
    assert book, "a copy holds macros.py"
    for path in pages(path for path in (Path("docs"), Path("README.md")) if path.exists()):
        yield path, book


def _outputs(rendered: Rendered) -> Iterator[tuple[str, list[str]]]:
    """What each tag that puts something on a page puts there, by path and offset."""
    for output in rendered.outputs:
        line, column = rendered.page.place(rendered.page.body_start + output.tag.start)
        yield f"{rendered.page.path}:{line}:{column}", [str(value) for value in output.values]


# running ------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Change one thing after the other, report, and give back 1 where a survivor has no reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds this")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        template = make_template(Path(folder) / "template")
        _load_what_all_share()
        with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
            said = pool.apply(survey, (template,))
            mutants = [m for m in every_mutant(template, said) if options.only in m.file]
            results = pool.imap_unordered(partial(judge, template=template, said=said), mutants)
            outcomes = sorted(_watched(results, len(mutants)))
    print(f"{len(said.findings)} findings stand without any change; {time.monotonic() - begun:.0f} s")
    return report(outcomes, [same for same in EQUIVALENT if options.only in same.file])


def make_template(folder: Path) -> Path:
    """A compiled copy of what the tests and the check read."""
    from compileall import compile_dir

    folder.mkdir()
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder)
    compile_dir(folder / "ledger", quiet=1)
    return folder


def every_mutant(folder: Path, said: Survey) -> list[Mutant]:
    """Every change to the book in a folder."""
    code = [path for pattern in CODE for path in sorted(folder.glob(pattern))]
    return [
        *(m for p in code for m in mutants_of(p.relative_to(folder).as_posix(), p.read_text("utf-8"))),
        *figures_of((folder / CATALOGUE).read_text("utf-8"), said.met),
    ]


def _load_what_all_share() -> None:
    """Import what takes long and is not the book's, once, for the processes that are made from this one."""
    for name in ("pytest", "jinja2", "yaml", "markdown", "pymdownx.superfences", "pymdownx.tabbed"):
        import_module(name)


def _watched(results: IMapIterator[Outcome], total: int) -> Iterator[Outcome]:
    alive = 0
    for done in range(1, total + 1):
        outcome = results.next(timeout=PATIENCE)
        alive += not outcome.killer
        print(f"\r{done} of {total}, {alive} unnoticed", end="", file=sys.stderr, flush=True)
        yield outcome
    print(file=sys.stderr)


def report(outcomes: Sequence[Outcome], equivalent: Sequence[Same]) -> int:
    """Print what was noticed and what was not, and give back the exit code."""
    killers = Counter(outcome.killer for outcome in outcomes)
    print(f"{len(outcomes)} changes: {killers['tests']} noticed by tests, {killers['check']} by the check")
    alive = [outcome for outcome in outcomes if not outcome.killer]
    figures = [o for o in alive if o.mutant.figure]
    same = [o for o in alive if o.mutant.is_explained]
    unexplained = [o for o in alive if not o.mutant.figure and not o.mutant.is_explained]
    stale = list(stale_rows(outcomes, equivalent))
    _list("figures survive; no page says what they are", map(_of_figure, figures))
    _list("changes survive since they change nothing", (str(o.mutant) for o in same))
    _list("changes survive", (f"{o.mutant}\n      {o.mutant.changed.strip()}" for o in unexplained))
    _list("rows of EQUIVALENT are stale", (f"{s.file}: {s.line} ({why})" for s, why in stale))
    return 1 if unexplained or figures or stale else 0


def stale_rows(outcomes: Iterable[Outcome], equivalent: Iterable[Same]) -> Iterator[tuple[Same, str]]:
    """The rows that no change matches, or whose change is noticed by now."""
    outcomes = list(outcomes)
    for same in equivalent:
        matching = [outcome for outcome in outcomes if outcome.mutant.matches(same)]
        if not matching:
            yield same, "no such change"
        elif noticed := next((o.killer for o in matching if o.killer), ""):
            yield same, f"noticed by {noticed}"


def _of_figure(outcome: Outcome) -> str:
    return f"{outcome.mutant}; shown at {', '.join(outcome.altered) or 'no place'}"


def _list(title: str, rows: Iterable[str]) -> None:
    rows = list(rows)
    print(f"{len(rows)} {title}" + "".join(f"\n  {row}" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
