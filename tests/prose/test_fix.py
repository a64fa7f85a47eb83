"""Mending pages: what is proposed, what is written, and what stays byte for byte."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.cli import main
from ledger.prose.book import Book, Collector, names_of, register
from ledger.prose.fix import ChangedMeanwhileError, drafts
from ledger.traced import Choice
from ledger.traced import given as traced
from ledger.units import BLOCKS, BYTES, US, WAVES, write

VALUES = {
    "size": traced("size", 71_303_168, dimension=BYTES),
    "chip": traced("chip", 106_496, dimension=BYTES),
    "grid": traced("grid", 2048, dimension=BLOCKS),
    "waves": traced("waves", 15.515, dimension=WAVES),
    "time": traced("time", 14.905, dimension=US),
    "count": 8,
    "share": 0.0012,
    "winner": Choice("split-K=8"),
    "label": "one block per head",
}
ENV = Collector(variables=VALUES)
register(ENV, {}, sources={})
NAMES = names_of(ENV)


@pytest.fixture
def page(tmp_path):
    """A file to write a page into."""
    return tmp_path / "p.md"


def book(page) -> Book:
    return Book(root=page.parent, names=NAMES)


def mend(page) -> int:
    """Write everything that is proposed, and give back how much it was."""
    return sum(draft.write(draft.proposals) for draft in drafts(book(page), [page]))


MENDED = [
    ('It moves {{ size | reads("67.1 MB") }}.\n', 'It moves {{ size | reads("71.3 MB") }}.\n'),
    ("It moves {{ size | reads('about 67 MB') }}.\n", "It moves {{ size | reads('about 71 MB') }}.\n"),
    ('{{ winner | reads("split-K=4") }} wins.\n', '{{ winner | reads("split-K=8") }} wins.\n'),
    ('{{ count | reads("Four splits") }}.\n', '{{ count | reads("Eight splits") }}.\n'),
    ("It moves {{ size }}.\n", 'It moves {{ size | reads("71.3 MB") }}.\n'),
    ("It moves {{ size / 2 }}.\n", 'It moves {{ (size / 2) | reads("35.7 MB") }}.\n'),
    ("It keeps {{- chip -}} on chip.\n", 'It keeps {{- chip | reads("104.0 KB") -}} on chip.\n'),
    ("Up to {{ count if count else size }}.\n", 'Up to {{ (count if count else size) | reads("8") }}.\n'),
    (
        '---\ntitle: x\n---\n\n{{ grid | reads("64 blocks") }} and {{ grid | reads("2,048 blocks") }}\n',
        '---\ntitle: x\n---\n\n{{ grid | reads("2,048 blocks") }} and {{ grid | reads("2,048 blocks") }}\n',
    ),
    (
        '{{ label | reads("one \\"block\\"") }} {{ size | reads("1 MB") }}\n',
        '{{ label | reads("one block per head") }} {{ size | reads("71 MB") }}\n',
    ),
]


@pytest.mark.parametrize(("old", "new"), MENDED, ids=[r[0] for r in MENDED])
def test_what_the_library_says_is_written_and_nothing_else_moves(page, old, new):
    page.write_bytes(old.encode())
    assert mend(page) > 0
    assert page.read_bytes() == new.encode()
    assert book(page).check([page]) == []
    assert mend(page) == 0


LEFT = [
    '{{ (count > 9) | holds("more than nine") }}\n',
    '{{ size | reads("67 µs") }}\n',
    "It is 12 and twice that.\n",
    '{% for x in [size, chip] %}{{ x | reads("1.0 MB") }}{% endfor %}\n',
    "{% set text = '67.1 MB' %}{{ size | reads(text) }}\n",
    '{{ "3" | cited("nothing") }} {{ nothing }}\n',
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_for_the_author_is_left_alone(page, text):
    page.write_text(text)
    assert book(page).check([page]) != []
    assert mend(page) == 0
    assert page.read_text() == text


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_stay(page, ends, mark):
    lines = ["é", '{{ size | reads("67.1 MB") }}', "", '{{ grid | reads("64 blocks") }}  ', "end"]
    page.write_bytes((mark + ends.join(lines)).encode())
    assert mend(page) == 2
    mended = ends.join(lines).replace("67.1 MB", "71.3 MB").replace("64 blocks", "2,048 blocks")
    assert page.read_bytes() == (mark + mended).encode()


def test_a_file_saved_meanwhile_is_left_alone(page):
    page.write_text('{{ size | reads("67.1 MB") }}\n')
    (draft,) = drafts(book(page), [page])
    page.write_text("saved\n")
    with pytest.raises(
        ChangedMeanwhileError, match=r"p\.md: saved by somebody else meanwhile; left as it is"
    ):
        draft.write(draft.proposals)
    assert page.read_text() == "saved\n"
    assert [each.name for each in page.parent.iterdir()] == ["p.md"]


def test_a_mended_file_keeps_its_permissions(page):
    page.write_text('{{ size | reads("67.1 MB") }}\n')
    page.chmod(0o640)
    mend(page)
    assert page.stat().st_mode & 0o777 == 0o640


READINGS = st.sampled_from(
    [f'{{{{ {name} | reads("{text}") }}}}' for name, text in [
        ("size", "67.1 MB"), ("size", "about 70 MB"), ("size", "68 MiB"), ("chip", "100 KB"), ("grid", "64 blocks"),
        ("waves", "15 waves"), ("waves", "16.50 waves"), ("time", "1.0 µs"), ("count", "four splits"),
        ("share", "0.5 %"), ("winner", "NEITHER"), ("label", "no split"),
    ]] + [f"{{{{ {name} }}}}" for name in ("size", "chip", "grid", "waves", "time", "count", "share")]
    + ["{{ grid / count }}", "{{ size - chip }}"]
)  # fmt: skip
TEXTS = st.sampled_from(
    [
        "plain words",
        "é × –",
        "**bold**",
        "`code 12`",
        "- item",
        "\n\n",
        "\r\n",
        "> quoted",
        "!!! note\n\n    x",
    ]
)
PAGES = st.lists(st.one_of(READINGS, TEXTS), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=PAGES)
def test_fix_then_check_is_clean_and_a_second_fix_changes_nothing(page, text):
    page.write_bytes(text.encode())
    mend(page)
    once = page.read_bytes()
    assert [f for f in book(page).check([page]) if f.code != "typed"] == []
    assert mend(page) == 0
    assert page.read_bytes() == once
    tags = re.compile(rb"\{\{.*?\}\}")
    assert tags.sub(b"", once) == tags.sub(b"", text.encode())


WRITTEN = [
    (71_303_168, BYTES, "71.3 MB"),
    (106_496, BYTES, "104.0 KB"),
    (5 * 10**9, BYTES, "5.0 GB"),
    (1023, BYTES, "1,023 B"),
    (0, BYTES, "0 B"),
    (2048, BLOCKS, "2,048 blocks"),
    (15.515, WAVES, "15.5 waves"),
    (0.00123456, US, "0.00123 µs"),
    (8, None, "8"),
    (0.5, None, "0.5"),
]


@pytest.mark.parametrize(("value", "dimension", "text"), WRITTEN)
def test_a_reading_is_proposed_as_an_author_would_write_it(value, dimension, text):
    assert (write(value) if dimension is None else write(value, dimension)) == text


@pytest.fixture
def drifted(tmp_path):
    """A page of the library's own with three readings that are off."""
    page = tmp_path / "p.md"
    page.write_text(
        '{% set d = decision("split-k") %}\nOne: {{ d.a.grid | reads("65 blocks") }}.\n\n'
        'Two: {{ d.winner | reads("NEITHER") }} wins.\n\nThree: {{ d.a.bytes }} bytes.\n'
    )
    return page


def answer(monkeypatch, text: str) -> None:
    """Let somebody type these lines."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    monkeypatch.delenv("CI", raising=False)


ANSWERS = [
    ("y\nn\ny\n", 2, ["64 blocks", "NEITHER", "4.2 MB"]),
    ("n\nn\nn\n", 0, ["65 blocks", "NEITHER", "d.a.bytes }}"]),
    ("what\nn\na\n", 2, ["65 blocks", "split-K=8", "4.2 MB"]),
    ("y\nq\n", 1, ["64 blocks", "NEITHER", "d.a.bytes }}"]),
    ("", 0, ["65 blocks", "NEITHER", "d.a.bytes }}"]),
]


@pytest.mark.parametrize(("typed", "written", "words"), ANSWERS)
def test_each_sentence_is_written_after_a_yes(drifted, monkeypatch, capsys, typed, written, words):
    answer(monkeypatch, typed)
    assert main(["fix", str(drifted)]) == 0
    assert capsys.readouterr().out.endswith(f"{written} written\n")
    assert [word for word in words if word not in drifted.read_text()] == []


def test_a_proposal_shows_the_sentence_old_and_new_and_the_verdicts_it_touches(drifted, monkeypatch, capsys):
    answer(monkeypatch, "n\nn\nn\n")
    main(["fix", str(drifted)])
    shown = capsys.readouterr().out
    assert (
        '- One: {{ d.a.grid | reads("65 blocks") }}.\n+ One: {{ d.a.grid | reads("64 blocks") }}.\n' in shown
    )
    assert "verdict or claim on this page: " in shown
    assert "flip the page says 'NEITHER', the library 'split-K=8'" in shown


def test_all_is_written_with_yes_and_nothing_in_ci(drifted, monkeypatch, capsys):
    before = drifted.read_text()
    monkeypatch.setenv("CI", "true")
    assert main(["fix", "--yes", str(drifted)]) == 2
    assert capsys.readouterr().err.startswith("ledger: fix: must not write in CI, found CI set")
    assert drifted.read_text() == before
    monkeypatch.setenv("CI", "false")
    assert main(["fix", "--yes", str(drifted)]) == 0
    assert main(["check", str(drifted)]) == 0
