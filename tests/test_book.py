"""The book as it ships: clean, whole, and nothing in it that a reader should not see."""

import ast
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from ledger.decisions import QUESTIONS
from ledger.prose.book import find_book
from ledger.prose.finding import CODES
from ledger.prose.page import read_page

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NOUNS = """
option machine decision verdict neither rule usable flip reading claim finding traffic capacity parallelism epilogue
budget traced-number
""".split()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The shipped book, built strictly."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


def test_the_pages_and_the_readme_say_what_the_library_says():
    book = find_book(ROOT)
    assert book.check([ROOT / "docs", ROOT / "README.md"]) == []


def test_every_page_is_in_the_navigation_once():
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader=_Lenient)
    listed = list(_leaves(settings["nav"]))
    assert sorted(listed) == [page.relative_to(ROOT / "docs").as_posix() for page in PAGES]


@pytest.mark.parametrize("path", PAGES, ids=[p.relative_to(ROOT / "docs").as_posix() for p in PAGES])
def test_a_page_has_a_title_a_description_and_headings_with_ids(path):
    page = read_page(path, path.name)
    assert page.meta["title"]
    assert 40 <= len(page.meta["description"]) <= 160
    headings = re.findall(r"^#{1,6} .*$", _outside_fences(page.body), re.MULTILINE)
    assert [h for h in headings if not re.search(r"\{ #[a-z0-9-]+ \}$", h)] == []
    assert sum(h.startswith("# ") for h in headings) == 1


def test_the_glossary_has_an_entry_for_each_noun():
    text = (ROOT / "docs" / "glossary.md").read_text()
    assert [noun for noun in NOUNS if f"{{ #{noun} }}" not in text] == []


def test_every_decision_has_a_chapter_and_every_code_a_section():
    chapters = {path.stem for path in (ROOT / "docs" / "decisions").glob("*.md")}
    assert chapters == set(QUESTIONS)
    findings = (ROOT / "docs" / "authors" / "findings.md").read_text()
    assert [code for code in CODES if f"{{ #{code} }}" not in findings] == []


class Seen(HTMLParser):
    """What a page's HTML would fetch, and the text a reader sees outside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.words: list[str] = []
        self.meta: dict[str, str] = {}
        self._quiet = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in {"script", "img", "iframe", "source"} and given.get("src"):
            self.fetched.append(given["src"])
        if tag == "link" and given.get("rel") not in {"canonical", "prev", "next", "edit"}:
            self.fetched.append(given.get("href", ""))
        if tag == "meta" and "name" in given:
            self.meta[given["name"]] = given.get("content", "")
        self._quiet += tag in {"script", "style", "code", "pre"}

    def handle_endtag(self, tag):
        self._quiet -= tag in {"script", "style", "code", "pre"}

    def handle_data(self, data):
        if not self._quiet:
            self.words.append(data)


def test_no_page_asks_another_host_for_anything(site):
    for path in site.rglob("*.html"):
        fetched = Seen(path.read_text()).fetched
        assert [url for url in fetched if urlsplit(url).netloc] == [], path
    for path in site.rglob("*.css"):
        assert re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*\)", path.read_text()) == [], path


def test_no_page_shows_a_tag_a_traceback_or_a_number_that_is_none(site):
    for path in site.rglob("*.html"):
        text = " ".join(Seen(path.read_text()).words)
        assert re.findall(r"\{\{|\{%|Traceback|Macro \w+ Error|\bnan\b|\binf\b", text) == [], path
        assert '<mark class="finding"' not in path.read_text(), path


def test_every_page_describes_itself(site):
    described = [Seen(path.read_text()).meta.get("description") for path in site.rglob("index.html")]
    assert all(described)
    assert len(set(described)) == len(described)


def constants(module: Path) -> list[tuple[int, int, int]]:
    """Line, column and value of each whole number in the default shape of a decision module."""
    function = next(n for n in ast.walk(ast.parse(module.read_text())) if isinstance(n, ast.FunctionDef))
    found = [
        n for default in function.args.kw_defaults for n in ast.walk(default) if isinstance(n, ast.Constant)
    ]
    return [(n.lineno, n.col_offset, n.value) for n in found]


@pytest.mark.parametrize("slug", QUESTIONS)
def test_a_constant_that_moves_in_a_decision_is_noticed_by_the_sentences_that_stand_on_it(slug, tmp_path):
    copy = tmp_path / "ledger"
    shutil.copytree(ROOT / "ledger", copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "macros.py", tmp_path)
    module = copy / "decisions" / f"{slug.replace('-', '_')}.py"
    lines = module.read_text().splitlines(keepends=True)
    line, column, value = constants(module)[0]
    row = lines[line - 1]
    lines[line - 1] = row[:column] + str(value + 1) + row[column + len(str(value)) :]
    module.write_text("".join(lines))
    settings = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "ledger", "check", "docs"]
    checked = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (1, "")
    assert f"docs/decisions/{slug}.md:" in checked.stdout


class _Lenient(yaml.SafeLoader):
    """Reads the site's settings without acting on their tags."""


_Lenient.add_multi_constructor("!", lambda loader, suffix, node: None)


def _leaves(navigation):
    for entry in navigation:
        values = entry.values() if isinstance(entry, dict) else [entry]
        for value in values:
            yield from _leaves(value) if isinstance(value, list) else [value]


def _outside_fences(text: str) -> str:
    return re.sub(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)
