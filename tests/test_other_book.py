"""The book of the page on other books, built from nothing but what that page shows."""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from ledger.prose.fences import Fence, read
from tests.fences import arguments, commands

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "authors" / "other-books.md"
FENCES = read(PAGE.read_text(encoding="utf-8"))


def titled(fence: Fence) -> str:
    """The title that a fence has on the page; empty without one."""
    found = re.search(r'title="([^"]+)"', fence.info)
    return found[1] if found else ""


def content(fence: Fence) -> str:
    """What a fence shows."""
    return "".join(f"{line.text}\n" for line in fence.lines)


FILES = {titled(f): content(f) for f in FENCES if titled(f) and f.language in {"yaml", "python", "markdown"}}


@pytest.fixture
def book(tmp_path) -> Path:
    """The book, in a folder where there was nothing."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(book: Path, *words: str) -> subprocess.CompletedProcess:
    """A module of Python's, run in the book's folder as its author would run it."""
    settings = {name: value for name, value in os.environ.items() if name != "CI"}
    settings |= {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=book, env=settings, capture_output=True, text=True, check=False)


def edit(book: Path, name: str, old: str, new: str) -> None:
    """Replace a text that stands once in a file of the book."""
    text = (book / name).read_text(encoding="utf-8")
    assert text.count(old) == 1, (name, old)
    (book / name).write_text(text.replace(old, new), encoding="utf-8")


def test_the_page_shows_all_files_of_a_book_that_knows_no_gpu(book):
    assert sorted(FILES) == ["docs/index.md", "macros.py", "mkdocs.yml"]
    assert not re.search(r"gpu|decision|machine", "".join(FILES.values()), re.IGNORECASE)


def test_the_book_is_clean_and_builds_strictly(book):
    checked = run(book, "ledger", "check", "docs")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    built = run(book, "mkdocs", "build", "--strict")
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    html = (book / "site" / "index.html").read_text(encoding="utf-8")
    (tooltip,) = (content(f).strip() for f in FENCES if titled(f) == "tooltip")
    assert f'title="{tooltip}"' in unescape(html)
    assert html.count('<data class="value"') == 6
    assert not re.search(r"\{\{|\{%|Traceback|<mark", html)


def test_every_command_of_the_page_prints_what_the_page_shows(book):
    ran = []
    for fence in FENCES:
        if fence.language == "diff":
            old, new = (line.text for line in fence.lines)
            assert (old[0], new[0]) == ("-", "+")
            edit(book, titled(fence), old[1:], new[1:])
        for command in commands(fence.lines) if fence.language == "console" else []:
            done = run(book, "ledger", *arguments(command.text))
            assert (done.stdout.splitlines(), done.stderr) == (command.output, ""), command.text
            assert done.returncode == int("".join(command.status or ["0"])), command.text
            ran.append(command.text.split()[1])
    assert ran == ["check", "census", "impact", "check", "fix", "check"]


def test_a_value_that_moves_is_named_with_its_place_then_listed_then_mended(book):
    listed = run(book, "ledger", "impact", "wheel=2.2")
    assert listed.returncode == 0
    assert "docs/index.md:9:65: reading: 2.38 m → 2.49 m" in listed.stdout.splitlines()
    edit(book, "macros.py", '"wheel": 2.10', '"wheel": 2.2')
    checked = run(book, "ledger", "check", "docs")
    assert checked.returncode == 1
    assert checked.stdout.startswith("docs/index.md:9:65: drift the page says '2.38 m', the library '2.49 m'")
    built = run(book, "mkdocs", "build", "--strict")
    assert built.returncode == 1
    assert all(line in built.stderr for line in checked.stdout.splitlines())
    assert not (book / "site").exists()
    fixed = run(book, "ledger", "fix", "docs", "--yes")
    assert (fixed.returncode, fixed.stdout.splitlines()[-1]) == (0, "3 written")
    assert '{{ low | reads("2.49 m") }}' in (book / "docs" / "index.md").read_text(encoding="utf-8")
    checked = run(book, "ledger", "check", "docs")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_a_value_that_pages_cannot_use_ends_a_strict_build_and_is_shown_by_a_server(book):
    edit(book, "macros.py", '"walk": 5', '"walk": [5]')
    complaint = (
        "the value walk must be a finite number, a text, a truth, or a mapping of these, got [5] (list)"
    )
    for words in (("mkdocs", "build", "--strict"), ("ledger", "check", "docs")):
        done = run(book, *words)
        assert done.returncode != 0
        assert complaint in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
    assert not (book / "site").exists()
    served = run(book, "mkdocs", "build")
    assert (served.returncode, served.stderr.count("WARNING")) == (0, 1)
    assert complaint in unescape((book / "site" / "index.html").read_text(encoding="utf-8"))
