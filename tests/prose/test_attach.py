"""Handing values to pages: what becomes of them, what is refused, and what each kind of site is given."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from ledger.errors import LedgerError
from ledger.prose import attach, show_page
from ledger.prose.book import Collector, find_book, names_of
from ledger.prose.impact import impact
from ledger.prose.page import Page
from ledger.prose.rendering import render
from ledger.sources import Source
from ledger.traced import Choice, Traced, given


def attached(values, **more) -> Collector:
    """A site's ``env`` with these values."""
    env = Collector()
    attach(env, values, **more)
    return env


def shown(env: Collector, text: str) -> tuple[str, list[str]]:
    """A page's Markdown, and its findings."""
    rendered = render(Page("p.md", text), names_of(env))
    return rendered.markdown, [f"{f.column}: {f.code} {f.message} — {f.mend}" for f in rendered.findings]


def test_a_plain_number_is_an_input_that_formulas_show_by_its_name():
    env = attached({"wheel": 2.5, "ring": {"large": 50, "of": SimpleNamespace(steel=34)}})
    names = env.variables
    assert (names["wheel"] * names["ring"].large).derivation() == "wheel·ring.large = 2.5 × 50 = 125"
    assert [each.key for each in names["ring"].of.steel.inputs] == ["ring.of.steel"]


def test_a_traced_number_keeps_its_formula_and_is_a_step_for_others():
    flour, water = given("flour", 500), given("flour", 500) * 0.7
    env = attached({"flour": flour, "water": water, "dough": {"wet": water}})
    names = env.variables
    assert names["flour"] is flour
    assert names["water"].derivation() == "flour·0.7 = 500 × 0.7 = 350"
    assert (names["water"] + names["flour"]).formula() == "water + flour"
    assert (names["dough"].wet * 2).formula() == "dough.wet·2"


def test_texts_verdicts_and_truths_stay_what_they_are():
    env = attached({"name": "Gears", "winner": Choice("double"), "steel": True})
    assert env.variables == {"name": "Gears", "winner": "double", "steel": True}
    page = '{{ winner | reads("single") }} {{ steel | holds("of steel") }}'
    assert shown(env, page)[1] == ["19: flip the page says 'single', the library 'double' — write 'double'"]


def test_a_group_is_looped_over_in_pairs_and_a_slip_in_its_names_is_suggested():
    env = attached({"cog": {"small": 11, "items": 17}})
    assert shown(env, "{% for name, teeth in cog %}{{ name }}={{ teeth }} {% endfor %}") == (
        "small=11 items=17 ",
        [],
    )
    assert shown(env, "{{ cog.smal }}")[1] == ["8: broken Group has no 'smal' — did you mean 'small'?"]
    assert repr(env.variables["cog"]) == "Group(small, items)"


def test_pages_get_the_language_its_arithmetic_functions_and_sources():
    sources = {
        "mapping": {"title": "A", "where": "a.example"},
        "object": Source(title="B", where="b", url="https://b.example"),
    }
    env = attached({"cog": 11}, functions={"double": lambda n: 2 * n}, sources=sources)
    page = (
        '{{ double(cog) | reads("22 teeth") }} {{ ceil_div(cog, 2) | reads("six") }} {{ "3" | plain("why") }}'
    )
    assert shown(env, page)[1] == []
    markdown, findings = shown(env, '{{ "1" | cited("mapping") }} {{ "2" | cited("object") }}')
    assert findings == []
    assert "<span" in markdown
    assert 'href="https&#58;//b.example"' in markdown


NOT_A_NAME = "must be an identifier that begins with a letter, such as ring, got"
TAKEN = "must be one that pages do not need for something else, got"
NOT_A_VALUE = "must be a finite number, a text, a truth, or a mapping of these, got"
REFUSED = [
    ([1], {}, "the values must be a mapping from names to values, got [1] (list)"),
    ({"a b": 1}, {}, f"the name of a value {NOT_A_NAME} 'a b'"),
    ({"class": 1}, {}, f"the name of a value {NOT_A_NAME} 'class'"),
    ({"_call": 1}, {}, f"the name of a value {NOT_A_NAME} '_call'"),
    ({"": 1}, {}, f"the name of a value {NOT_A_NAME} ''"),
    ({3: 1}, {}, f"the name of a value {NOT_A_NAME} 3"),
    ({"ring": {"a-b": 1}}, {}, f"the name of a value in ring {NOT_A_NAME} 'a-b'"),
    *(
        ({name: 1}, {}, f"the name of a value {TAKEN} {name!r}")
        for name in ("reads", "holds", "cited", "plain", "ceil_div", "page", "config", "range", "loop")
    ),
    ({"ring": [50]}, {}, f"the value ring {NOT_A_VALUE} [50] (list)"),
    ({"ring": None}, {}, f"the value ring {NOT_A_VALUE} None (NoneType)"),
    ({"ring": {"large": float("nan")}}, {}, f"the value ring.large {NOT_A_VALUE} nan (float)"),
    ({"ring": float("inf")}, {}, f"the value ring {NOT_A_VALUE} inf (float)"),
    ({"ring": 1j}, {}, f"the value ring {NOT_A_VALUE} 1j (complex)"),
    ({}, {"functions": {"reads": len}}, f"the name of a function {TAKEN} 'reads'"),
    ({}, {"functions": {"ring": 3}}, "the function ring must be something that can be called, got 3 (int)"),
    ({"ring": 1}, {"functions": {"ring": len}}, f"the name of a value {TAKEN} 'ring'"),
    (
        {},
        {"sources": {"s": {"title": "A"}}},
        "the source s must be a mapping with title, where and url, all texts, got {'title': 'A'} (dict)",
    ),
]


@pytest.mark.parametrize(("values", "more", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_pages_cannot_use_is_refused_with_subject_found_and_allowed(values, more, message):
    with pytest.raises(LedgerError) as caught:
        attach(Collector(), values, **more)
    assert str(caught.value) == message


def test_a_number_is_taken_up_to_any_size():
    assert attached({"n": 10**400}).variables["n"].value == 10**400


MODULE = """\
from ledger.prose import attach
from ledger.traced import given

def values():
    flour = given("flour", 500)
    return {"flour": flour, "water": 0.7 * flour, "tin": {"holds": 1 / BIG}, "unused": 1}

BIG = 0.001

def define_env(env):
    attach(env, values())
"""


@pytest.fixture
def book(tmp_path):
    """A book of one page, whose values are computed from each other before they are handed in."""
    (tmp_path / "macros.py").write_text(MODULE)
    page = '{{ flour | reads("500 g") }} and {{ water | reads("350 g") }}; {{ tin.holds | reads("1,000 g") }}'
    (tmp_path / "p.md").write_text(page)
    return find_book(tmp_path)


def test_an_impact_reaches_what_the_module_computed_before_it_handed_the_values_in(book):
    changes = impact(book, [book.root], {"flour": 400})
    assert [(c.kind, c.old, c.new) for c in changes] == [
        ("reading", "500 g", "400 g"),
        ("reading", "350 g", "280 g"),
    ]
    assert [c.new for c in impact(book, [book.root], {"tin.holds": 900})] == ["900 g"]
    assert impact(book, [book.root], {"unused": 2}) == []
    assert book.check([book.root]) == []


def test_an_impact_on_what_no_value_is_called_names_those_that_are(book):
    with pytest.raises(LedgerError, match="unknown input 'fluor': did you mean 'flour'"):
        impact(book, [book.root], {"fluor": 1})


def test_an_impact_of_a_value_that_the_module_cannot_take_says_which(book):
    macros = book.root / "macros.py"
    macros.write_text(MODULE.replace("0.7 * flour", "10 / (flour - 400)"))
    with pytest.raises(LedgerError, match=r"^flour=400: the divisor flour − 400 must be other than zero"):
        impact(find_book(book.root), [book.root], {"flour": 400})


class Zensical(Collector):
    """An ``env`` as Zensical's: it has a configuration, and calls no hook."""

    conf = {"docs_dir": "docs"}  # noqa: RUF012  # as Zensical's
    project_dir = "."


def test_a_generator_that_calls_no_hook_gets_the_names_and_no_check():
    env = Zensical()
    attach(env, {"ring": 50})
    assert isinstance(env.variables["ring"], Traced)
    assert not hasattr(env, "show_page")
    with pytest.raises(LedgerError):
        attach(env, {"ring": [50]})


class MkDocs(Collector):
    """An ``env`` as that of mkdocs-macros, while a site is built."""

    def __init__(self, root) -> None:
        super().__init__()
        self.project_dir = str(root)
        self.conf = {"docs_dir": str(root), "strict": False}

    def on_page_markdown(self) -> None:
        """The hook by which it is known."""


def test_under_mkdocs_the_pages_are_checked_and_shown_as_they_were_checked(tmp_path, caplog):
    for name, text in {"p.md": '{{ ring | reads("51 teeth") }}', "late.md": "{{ page.title }}"}.items():
        (tmp_path / name).write_text(text)
    env = MkDocs(tmp_path)
    attach(env, {"ring": 50})
    assert "p.md:1:17: drift the page says '51 teeth', the library '50 teeth'" in caplog.text
    for name in ("p.md", "late.md"):
        env.markdown = "as mkdocs-macros would render it"
        env.page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(tmp_path / name)), meta={})
        show_page(env)
        is_late = name == "late.md"
        assert (env.markdown == "as mkdocs-macros would render it") is is_late
        assert env.page.meta == ({} if is_late else {"render_macros": False})


def test_importing_the_package_loads_no_template_engine():
    code = "import sys, ledger.prose; sys.exit('jinja2' in sys.modules or 'ledger.prose.site' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
