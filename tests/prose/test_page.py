"""Pages and books: places, front matter, which files belong, and what a finding prints."""

import json

import pytest

from ledger.errors import DataError
from ledger.prose.book import find_book, pages
from ledger.prose.finding import Finding, as_github, as_json, as_text
from ledger.prose.page import Page

FRONT = [
    ("# T\n", "# T\n", {}),
    ("---\ntitle: x\n---\n# T\n", "# T\n", {"title": "x"}),
    ("---\ntitle: x\n...\n# T\n", "# T\n", {"title": "x"}),
    ("---\n---\n# T\n", "# T\n", {}),
    ("---\ntitle: [\n---\n# T\n", "# T\n", {}),
    ("---\n- x\n---\n# T\n", "# T\n", {}),
    ("---\ntitle: x\n# T\n", "---\ntitle: x\n# T\n", {}),
    ("\n---\ntitle: x\n---\n", "\n---\ntitle: x\n---\n", {}),
    ("---\ntitle: x\n---", "", {"title": "x"}),
]


@pytest.mark.parametrize(("text", "body", "meta"), FRONT)
def test_front_matter_is_told_from_the_body(text, body, meta):
    page = Page("p.md", text)
    assert (page.body, page.meta) == (body, meta)


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (3, (3, 1)), (5, (3, 3))]
)
def test_a_place_is_a_line_and_a_column_from_1(offset, place):
    assert Page("p.md", "a\n\nbc").place(offset) == place


def test_the_pages_of_a_folder_come_sorted_and_once(tmp_path):
    for name in ("b.md", "a.md", "sub/c.md", "sub/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [p.relative_to(tmp_path).as_posix() for p in pages([tmp_path, tmp_path / "a.md"])]
    assert found == ["a.md", "b.md", "sub/c.md"]
    with pytest.raises(DataError, match="no such file or folder"):
        list(pages([tmp_path / "e.md"]))


MODULE = """\
def define_env(env):
    @env.macro
    def twice(x):
        return 2 * x

    @env.filter
    def shout(text):
        return text.upper()

    env.variables["year"] = 2017
"""


def test_a_book_is_the_nearest_folder_upwards_with_a_macros_module(tmp_path):
    (tmp_path / "macros.py").write_text(MODULE)
    page = tmp_path / "docs" / "deep" / "p.md"
    page.parent.mkdir(parents=True)
    page.write_text('{{ twice(year) }} {{ "a" | shout }} {{ thrice(1) }}\n')
    book = find_book(page)
    assert book.root == tmp_path
    assert book.render(page).markdown.startswith("4034 A <mark")
    assert [(f.line, f.column, f.code) for f in book.check([tmp_path])] == [
        (1, 1, "unread"),
        (1, 40, "broken"),
    ]


def test_a_folder_outside_any_book_has_none(tmp_path):
    assert find_book(tmp_path) is None


BAD_MODULES = [
    ("x = (", r"macros\.py: cannot be loaded: '\(' was never closed .* \(SyntaxError\)"),
    ("import nothing_of_that_name", r"cannot be loaded: No module named 'nothing_of_that_name'"),
    ("x = 1", r"macros\.py: has no define_env\(env\), which gives names to the pages"),
    ("def define_env(env): 1 / 0", r"cannot be loaded: division by zero \(ZeroDivisionError\)"),
]


@pytest.mark.parametrize(("text", "message"), BAD_MODULES)
def test_a_macros_module_that_cannot_be_loaded_is_a_clear_error(tmp_path, text, message):
    (tmp_path / "macros.py").write_text(text)
    with pytest.raises(DataError, match=message):
        find_book(tmp_path)


def test_a_page_that_is_not_utf_8_is_a_finding_and_the_others_are_checked(tmp_path):
    (tmp_path / "macros.py").write_text(MODULE)
    (tmp_path / "a.md").write_bytes(b"caf\xe9")
    (tmp_path / "b.md").write_text("{{ nothing }}")
    found = find_book(tmp_path).check([tmp_path])
    assert [(f.line, f.column, f.code) for f in found] == [(1, 1, "broken"), (1, 4, "broken")]
    assert found[0].message == "the page must be UTF-8, found byte 0xe9 at offset 3"


FOUND = [Finding("docs/a,b.md", 3, 7, "drift", "100 % off:\nyes", "write '67.1 MB'")]


def test_findings_print_as_text_as_json_and_as_annotations():
    assert as_text(FOUND) == "docs/a,b.md:3:7: drift 100 % off:\nyes — write '67.1 MB'"
    assert json.loads(as_json(FOUND)) == [
        {
            "path": "docs/a,b.md",
            "line": 3,
            "column": 7,
            "code": "drift",
            "message": "100 % off:\nyes",
            "mend": "write '67.1 MB'",
        }
    ]
    assert as_github(FOUND) == (
        "::error file=docs/a%2Cb.md,line=3,col=7,title=drift::100 %25 off:%0Ayes — write '67.1 MB'"
    )
    assert (as_text([]), json.loads(as_json([])), as_github([])) == ("", [], "")
