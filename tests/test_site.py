"""Building and serving: mistakes named with their place, the last good site kept, saves seen at once."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from urllib.request import urlopen

import pytest

CONFIG = """\
site_name: Made
plugins: [search, {macros: {module_name: macros, on_undefined: strict}}]
markdown_extensions: [tables, admonition]
watch: [ledger, macros.py]
theme: {name: mkdocs, highlightjs: false}
"""
GOOD = '# Good\n\n{{ decision("split-k").a.grid | reads("64 blocks") }} on {{ machine("h200").sm_count | reads("132 SMs") }}.\n'
PLANTED = {
    "typo.md": (
        "---\ntitle: A\n---\n\n{{ decisoin('split-k') }}\n",
        "5:4: broken unknown name 'decisoin' — did you mean",
    ),
    "unknown.md": ("# B\n\n{{ decision('split-kk').winner }}\n", "3:13: broken unknown decision 'split-kk'"),
    "reading.md": (
        "# C\n\nx {{ decision('split-k').a.grid | reads('65 blocks') }}\n",
        "3:41: drift the page says",
    ),
    "claim.md": (
        "# D\n\n\n{{ (decision('split-k').a.grid > 64) | holds('more') }}\n",
        "4:46: false 'more' does not",
    ),
    "flipped.md": (
        "# E\n\n{{ decision('split-k').winner | reads('split-K=4') }}\n",
        "3:39: flip the page says",
    ),
}


@pytest.fixture
def book(tmp_path, repository) -> Path:
    """A book of one good page with a library of its own."""
    shutil.copytree(repository / "ledger", tmp_path / "ledger", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(repository / "macros.py", tmp_path)
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(GOOD)
    return tmp_path


def environment(book: Path) -> dict[str, str]:
    """The environment in which a book's own library is the one that is imported."""
    return {**os.environ, "PYTHONPATH": str(book), "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run(book: Path, *arguments: str) -> subprocess.CompletedProcess:
    """A command of Python's, run in the book's folder."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command, cwd=book, env=environment(book), capture_output=True, text=True, check=False
    )


def plant(book: Path) -> None:
    """Put each mistake on a page of its own."""
    for name, (text, _) in PLANTED.items():
        (book / "docs" / name).write_text(text)


def test_a_strict_build_names_every_mistake_of_every_page_and_keeps_the_last_good_site(book):
    assert run(book, "mkdocs", "build", "--strict").returncode == 0
    before = (book / "site" / "index.html").read_text()
    plant(book)
    built = run(book, "mkdocs", "build", "--strict")
    assert built.returncode == 1
    for name, (_, complaint) in PLANTED.items():
        assert f"docs/{name}:{complaint}" in built.stderr
    assert "5 findings in strict mode: nothing was built, the last good site is where it was" in built.stdout
    assert "Traceback" not in built.stderr
    assert (book / "site" / "index.html").read_text() == before
    assert not (book / "site" / "typo").exists()


def test_a_build_that_is_not_strict_marks_each_mistake_on_its_page(book):
    plant(book)
    built = run(book, "mkdocs", "build")
    assert (built.returncode, built.stderr.count("WARNING")) == (0, 5)
    shown = {name: unescape((book / "site" / name[:-3] / "index.html").read_text()) for name in PLANTED}
    assert "<small>decisoin</small>" in shown["typo.md"]
    assert "unknown decision 'split-kk': did you mean 'split-k'?" in shown["unknown.md"]
    assert re.search(
        r"<mark.*64 blocks</data> <small>the page says 65 blocks</small></mark>", shown["reading.md"]
    )
    assert re.search(r"<mark.*more</span> <small>this claim does not hold</small></mark>", shown["claim.md"])
    assert re.search(
        r"<mark.*split-K=8</span> <small>the page says split-K=4</small></mark>", shown["flipped.md"]
    )
    assert not any("Traceback" in page or "{{" in page for page in shown.values())


def test_check_reports_what_a_build_does_sorted_by_place(book):
    plant(book)
    checked = run(book, "ledger", "check", "docs")
    lines = checked.stdout.splitlines()
    assert checked.returncode == 1
    assert len(lines) == 5
    assert lines == sorted(lines)
    assert all(any(line.startswith(f"docs/{n}:{c}") for n, (_, c) in PLANTED.items()) for line in lines)


def test_a_library_that_cannot_be_loaded_stops_a_strict_build_with_one_line(book):
    assert run(book, "mkdocs", "build", "--strict").returncode == 0
    module = book / "ledger" / "decisions" / "split_k.py"
    module.write_text(module.read_text().replace("tiles = ceil_div", "tiles = = ceil_div"))
    built = run(book, "mkdocs", "build", "--strict")
    assert built.returncode == 1
    assert re.search(
        r"ledger/decisions/split_k\.py:\d+: the library cannot be loaded: invalid syntax", built.stderr
    )
    assert "Traceback" not in built.stderr
    assert "64 blocks" in (book / "site" / "index.html").read_text()


class Server:
    """``mkdocs serve`` on a free port, and what its pages show."""

    def __init__(self, book: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.book = book
        self.log = (book / "log").open("w+")
        command = [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--dev-addr", self.address]
        self.process = subprocess.Popen(
            command, cwd=book, env=environment(book), stdout=self.log, stderr=self.log
        )

    def until(self, words: str, page: str = "", seconds: float = 30) -> str:
        """The page as soon as it shows some words; fails if it does not in time, or the server is gone."""
        shown, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.book / "log").read_text()
            try:
                with urlopen(f"http://{self.address}/{page}", timeout=5) as answer:
                    shown = unescape(answer.read().decode())
            except OSError:  # not up yet, or between two builds
                shown = ""
            if words in shown:
                return shown
            time.sleep(0.1)
        pytest.fail(
            f"{words!r} did not show in {seconds} s; the page: {shown}; {(self.book / 'log').read_text()}"
        )

    def save(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file of the book."""
        path = self.book / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def server(book):
    """A server on the book, ended with the test."""
    served = Server(book)
    yield served
    served.process.terminate()
    served.process.wait()
    served.log.close()


def test_every_save_shows_and_every_slip_heals(server):
    server.until("64 blocks")
    # a page
    server.save(
        "docs/index.md", "# Good", '# Good\n\n{{ decision("split-k", m=2048).a.grid | reads("128 blocks") }}'
    )
    assert "<mark" not in server.until("128 blocks")
    # a decision: the old reading is shown, marked, with what the page said
    server.save("ledger/decisions/split_k.py", "tile: Items = 128", "tile: Items = 256")
    shown = server.until("the page says 64 blocks")
    assert ">16 blocks</data>" in shown
    server.save("ledger/decisions/split_k.py", "tile: Items = 256", "tile: Items = 128")
    server.until(">64 blocks</data>")
    # a machine
    server.save("ledger/machines.toml", "sm_count = { value = 132", "sm_count = { value = 131")
    assert ">131 SMs</data>" in server.until("the page says 132 SMs")
    server.save("ledger/machines.toml", "sm_count = { value = 131", "sm_count = 131 #")
    assert "Traceback" not in server.until("machines.toml: h200.sm_count: must be { value = …")
    server.save("ledger/machines.toml", "sm_count = 131 #", "sm_count = { value = 132")
    server.until(">132 SMs</data>")
    # a slip in a page, and one in the library
    server.save("docs/index.md", "# Good", "# Good {{ nothing")
    assert "Traceback" not in server.until("This page cannot be shown yet")
    server.save("docs/index.md", "# Good {{ nothing", "# Good")
    server.until(">128 blocks</data>")
    server.save("ledger/decisions/split_k.py", "tiles = ceil_div", "tiles = = ceil_div")
    assert "Traceback" not in server.until("the library cannot be loaded: invalid syntax")
    server.save("ledger/decisions/split_k.py", "tiles = = ceil_div", "tiles = ceil_div")
    server.until(">128 blocks</data>")
    assert "Traceback" not in (server.book / "log").read_text()
