"""Gives Sybil every example on the book's pages, in each form that Material knows.

Which fences a page has is for ``ledger.prose.fences`` to say; one with a problem is an example that fails.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from unittest import mock

from sybil import Document, Example, Region
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract import DocTestStringParser
from sybil.region import Lexeme
from sybil.typing import Evaluator, Parser

from ledger.prose.fences import Fence, Line, read

ROOT = Path(__file__).resolve().parent.parent

NO_PROMPT = "there is no >>> in it: nothing to run"
STRAY = "neither a prompt nor the output of one, so it would be passed over: {0}"
NO_COMMAND = "no line of it starts with `$ `: nothing to run"
LEADING = "output ahead of the first command: {0}"
COMMANDS = (
    "`{0}` cannot be run: a console fence may hold `ledger …`, `fusion-ledger …` and"
    " `python -m ledger …`, without pipes or redirections, and `echo $?` after one of them;"
    " other shell text belongs in a `sh` fence"
)
ECHO = "$ echo $?"


def _sound(document: Document, kind: str) -> Iterator[Fence]:
    """The fences of a page that are run as this kind."""
    for fence in read(document.text):
        if fence.kind == kind and fence.problem is None and fence.reason is None:
            yield fence


def _region(
    document: Document,
    first: int,
    last: int,
    parsed: object,
    evaluator: Evaluator,
) -> Region:
    """An example for Sybil, from the start of one line of the file to the end of another."""
    lines = document.text.split("\n")
    start = sum(len(line) + 1 for line in lines[: first - 1])
    length = sum(len(line) + 1 for line in lines[first - 1 : last])
    return Region(start, start + length - 1, parsed, evaluator)


def _failing(document: Document, line: int, message: str) -> Region:
    """An example that fails at this line with this message."""
    return _region(document, line, line, message, lambda example: message)


def broken_examples(document: Document) -> Iterator[Region]:
    """A failing example for each fence that cannot be run and says nothing about it."""
    for fence in read(document.text):
        if fence.problem:
            yield _failing(document, *fence.problem)


def python_examples(document: Document) -> Iterator[Region]:
    """The Python fences, as doctests if they start with a prompt and as code if not."""
    for fence in _sound(document, "python"):
        texts = (line.text.strip() for line in fence.lines)
        if next((text for text in texts if text and text[0] != "#"), "").startswith(">>>"):
            yield from _prompts(document, fence)
        else:
            code = Lexeme(fence.code, offset=0, line_offset=0)
            yield _region(document, fence.first, fence.last, code, PythonEvaluator())


def pycon_examples(document: Document) -> Iterator[Region]:
    """The fences with a Python session, one example for each prompt."""
    for fence in _sound(document, "pycon"):
        yield from _prompts(document, fence)


def _prompts(document: Document, fence: Fence) -> Iterator[Region]:
    """The prompts of a session, and a failing example for each line that belongs to none."""
    text = "".join(f"{line.text}\n" for line in fence.lines)
    evaluator = DocTestEvaluator(doctest.ELLIPSIS | doctest.REPORT_UDIFF)
    try:
        regions = list(DocTestStringParser(evaluator)(text, "page"))
    except ValueError as error:
        message = str(error).replace("of the docstring for page", "of the session")
        regions = []
        yield _failing(document, fence.first, message)
    else:
        if not regions:
            yield _failing(document, fence.first, NO_PROMPT)
    covered: set[int] = set()
    for region in regions:
        start = text.count("\n", 0, region.start)
        rows = range(start, start + text[region.start : region.end].rstrip("\n").count("\n") + 1)
        covered.update(rows)
        numbers = [fence.lines[row].number for row in rows]
        yield _region(document, numbers[0], numbers[-1], region.parsed, evaluator)
    for row, line in enumerate(fence.lines if regions else ()):
        stray = line.text.strip()
        if row not in covered and stray and not stray.startswith((">>>", "...", "#")):
            yield _failing(document, line.number, STRAY.format(stray))


@dataclass
class Command:
    """A command of a console fence.

    Args:
        line: The number of the line it stands on.
        text: What follows the prompt.
        output: The lines that it is to print.
        status: What ``echo $?`` is to print after it; nothing if the page does not ask.
        last: The number of the last line that belongs to it.
    """

    line: int
    text: str
    output: list[str] = field(default_factory=list)
    status: list[str] | None = None
    last: int = 0


def commands(lines: Iterable[Line]) -> list[Command]:
    """The commands of a console fence, each with what the page says it prints."""
    found: list[Command] = []
    for number, text in lines:
        if text.rstrip() == ECHO and found and found[-1].status is None:
            found[-1].status = []
        elif text.startswith("$ "):
            found.append(Command(number, text[2:].strip()))
        elif found:
            (found[-1].output if found[-1].status is None else found[-1].status).append(text)
        if found:
            found[-1].last = number
    return found


def arguments(command: str) -> list[str] | None:
    """The arguments that a command gives to the ledger; nothing if it is none of the ledger's."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:  # an open quote, or a backslash at the end
        return None
    if any(not word.strip("();<>|&") for word in words if word):
        return None
    if words[:1] in (["ledger"], ["fusion-ledger"]):
        return words[1:]
    return words[3:] if words[:3] == ["python", "-m", "ledger"] else None


Runner = Callable[[Sequence[str]], int]


def run_ledger(words: Sequence[str]) -> int:
    """The exit code of the ``ledger`` command."""
    from ledger.cli import main

    return main(words)


class ConsoleParser:
    """The console fences, one example for each command.

    Args:
        run: Called with a command's arguments; prints, and gives back the exit code.
    """

    def __init__(self, run: Runner = run_ledger) -> None:
        self.run = run

    def __call__(self, document: Document) -> Iterator[Region]:
        """The commands of a page, and a failing example where a fence says nothing to run."""
        for fence in _sound(document, "console"):
            found = commands(fence.lines)
            if not found:
                yield _failing(document, fence.first, NO_COMMAND)
            for command in found:
                yield _region(document, command.line, command.last, command, self.evaluate)
            leading = takewhile(lambda line: not line.text.startswith("$ "), fence.lines)
            for line in leading if found else ():
                if line.text.strip():
                    yield _failing(document, line.number, LEADING.format(line.text.strip()))

    def evaluate(self, example: Example) -> str | None:
        """What a command does other than the page says; nothing if page and command agree."""
        command: Command = example.parsed
        words = arguments(command.text)
        if words is None:
            return COMMANDS.format(command.text)
        code, shown = _called(self.run, words)
        complaints = [*_difference("\n".join(command.output), shown), *_status(command, code)]
        return "\n".join([f"$ {command.text}", *complaints]) if complaints else None


def _called(run: Runner, words: Sequence[str]) -> tuple[int, str]:
    """The exit code of a command, and what a terminal of 80 columns shows of it."""
    shown = io.StringIO()
    terminal = mock.patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1", "CI": ""})
    with (
        terminal,
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(shown),
        contextlib.redirect_stderr(shown),
    ):
        try:
            code = run(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                print(stop.code, file=sys.stderr)
        except Exception:
            code = 1
            traceback.print_exc()
    return code, shown.getvalue()


def _difference(expected: str, shown: str) -> list[str]:
    """The lines of a diff from what the page shows to what the command prints."""
    expected, shown = _trimmed(expected), _trimmed(shown)
    flags = doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE | doctest.DONT_ACCEPT_TRUE_FOR_1
    if doctest.OutputChecker().check_output(expected, shown, flags):
        return []
    pair = expected.splitlines(), shown.splitlines()
    return list(difflib.unified_diff(*pair, "the page", "the command", lineterm=""))


def _trimmed(text: str) -> str:
    """A text without the white space at the end of it and of its lines."""
    text = "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")
    return f"{text}\n" if text else ""


def _status(command: Command, code: int) -> list[str]:
    """What is wrong with the exit code that the page shows, or keeps to itself."""
    if command.status is None:
        hint = "if that is meant, the page must show it in the lines that follow:"
        return [f"the exit code is {code}; {hint}", ECHO, str(code)] if code else []
    shown = "\n".join(command.status).strip()
    return [] if shown == str(code) else [f"the exit code is {code}, and the page shows {shown!r}"]


#: Everything that runs on the book's pages.
PARSERS: tuple[Parser, ...] = (
    broken_examples,
    python_examples,
    pycon_examples,
    ConsoleParser(),
)
