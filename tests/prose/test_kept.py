"""Pages kept from one build to the next: rendered anew whenever anything they are made of has changed."""

from types import MappingProxyType

import pytest

from ledger.prose.book import Book, Collector, names_of, register
from ledger.sources import sources


def double(count: int) -> int:
    """A function that passes for one of the library."""
    return 2 * count


double.__module__ = "ledger.made"


def quadruple(count: int) -> int:
    return 4 * count


quadruple.__module__ = "ledger.made"


def book(tmp_path, kept, *, known=MappingProxyType({}), **functions) -> Book:
    """A book as each build makes one, with what the last build kept."""
    env = Collector(variables=dict(known))
    register(env, functions, sources())
    return Book(root=tmp_path, names=names_of(env), kept=kept)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "p.md"
    path.write_text("It is {{ f(count) | reads('6 x') }}, {{ '7' | cited('nothing') }}.")
    return path


def test_the_same_page_is_rendered_once(tmp_path, page):
    kept = {}
    first = book(tmp_path, kept, f=double, known={"count": 3}).render(page)
    assert book(tmp_path, kept, f=double, known={"count": 3}).render(page) is first


def test_a_changed_page_is_rendered_anew(tmp_path, page):
    kept = {}
    book(tmp_path, kept, f=double).render(page)
    page.write_text("Now {{ f(4) }}")
    assert book(tmp_path, kept, f=double).render(page).markdown == "Now 8"


def test_another_function_or_value_of_a_name_shows(tmp_path, page):
    kept = {}
    page.write_text("{{ f(count) }}")
    shown = [
        book(tmp_path, kept, f=f, known={"count": n}).render(page).markdown
        for f, n in [(double, 3), (quadruple, 3), (quadruple, 4)]
    ]
    assert shown == ["6", "12", "16"]


def test_a_function_of_the_author_is_called_each_time(tmp_path, page):
    kept, count = {}, iter(range(9))
    page.write_text("{{ f() }}")
    assert [book(tmp_path, kept, f=lambda: next(count)).render(page).markdown for _ in "ab"] == ["0", "1"]


def test_a_changed_include_shows(tmp_path, page):
    kept = {}
    part = tmp_path / "part.md"
    page.write_text("{% include 'part.md' %}")
    part.write_text("one")
    assert book(tmp_path, kept).render(page).markdown == "one"
    part.write_text("another")
    assert book(tmp_path, kept).render(page).markdown == "another"
