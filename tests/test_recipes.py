"""The recipes to copy: what they tell a machine to run is run here, on a book that is clean and on one that is not."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = yaml.safe_load((ROOT / "recipes" / "github-workflow.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / "recipes" / "pre-commit-config.yaml").read_text(encoding="utf-8"))
RUNS = [step["run"] for step in WORKFLOW["jobs"]["test"]["steps"] if "run" in step]
MACROS = """\
from ledger.prose import attach

def define_env(env):
    attach(env, {"wheels": 2})
"""
MAKEFILE = """\
install:
test: install
\t.venv/bin/ledger check docs README.md
"""
CLEAN = 'It has {{ wheels | reads("two wheels") }}.\n'
DRIFTED = CLEAN.replace("two", "three")


@pytest.fixture
def book(tmp_path) -> Path:
    """A book with a command in the place where the recipes expect it, and a Makefile that is soon done."""
    command = tmp_path / ".venv" / "bin" / "ledger"
    for name, text in {
        "macros.py": MACROS,
        "Makefile": MAKEFILE,
        "docs/index.md": CLEAN,
        "docs/wheels.md": CLEAN,
        "README.md": CLEAN,
        ".venv/bin/ledger": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ledger "$@"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def run(book: Path, line: str) -> subprocess.CompletedProcess:
    """A line of a recipe, as a shell runs it in the book's folder."""
    settings = {**os.environ, "CI": "true", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line]
    return subprocess.run(command, cwd=book, env=settings, capture_output=True, text=True, check=False)


def hook(name: str) -> dict:
    """A hook of the pre-commit recipe."""
    (found,) = (each for repo in HOOKS["repos"] for each in repo["hooks"] if each["id"] == name)
    return found


def committed(book: Path, name: str, staged: list[str]) -> int:
    """The exit code of a hook when some files are staged; as pre-commit, it is passed over if none is its own."""
    found = hook(name)
    own = [path for path in staged if re.search(found["files"], path)]
    if not own:
        return 0
    line = shlex.join([*shlex.split(found["entry"]), *(own if found.get("pass_filenames", True) else [])])
    return run(book, line).returncode


def test_each_target_that_the_workflow_makes_is_one_of_this_repository():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = [line.removeprefix("make ") for line in RUNS if line.startswith("make ")]
    assert made == ["install", "test"]
    assert set(made) <= set(targets)


def test_the_workflow_passes_a_clean_book(book):
    assert [run(book, line).returncode for line in RUNS] == [0, 0, 0]


def test_the_workflow_shows_what_has_drifted_beside_its_line_and_fails(book):
    (book / "docs" / "wheels.md").write_text(DRIFTED)
    done = [run(book, line) for line in RUNS]
    assert [step.returncode != 0 for step in done] == [False, True, True]
    assert done[1].returncode == 1
    assert done[1].stdout.startswith("::error file=docs/wheels.md,line=1,col=26,title=drift::")


def test_the_checks_of_a_workflow_run_one_after_the_other_whatever_they_find():
    assert WORKFLOW["jobs"]["test"]["steps"][-1]["if"] == "${{ !cancelled() }}"
    assert WORKFLOW["permissions"] == {"contents": "read"}


COMMITS = [
    # what has drifted, what is staged, the hook on pages, the hook on the library
    (None, ["docs/index.md", "README.md", "macros.py"], 0, 0),
    ("docs/wheels.md", ["docs/wheels.md"], 1, 0),
    ("docs/wheels.md", ["docs/index.md", "docs/wheels.md"], 1, 0),
    ("docs/wheels.md", ["docs/index.md"], 0, 0),
    ("docs/wheels.md", ["docs/index.md", "macros.py"], 0, 1),
    ("README.md", ["README.md"], 1, 0),
    ("README.md", ["LICENSE", "docs/assets/book.css"], 0, 0),
]


@pytest.mark.parametrize(("drifted", "staged", "pages", "library"), COMMITS)
def test_the_hooks_stop_a_commit_of_what_has_drifted(book, drifted, staged, pages, library):
    if drifted:
        (book / drifted).write_text(DRIFTED)
    assert committed(book, "ledger-check", staged) == pages
    assert committed(book, "ledger-check-all", staged) == library


def test_the_hooks_hold_what_pre_commit_asks_for():
    for found in (hook("ledger-check"), hook("ledger-check-all")):
        assert {"id", "name", "language", "entry"} <= set(found)
        assert found["language"] == "system"
