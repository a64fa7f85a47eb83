"""The ``ledger`` command: arguments in, text out, exit codes. The only module that prints."""

from __future__ import annotations

import argparse
import csv
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ledger.candidates import best, fastest, retile
from ledger.decision import Decision
from ledger.decisions import QUESTIONS, build, decision, question
from ledger.errors import LedgerError
from ledger.flips import flips
from ledger.machine import DEFAULT, Machine, machine, machines
from ledger.prose.finding import CODES, explain
from ledger.reports import json, markdown, text

if TYPE_CHECKING:
    from ledger.prose.book import Book

CLEAN, FINDINGS, CANNOT = 0, 1, 2

ABOUT = """\
Fuse these two steps into one kernel, or split them? Four numbers per option answer:

  traffic      bytes moved
  capacity     bytes kept on chip
  parallelism  blocks launched
  epilogue     new work that the finer option brings

An option is usable iff it fits on chip and its grid covers the machine. Among usable options the
fewest bytes win. If none is usable the answer is NEITHER: re-tile, do not choose.

With no command, prints the report of all six decisions. Nothing in it is measured.
"""
EXAMPLES = """\
examples:
  ledger                                        the report, on a calibrated H200
  ledger --bandwidth-gbs 3352 --sm-count 132    the same on other figures
  ledger show split-k --set split=4             one decision in full, at another shape
  ledger show split-kv --machine l40s           the same question on another GPU
  ledger flips split-kv --machine h100          what would change the verdict, and how near it is
  ledger best split-kv --over split=1..256      the cheapest usable number of splits
  ledger retile split-kv --machine l40s         the tiles that fit and fill, where the answer is NEITHER
  ledger sweep split-k --over split=1..64 m=128..4096:128      a map of verdicts
  ledger decisions                              every decision and its shape parameters
  ledger machines --format json                 every GPU, each figure with its source
  ledger check docs README.md                   where pages and library disagree

exit codes: 0 done or clean, 1 there are findings, 2 it could not run
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give back its exit code."""
    try:
        options = _parser().parse_args(arguments)
        with _uncollected():
            output, code = options.run(options)
        if output:
            print(output)
        sys.stdout.flush()
        return int(code)
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return CANNOT
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except KeyboardInterrupt:
        return 130


@contextmanager
def _uncollected() -> Iterator[None]:
    """Within it no garbage is collected: a command is short, and collecting is a fifth of a check."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Explain(argparse.Action):
    """Print what a code means, in place of a check."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: Any = None
    ) -> None:
        """Print and end, as ``--help`` does."""
        print(explain(values[0]))
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """argparse, with its mistakes in one line and in the family of all others."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        raise LedgerError(f"{message.removeprefix('argument ')} (see '{self.prog} --help')")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="ledger",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_limits(parser)
    parser.set_defaults(run=_report)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    _add_asked(commands)
    for name, run, about in (
        ("decisions", _decisions, "every decision and its shape parameters"),
        ("machines", _machines, "every GPU of the catalogue with its figures"),
    ):
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        _add_format(command)
        command.set_defaults(run=run)
    _add_check(commands)
    _add_fix(commands)
    _add_impact(commands)
    _add_census(commands)
    return parser


def _add_limits(parser: argparse.ArgumentParser, default: object = None) -> None:
    parser.add_argument(
        "--bandwidth-gbs",
        type=_number,
        default=default,
        metavar="GBS",
        help="effective DRAM bandwidth, 10^9 bytes a second (default: the machine's)",
    )
    parser.add_argument(
        "--sm-count",
        type=_number,
        default=default,
        metavar="N",
        help="SMs (default: the machine's)",
    )


def _add_asking(commands: Any, name: str, about: str, run: Callable[..., Any]) -> argparse.ArgumentParser:
    """A command that asks about one decision at a shape, on a machine."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=f"{about[0].upper()}{about[1:]}."
    )
    command.add_argument("slug", metavar="SLUG", help=f"one of: {', '.join(QUESTIONS)}")
    command.add_argument(
        "--machine", default=DEFAULT, metavar="NAME", help=f"a GPU, see 'ledger machines' ({DEFAULT})"
    )
    command.add_argument(
        "--set",
        action="extend",
        nargs="+",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="shape parameters, see 'ledger decisions'",
    )
    command.add_argument("--budget", type=_number, metavar="BYTES", help="bytes one block may keep on chip")
    _add_limits(command, default=argparse.SUPPRESS)  # so that those given before the command stay
    command.set_defaults(run=run)
    return command


def _add_over(command: argparse.ArgumentParser, what: str, *, required: bool = True) -> None:
    command.add_argument(
        "--over",
        action="extend",
        nargs="+",
        default=[],
        required=required,
        type=_span,
        metavar="NAME=VALUES",
        help=f"{what}: split=1..256, n=1..4096:64 (each 64th), tile=16..512*2 (times two), tile=64,128",
    )


def _add_asked(commands: Any) -> None:
    show = _add_asking(commands, "show", "one decision in full", _show)
    _add_format(show)
    flips = _add_asking(commands, "flips", "what would change a verdict, exactly, and how near it is", _flips)
    flips.add_argument(
        "--over", nargs="+", metavar="NAME", help="SMs, budget, shape parameters (default: all of them)"
    )
    _add_format(flips)
    best = _add_asking(commands, "best", "the cheapest usable option over many values, or NEITHER", _best)
    _add_over(best, "what to choose")
    _add_format(best)
    tiles = _add_asking(commands, "retile", "the tiles that fit and fill, fewest bytes first", _retile)
    _add_over(tiles, "tiles to try (default: those of the decision)", required=False)
    _add_format(tiles)
    sweep = _add_asking(commands, "sweep", "the verdict at every combination of many values", _sweep)
    _add_over(sweep, "what to sweep, sm_count and budget too")
    sweep.add_argument(
        "--format",
        choices=("text", "markdown", "json", "csv"),
        default="text",
        help="csv: a row for each combination (default: text)",
    )


def _add_check(commands: Any) -> None:
    check = commands.add_parser(
        "check",
        help="where pages and library disagree",
        description="Report every sentence that no longer says what the library says, sorted by place.",
    )
    check.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="Markdown files, or folders of them"
    )
    check.add_argument("--format", choices=("text", "json", "github"), default="text", help="default: text")
    check.add_argument(
        "--site", type=Path, metavar="FOLDER", help="hold a built site against the folder of its pages"
    )
    check.add_argument(
        "--explain", nargs=1, action=_Explain, choices=sorted(CODES), metavar="CODE", help="what a code means"
    )
    check.set_defaults(run=_check)


def _add_fix(commands: Any) -> None:
    fix = commands.add_parser(
        "fix",
        help="write what the library says into the pages",
        description="Show each sentence that is off, old and new, and write it after a yes:"
        " y yes, n no, a all from here on, q quit. A claim's words are never changed.",
    )
    fix.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="Markdown files, or folders of them")
    fix.add_argument("--yes", action="store_true", help="write all without asking")
    fix.set_defaults(run=_fix)


def _add_impact(commands: Any) -> None:
    impact = commands.add_parser(
        "impact",
        help="what would change if some inputs had other values",
        description="List every sentence, cell, claim and verdict that would change, flips first."
        " Nothing is written.",
    )
    impact.add_argument(
        "values",
        nargs="+",
        type=_setting,
        metavar="NAME=VALUE",
        help="h200.bandwidth_gbs=4000, split-k.split=4",
    )
    impact.add_argument(
        "--in",
        dest="paths",
        nargs="+",
        type=Path,
        default=[Path("docs")],
        metavar="PATH",
        help="default: docs",
    )
    _add_format(impact)
    impact.set_defaults(run=_impact)


def _add_census(commands: Any) -> None:
    census = commands.add_parser(
        "census",
        help="how many numbers and fences there are, and of which kind",
        description="Count the numbers and fences of each page by kind. Exits 1 if any is unknown.",
    )
    census.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="Markdown files, or folders of them"
    )
    _add_format(census)
    census.set_defaults(run=_census)


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("text", "markdown", "json"), default="text", help="default: text"
    )


def _report(options: argparse.Namespace) -> tuple[str, int]:
    gpu = _machine(machine(DEFAULT), options)
    decisions = build(float(gpu.bandwidth_gbs), int(gpu.sm_count))
    return text.report(float(gpu.bandwidth_gbs), decisions), CLEAN


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """The slug, machine, budget and shape that a command asks about."""
    gpu = _machine(machine(options.machine), options)
    return {"slug": options.slug, "machine": gpu, "budget": options.budget, **dict(options.set)}


def _show(options: argparse.Namespace) -> tuple[str, int]:
    formats: dict[str, Callable[[Decision], str]] = {
        "text": text.show,
        "markdown": markdown.show,
        "json": lambda each: json.write(json.decision(each)),
    }
    return formats[options.format](decision(**_asked(options))), CLEAN


def _flips(options: argparse.Namespace) -> tuple[str, int]:
    asked = decision(**_asked(options))
    found = flips(asked, options.over)
    if options.format == "json":
        return json.write(json.flips(asked, found)), CLEAN
    return (markdown.flips if options.format == "markdown" else text.flips)(asked, found), CLEAN


def _best(options: argparse.Namespace) -> tuple[str, int]:
    asked = _asked(options)
    found = best(over=dict(options.over), **asked)
    quickest = fastest(over=dict(options.over), **asked)
    tilings = () if found.decision else retile(**_untiled(asked))
    if options.format == "json":
        return json.write(json.best(found, quickest, tilings)), CLEAN
    return (markdown.best if options.format == "markdown" else text.best)(found, quickest, tilings), CLEAN


def _untiled(asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked, without the tiles that are to be chosen anew."""
    return {name: value for name, value in asked.items() if name not in question(asked["slug"]).tiles}


def _retile(options: argparse.Namespace) -> tuple[str, int]:
    asked = _asked(options)
    found = retile(over=dict(options.over) or None, **(asked if options.over else _untiled(asked)))
    if options.format == "json":
        return json.write(json.tilings(found)), CLEAN
    return (markdown.tilings if options.format == "markdown" else text.tilings)(found), CLEAN


def _sweep(options: argparse.Namespace) -> tuple[str, int]:
    try:
        from ledger.sweep import sweep
    except ModuleNotFoundError:
        raise LedgerError(
            "sweep: needs NumPy, found none; install it with pip install 'fusion-ledger[sweep]'"
        ) from None
    found = sweep(over=dict(options.over), progress=_progress(), **_asked(options))
    if options.format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([*found.axes, "verdict"])
        writer.writerows(found.rows())
        return "", CLEAN
    if options.format == "json":
        return json.write(json.sweep(found)), CLEAN
    return (markdown.sweep if options.format == "markdown" else text.sweep)(found), CLEAN


def _progress() -> Callable[[int, int], None]:
    """Tells on standard error how far a sweep is, where it takes longer than a second."""
    begun = told = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - begun > 1 and (now - told > 0.2 or done == total):
            told = now
            end = "\n" if done == total else ""
            print(f"\r{done:,} of {total:,} verdicts", end=end, file=sys.stderr, flush=True)

    return tell


def _decisions(options: argparse.Namespace) -> tuple[str, int]:
    if options.format == "json":
        return json.write(json.questions(QUESTIONS)), CLEAN
    return (markdown.questions if options.format == "markdown" else text.decisions)(QUESTIONS), CLEAN


def _machines(options: argparse.Namespace) -> tuple[str, int]:
    catalogue = machines().values()
    if options.format == "json":
        return json.write(json.machines(catalogue)), CLEAN
    return (markdown.machines if options.format == "markdown" else text.machines)(catalogue), CLEAN


def _check(options: argparse.Namespace) -> tuple[str, int]:
    from ledger.prose import finding

    book = _book(options.paths)
    if options.site is None:
        found = book.check(options.paths)
    else:
        from ledger.prose.published import published

        found = published(book, options.paths[0], options.site)
    formats = {"text": finding.as_text, "json": finding.as_json, "github": finding.as_github}
    return formats[options.format](found), FINDINGS if found else CLEAN


def _fix(options: argparse.Namespace) -> tuple[str, int]:
    from ledger.prose.fix import drafts

    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise LedgerError("fix: must not write in CI, found CI set; run it where its author can read it")
    say_yes, written = options.yes, 0
    for draft in drafts(_book(options.paths), options.paths):
        accepted, answer = [], ""
        for proposal in draft.proposals:
            print(text.proposal(proposal))
            answer = "y" if say_yes else _answer()
            say_yes = say_yes or answer == "a"
            if answer == "q":
                break
            if answer in {"y", "a"}:
                accepted.append(proposal)
        written += draft.write(accepted)
        for moved in draft.verdicts:
            print(f"  verdict or claim on this page: {moved}")
        if answer == "q":
            break
    return f"{written} written", CLEAN


def _answer() -> str:
    while True:
        print("write it? [y,n,a,q] ", end="", flush=True)
        answer = sys.stdin.readline()
        if not answer:  # nobody is there to say yes
            print()
            return "q"
        if answer.strip().lower()[:1] in {"y", "n", "a", "q"}:
            return answer.strip().lower()[0]
        print("y write it, n leave it, a write it and all that follow, q quit")


def _impact(options: argparse.Namespace) -> tuple[str, int]:
    from ledger.prose.impact import impact

    changes = impact(_book(options.paths), options.paths, dict(options.values))
    if options.format == "json":
        return json.write(json.impact(changes)), CLEAN
    return (markdown.impact if options.format == "markdown" else text.impact)(changes), CLEAN


def _census(options: argparse.Namespace) -> tuple[str, int]:
    from ledger.prose.census import census

    found = census(_book(options.paths), options.paths)
    formats = {"text": text.census, "markdown": markdown.census, "json": json.write}
    unknown = sum(counts["unknown"] for counts in found.values())
    return formats[options.format](found), FINDINGS if unknown else CLEAN


def _book(paths: Sequence[Path]) -> Book:
    """The book that the first path belongs to; a page outside any book can use the library's own names."""
    from ledger.pages import define_names
    from ledger.prose.book import Book, Collector, find_book, names_of

    book = find_book(paths[0].resolve())
    if book is None:
        env = Collector()
        define_names(env)
        book = Book(root=Path.cwd(), names=names_of(env))
    return book


def _machine(gpu: Machine, options: argparse.Namespace) -> Machine:
    limits = {"bandwidth_gbs": options.bandwidth_gbs, "sm_count": options.sm_count}
    return gpu.having(**{name: value for name, value in limits.items() if value is not None})


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _span(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not name or not values:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUES such as split=1..256, got {text!r}")
    return name, values


def _setting(text: str) -> tuple[str, int | float]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    try:
        return name, _number(value)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{name} {error}") from None
