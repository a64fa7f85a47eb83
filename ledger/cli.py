"""The ``ledger`` command: arguments in, text out, exit codes. The only module that prints."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ledger.decision import Decision
from ledger.decisions import QUESTIONS, build, decision
from ledger.errors import LedgerError
from ledger.machine import DEFAULT, Machine, machine, machines
from ledger.reports import json, markdown, text

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
    check.set_defaults(run=_check)


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
    from ledger.pages import define_names
    from ledger.prose import finding
    from ledger.prose.book import Book, Collector, find_book, names_of

    book = find_book(options.paths[0].resolve())
    if book is None:  # a page outside any book can use the library's own names
        env = Collector()
        define_names(env)
        book = Book(root=Path.cwd(), names=names_of(env))
    found = book.check(options.paths)
    formats = {"text": finding.as_text, "json": finding.as_json, "github": finding.as_github}
    return formats[options.format](found), FINDINGS if found else CLEAN


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
