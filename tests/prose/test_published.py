"""A built site held against its pages: what is missing, what is too much, what is an error text."""

import json

import pytest

from ledger.cli import main

TEXT = '# T\n\nIt launches {{ decision("split-k").a.grid | reads("64 blocks") }}.\n'
DATA = '<data class="value" value="64" title="how">64 blocks</data>'
HTML = f"<html><h1>T</h1><p>It launches {DATA}.</p><pre>{{{{ code }}}}</pre></html>"


@pytest.fixture
def site(tmp_path):
    """A site of one page and its search index, as a generator writes them."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(TEXT)
    (tmp_path / "docs" / "deep.md").write_text(TEXT)
    for folder in ("site", "site/deep", "site/search"):
        (tmp_path / folder).mkdir()
    for name in ("index.html", "deep/index.html"):
        (tmp_path / "site" / name).write_text(HTML)
    index(tmp_path / "site", f"It launches {DATA}.")
    return tmp_path


def index(site, text: str) -> None:
    """Write the search index: each page's text."""
    entries = [{"location": place, "title": "T", "text": text} for place in ("", "deep/#t")]
    (site / "search" / "search_index.json").write_text(json.dumps({"docs": entries}))


def check(site, capsys) -> tuple[int, list[str]]:
    """Exit code, and the message of each line."""
    code = main(["check", str(site / "docs"), "--site", str(site / "site")])
    lines = capsys.readouterr().out.splitlines()
    return code, [line.partition(" drift ")[2].partition(" — ")[0] for line in lines]


def test_a_site_that_says_what_its_pages_say_is_clean(site, capsys):
    assert check(site, capsys) == (0, [])


TAMPERED = [
    ("64 blocks", "65 blocks", ["'64 blocks' (value 64) is missing from the site, 1 of 1",
                                "'65 blocks' (value 64) is on the site and not in the source, 1 more"]),
    ('value="64"', 'value="63"', ["'64 blocks' (value 64) is missing from the site, 1 of 1",
                                  "'64 blocks' (value 63) is on the site and not in the source, 1 more"]),
    ("It launches", "{{ d.a.grid }}", ["publishes '{{ d.a.grid }}'"]),
    ("It launches", "Traceback (most recent call last)", ["publishes 'Traceback (most recent call last)'"]),
    ("It launches", "Macro Rendering Error", ["publishes 'Macro Rendering Error'"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "messages"), TAMPERED, ids=[r[1] for r in TAMPERED])
def test_each_difference_is_named(site, capsys, old, new, messages):
    page = site / "site" / "deep" / "index.html"
    page.write_text(page.read_text().replace(old, new))
    assert check(site, capsys) == (1, messages)


def test_a_published_finding_and_a_missing_page_are_named(site, capsys):
    (site / "site" / "index.html").write_text(HTML.replace(DATA, f'<mark class="finding">{DATA}</mark>'))
    (site / "site" / "deep" / "index.html").unlink()
    code, messages = check(site, capsys)
    assert code == 1
    assert messages[0].startswith("has no page in the site: ")
    assert messages[1] == "publishes a finding: '64 blocks'"


def test_a_value_that_search_does_not_know_is_named(site, capsys):
    index(site / "site", "It launches")
    assert check(site, capsys) == (1, ["'64 blocks' is not in the search index"] * 2)


def test_a_folder_without_a_site_is_refused(site, capsys):
    assert main(["check", str(site / "docs"), "--site", str(site)]) == 2
    assert "holds no index.html; build the site first" in capsys.readouterr().err
