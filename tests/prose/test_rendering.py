"""Pages rendered with every mistake found, each at its own line and column."""

from textwrap import dedent

import jinja2
import pytest

from ledger.errors import BadValue
from ledger.prose.book import LATE, Collector, names_of, register
from ledger.prose.finding import CODES
from ledger.prose.page import Page
from ledger.prose.rendering import render
from ledger.traced import given
from ledger.units import BYTES


class Thing:
    """A value with a number and a method, as pages get them."""

    size = given("size", 8, dimension=BYTES)
    count = 3

    def fits(self, most):
        return self.size <= most


def thing(size: int = 8):
    if size < 1:
        raise BadValue("size", "at least 1", size)
    return Thing()


ENV = Collector(variables={"year": 2017, "items": [1, 2, 3]})
register(ENV, {"thing": thing, "crash": lambda: {}["key"]}, sources={})
NAMES = names_of(ENV)


def findings(text, loader=None):
    """Line, column, code and message of each finding of a page."""
    found = render(Page("p.md", text), NAMES, loader).findings
    assert all(f.path == "p.md" or loader for f in found)
    assert {f.code for f in found} <= set(CODES)
    return [(f.line, f.column, f.code, f.message) for f in found]


CLEAN = [
    "",
    "No tags at all.",
    '{{ thing().size | reads("8 B") }}',
    '{% set t = thing() %}{{ (t.size > 4 * t.count - 5) | holds("more") }}',
    "{% for i in items %}{{ i }}{% endfor %} {{ year }} {{ nothing | default(3) }} {{ x is defined }}",
    "{% raw %}{{ not_a_name | reads }} {% set %}{% endraw %}",
    "{# {{ not_a_name }} #}",
    "---\nauthor: me\n---\n{{ author }}",
    "---\nrender_macros: false\n---\n{{ not_a_name }}",
    "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(3) }}",
    "{{ page.title }} {{ config.site_name }}",
    '{{ "%.1f MB" | format(thing().count / 2) }} {{ items | join(", ") }} {{ nothing | default("3") }}',
    '{{ thing(size=2).size\n  | reads(\n  "8 bytes") }}',
]


@pytest.mark.parametrize("text", CLEAN)
def test_a_page_that_says_what_the_library_says_has_no_findings(text):
    assert findings(text) == []


DRIFT = "the page says '9 B', the library '8 B'"
PLACES = [
    ('{{ thing().size | reads("9 B") }}', [(1, 25, "drift", DRIFT)]),
    ('---\ntitle: x\n---\n\ntext {{ thing().size | reads("9 B") }}', [(5, 30, "drift", DRIFT)]),
    ('---\ntitle: x\n...\n{{ thing().size | reads("9 B") }}', [(4, 25, "drift", DRIFT)]),
    ('é × {{ thing().size | reads("9 B") }}', [(1, 29, "drift", DRIFT)]),
    ('{{ thing().size\n | reads(\n"9 B") }}', [(3, 1, "drift", DRIFT)]),
    (
        '{{ thing().size | reads("9 B") }} {{ thing().size | reads("7 B") }}',
        [(1, 25, "drift", DRIFT), (1, 59, "drift", "the page says '7 B', the library '8 B'")],
    ),
    ('a\n\n  {%- set t = thing() -%}\n\n\n{{ t.size | reads("9 B") }}', [(6, 19, "drift", DRIFT)]),
    ('{% raw %}{{ x }}{% endraw %}{{ thing().size | reads("9 B") }}', [(1, 53, "drift", DRIFT)]),
    ('{# c\nc #}{{ thing().size | reads("9 B") }}', [(2, 29, "drift", DRIFT)]),
    ('{% for i in items %}{{ thing().size | reads("9 B") }}{% endfor %}', [(1, 45, "drift", DRIFT)]),
    ('{% if year > 3 %}{{ thing().size | reads("9 B") }}{% endif %}', [(1, 42, "drift", DRIFT)]),
    ('!!! note\n\n    {{ thing().size | reads("9 B") }}', [(3, 29, "drift", DRIFT)]),
    ('| a | {{ thing().size | reads("9 B") }} |', [(1, 31, "drift", DRIFT)]),
    ("{{ thing().size | reads(nine) }}", [(1, 25, "broken", "unknown name 'nine'")]),
    ('{{ (year > 2020) | holds("late") }}', [(1, 26, "false", "'late' does not hold")]),
    ('{{ "3" | cited("paper") }}', [(1, 16, "source", "no source has the key 'paper'")]),
]


@pytest.mark.parametrize(("text", "expected"), PLACES, ids=[r[0] for r in PLACES])
def test_a_finding_points_at_the_text_that_is_wrong(text, expected):
    assert findings(text) == expected


MISTAKES = [
    ("{{ thign().size }}", [(1, 4, "broken", "unknown name 'thign'")]),
    ("{{ thing().sise }}", [(1, 12, "broken", "Thing has no 'sise'")]),
    ("{{ thing(size=0).size + 3 }}", [(1, 4, "broken", "size must be at least 1, got 0")]),
    ("{{ thing(sise=0) }}", [(1, 4, "broken", "thing: thing() got an unexpected keyword argument 'sise' (TypeError)")]),
    ("{{ crash() }}", [(1, 4, "broken", "crash: 'key' (KeyError)")]),
    ("{{ 3 | raeds('3') }}", [(1, 8, "broken", "unknown filter 'raeds'")]),
    ("{{ 3 | reads }}", [(1, 8, "broken", "reads: reads() missing 1 required positional argument: 'text' (TypeError)")]),
    ("{{ 3 | plain }}", [(1, 8, "broken", "plain(3) has no reason")]),
    ("{{ year / 0 }}", [(1, 4, "broken", "division by zero (ZeroDivisionError)")]),
    (
        "{{ thing().size + thing().count }}",
        [(1, 4, "broken", "cannot add size (bytes) and 3 (plain number)")],
    ),
    ("{{ a b }}", [(1, 6, "broken", "expected token ')', got 'b'")]),
    ("x\n{% fro i in items %}", [(2, 4, "broken", "Encountered unknown tag 'fro'.")]),
    ("---\na: 1\n---\n{% if year %}", [(4, 7, "broken", "Unexpected end of template. Jinja was looking for the"
      " following tags: 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.")]),
    ("---\na: 1\n---\nx\n{{ 'open }}", [(5, 1, "broken", "unexpected char \"'\" at 5")]),
    ("a {{ b }", [(1, 1, "broken", "unexpected '}'")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MISTAKES, ids=[r[0] for r in MISTAKES])
def test_a_macro_error_is_reported_at_its_place(text, expected):
    assert findings(text) == expected


def test_all_mistakes_of_a_page_are_found_in_one_run():
    text = dedent(
        """\
        ---
        title: many
        ---
        {{ thign() }} and {{ year / 0 }} and {{ thing().size | reads("9 B") }}
        {% set t = thing(size=0) %}{{ t.size | reads("9 B") }} {{ t.size + 3 > t.fits(2)[0] }}
        {{ thing().size + 4 }} and {{ (year < 3) | holds("early") }}
        {{ thing().size | reads("9 B") }}
        """
    )
    assert [(line, column, code) for line, column, code, _ in findings(text)] == [
        (4, 4, "broken"),
        (4, 22, "broken"),
        (4, 62, "drift"),
        (5, 12, "broken"),
        (6, 4, "broken"),
        (6, 50, "false"),
        (7, 25, "drift"),
    ]


def test_an_id_that_jinja_takes_for_a_comment_says_how_to_write_it():
    (found,) = render(Page("p.md", "## Heading {#id}\n"), NAMES).findings
    assert (found.line, found.message) == (1, "Missing end of comment tag")
    assert found.mend == "{# begins a comment of Jinja's: write a heading's id with a blank, { #id }"


def test_a_name_that_is_close_is_suggested():
    (found,) = render(Page("p.md", "{{ thign() }}"), NAMES).findings
    assert str(found) == "p.md:1:4: broken unknown name 'thign' — did you mean 'thing'?"


def test_a_failed_call_is_shown_where_it_stands_and_the_rest_of_the_page_with_it():
    rendered = render(
        Page("p.md", 'A {{ thing(size=0).size | reads("8 B") }} B {{ thing().size | reads("8 B") }}'), NAMES
    )
    assert rendered.markdown == (
        'A <mark class="finding"> <small>size must be at least 1, got 0</small></mark> '
        'B <data class="value" value="8" title="size &#61; 8 bytes">8 B</data>'
    )


def test_a_page_that_cannot_be_rendered_shows_its_findings_in_place_of_a_traceback():
    rendered = render(Page("p.md", "text {% if %}"), NAMES)
    assert rendered.markdown.startswith("# This page cannot be shown yet\n\n- p.md&#58;1&#58;9&#58; broken")


def test_an_included_file_is_checked_at_its_own_lines():
    loader = jinja2.DictLoader({"part.md": 'one\n{{ thing().size | reads("9 B") }} {{ thign }}'})
    found = render(
        Page("p.md", '{% include "part.md" %}{{ thing().size | reads("9 B") }}'), NAMES, loader
    ).findings
    assert [(f.path, f.line, f.column, f.code) for f in found] == [
        ("p.md", 1, 48, "drift"),
        ("part.md", 2, 25, "drift"),
        ("part.md", 2, 38, "broken"),
    ]


def test_a_missing_include_is_reported():
    assert findings('x\n{% include "part.md" %}', jinja2.DictLoader({})) == [(2, 4, "broken", "part.md")]


@pytest.mark.parametrize(("text", "late"), [("{{ page.title }}", True), ("{% for f in files %}{% endfor %}", True),
                                            ("{{ year }}", False), ("{{ nothing | default(1) }}", False)])  # fmt: skip
def test_a_page_is_late_if_it_uses_what_only_the_generator_knows(text, late):
    assert render(Page("p.md", text), NAMES).is_late is late
    assert {"page", "files", "config"} <= LATE
