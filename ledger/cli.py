"""The ``ledger`` command: arguments in, text out, exit codes. The only module that prints."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ledger.decision import Decision
from ledger.decisions import QUESTIONS, build, decision
from ledger.errors import LedgerError
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
    _add_show(commands)
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


def _add_show(commands: Any) -> None:
    show = commands.add_parser("show", help="one decision in full", description="One decision in full.")
    show.add_argument("slug", metavar="SLUG", help=f"one of: {', '.join(QUESTIONS)}")
    show.add_argument(
        "--machine", default=DEFAULT, metavar="NAME", help=f"a GPU, see 'ledger machines' ({DEFAULT})"
    )
    show.add_argument(
        "--set",
        action="extend",
        nargs="+",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="shape parameters, see 'ledger decisions'",
    )
    show.add_argument("--budget", type=_number, metavar="BYTES", help="bytes one block may keep on chip")
    _add_limits(show, default=argparse.SUPPRESS)  # so that those given before "show" stay
    _add_format(show)
    show.set_defaults(run=_show)


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


def _show(options: argparse.Namespace) -> tuple[str, int]:
    shape = dict(options.set)
    gpu = _machine(machine(options.machine), options)
    shown = decision(options.slug, machine=gpu, budget=options.budget, **shape)
    formats: dict[str, Callable[[Decision], str]] = {
        "text": text.show,
        "markdown": markdown.show,
        "json": lambda each: json.write(json.decision(each)),
    }
    return formats[options.format](shown), CLEAN


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


def _setting(text: str) -> tuple[str, int | float]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    try:
        return name, _number(value)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{name} {error}") from None
