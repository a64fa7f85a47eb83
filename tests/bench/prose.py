"""How long a book takes to build: typed by hand, through a bare macro, with the page language, with peers.

``make bench`` prints, for the same chapters in one run, the time of each way and its ratio to the typed one:
cold, and again after one saved change in the same process, as ``mkdocs serve`` rebuilds. Each figure is the
minimum of several interleaved rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = os.pathsep.join(
    filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
)  # ours ahead of an installed one
NUMBERS = 40  # in each chapter
SHOWN = ["64 blocks", "132 SMs", "0.48 waves"]
OURS = [
    'd.a.grid | reads("64 blocks")',
    'm.sm_count | reads("132 SMs")',
    '(d.a.grid / m.sm_count) | reads("0.48 waves")',
]
CELL = "\n".join(["```{code-cell} ipython3", *(f"v{i} = {text!r}" for i, text in enumerate(SHOWN)), "```"])
PLAIN_MACROS = "def define_env(env):\n    env.macro(lambda text: text, 'number')\n"


def chapter(name: str, head: str, number: Callable[[int], str]) -> str:
    """A chapter of sections, lists and a table, with its numbers written in one of the ways."""
    lines = [f"# Chapter {name}", "", head, ""]
    for i in range(NUMBERS):
        if i % 8 == 0:
            lines += ["", f"## Section {i // 8 + 1} of the chapter", ""]
        said = f"The kernel of this *case* launches {number(i)}, and `grid` says so in [the ledger](index.md)"
        lines.append(
            f"- {said}." if i % 8 > 5 else f"{said}, whatever the rest of the sentence may add to it.\n"
        )
    return "\n".join(lines) + "\n"


def typed(i: int) -> str:
    """A number as it is typed by hand."""
    return SHOWN[i % 3]


WAYS: dict[str, tuple[str, str, Callable[[int], str]]] = {
    "typed by hand": ("[]", "", typed),
    "a bare macro": ("[{macros: {module_name: macros}}]", "", lambda i: f'{{{{ number("{typed(i)}") }}}}'),
    "the ledger": (
        "[{macros: {module_name: macros, on_undefined: strict}}]",
        '{% set d = decision("split-k") %}{% set m = machine("h200") %}',
        lambda i: f"{{{{ {OURS[i % 3]} }}}}",
    ),
    "markdown-exec": (
        "[markdown-exec]",
        "",
        lambda i: f'so:\n\n```python exec="true"\nprint("{typed(i)}")\n```\n\n',
    ),
    "myst-nb": ("", CELL, lambda i: f"{{eval}}`v{i % 3}`"),
}
PEERS = {"markdown-exec": "markdown_exec", "myst-nb": "myst_nb"}
NOTEBOOK = "---\nfile_format: mystnb\nkernelspec: {name: python3}\n---\n"


def write(folder: Path, way: str, chapters: int) -> None:
    """Write the book of a way into a folder."""
    plugins, head, number = WAYS[way]
    (folder / "docs").mkdir(parents=True)
    names = ["index", *(f"c{i:04}" for i in range(1, chapters))]
    for name in names:
        text = chapter(name, head, number)
        (folder / "docs" / f"{name}.md").write_text(NOTEBOOK + text if way == "myst-nb" else text)
    if way == "myst-nb":
        (folder / "docs" / "conf.py").write_text('extensions = ["myst_nb"]\nnb_execution_mode = "inline"\n')
        return
    config = f"site_name: Bench\nplugins: {plugins}\ntheme: {{name: mkdocs, highlightjs: false}}\n"
    extensions = "[tables, admonition, pymdownx.superfences]"
    (folder / "mkdocs.yml").write_text(f"{config}markdown_extensions: {extensions}\n")
    if way == "the ledger":
        (folder / "ledger").symlink_to(ROOT / "ledger")
        shutil.copy(ROOT / "macros.py", folder)
    else:
        (folder / "macros.py").write_text(PLAIN_MACROS)


def build(folder: Path) -> float:
    """The seconds of one build of a folder, in this process."""
    if (folder / "docs" / "conf.py").exists():
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "docs", "site"]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return time.perf_counter() - start
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    os.chdir(folder)
    start = time.perf_counter()
    config = load_config(str(folder / "mkdocs.yml"))
    config.plugins.on_startup(command="serve", dirty=False)
    build_site(config)
    return time.perf_counter() - start


def build_twice(folder: Path) -> tuple[float, float]:
    """The seconds of a first build, and of a second one after a change of one page."""
    first = build(folder)
    page = folder / "docs" / "index.md"
    page.write_text(page.read_text() + "\nOne more sentence.\n")
    return first, build(folder)


def in_a_fresh_process(folder: Path) -> tuple[float, float]:
    """The same, where nothing has been imported before."""
    environment = {**os.environ, "PYTHONPATH": PATH, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, __file__, "--build", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    last = next((folder / "site").rglob("c0001*/index.html"), folder / "site" / "c0001.html")
    if last.read_text().count(SHOWN[0]) < NUMBERS // len(SHOWN):
        sys.exit(f"{last} does not show its numbers:\n{done.stdout}{done.stderr}")
    first, again = json.loads(done.stdout.splitlines()[-1])
    return first, again


def check(folder: Path) -> float:
    """The seconds of ``ledger check`` on the pages of a folder, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": PATH}
    command = [sys.executable, "-m", "ledger", "check", "docs"]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the bench's own pages have findings:\n{done.stdout[:2000]}{done.stderr}")
    return time.perf_counter() - start


def measure(chapters: int, rounds: int) -> None:
    """Print the times of every way, and their ratios to the typed one."""
    found = {way: importlib.util.find_spec(PEERS.get(way, "mkdocs")) is not None for way in WAYS}
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS if found[way]}
    checks = []
    for number in range(rounds):
        for way in times:
            if way == "myst-nb" and number:
                continue  # a kernel for each page: minutes
            with tempfile.TemporaryDirectory() as name:
                write(Path(name) / "book", way, chapters)
                times[way].append(in_a_fresh_process(Path(name) / "book"))
                if way == "the ledger":
                    checks.append(check(Path(name) / "book"))
    print(f"{chapters} chapters with {NUMBERS} numbers each, minimum of {rounds} rounds")
    print(f"{'':16}{'cold':>8}{'ratio':>8}{'again':>8}{'ratio':>8}")
    base = [min(each) for each in zip(*times["typed by hand"], strict=True)]
    for way in WAYS:
        if not found[way]:
            print(f"{way:16}not installed (pip install {way})")
            continue
        first, again = (min(each) for each in zip(*times[way], strict=True))
        print(f"{way:16}{first:7.2f}s{first / base[0]:8.2f}{again:7.2f}s{again / base[1]:8.2f}")
    print(f"{'ledger check':16}{min(checks):7.2f}s{min(checks) / base[0]:8.2f}")


def main() -> None:
    """Measure, or build one folder twice for the measuring process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="the same at 1,000 chapters")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="interleaved rounds (default 3)")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        logging.getLogger("mkdocs").setLevel(logging.ERROR)
        print(json.dumps(build_twice(options.build)))
        return
    measure(100, options.rounds)
    if options.large:
        measure(1_000, options.rounds)


if __name__ == "__main__":
    main()
