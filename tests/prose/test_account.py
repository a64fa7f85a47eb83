"""Every numeral, value and fence accounted for: what is reported in each construct, and what is not."""

import pytest

from ledger.prose.book import Book, Collector, names_of, register
from ledger.prose.finding import CODES, EXAMPLES, explain
from ledger.prose.numeral import numerals, ratios
from ledger.traced import given
from ledger.units import BYTES

ENV = Collector(variables={"size": given("size", 71_303_168, dimension=BYTES), "count": 3, "word": "split"})
register(ENV, {"table": lambda: "| a |\n| --- |\n| 12 |"}, sources={})


def check(tmp_path, text: str) -> list[tuple[int, int, str]]:
    """Line, column and code of each finding of a page."""
    page = tmp_path / "p.md"
    page.write_text(text)
    found = Book(root=tmp_path, names=names_of(ENV)).check([page])
    return [(f.line, f.column, f.code) for f in found]


NUMERALS = [
    ("On 132 SMs", ["132"]),
    ("4,096 tokens and 16 777 216 bytes", ["4,096", "16", "777", "216"]),
    ("67.1 MB, 67MB, 3.5×, 10x, 50 %, 50%, −3 and +4", ["67.1", "67", "3.5", "10", "50", "50", "3", "4"]),
    ("a 16x16 tile of 1024×1024×64", ["16x16", "1024×1024×64"]),
    ("2-4 splits, 1/2, 3:1", ["2", "4", "1/2", "3", "1"]),
    ("in 2017", ["2017"]),
    ("H200, fp16, sm_90, L2, B200, MI300X, A100-80GB, 3D", []),
    ("FlashAttention-2, split-K=8, GPT-4, ops.py:12, x86-64, utf-8", []),
    ("RTX 4090, CUDA 12.4, Python 3.11, version 2, v1.2.3, PEP 8, RFC 9110", []),
    ("Figure 3, Section 2.1, chapter 4, step 1, #1234, issue 7, line 40", []),
    ("https://x.example/12/34 and /usr/lib/3 and a@b2.example", []),
]


@pytest.mark.parametrize(("text", "expected"), NUMERALS, ids=[r[0] for r in NUMERALS])
def test_numerals_are_told_from_the_digits_of_names(text, expected):
    assert [each.text for each in numerals(text)] == expected


RATIOS = [
    ("twice the traffic", ["twice"]),
    ("Half the blocks, halves it", ["Half", "halves"]),
    (
        "ten times as many, several times, three-fold, tenfold",
        ["ten times", "several times", "three-fold", "tenfold"],
    ),
    ("an order of magnitude, two orders of magnitude", ["an order of magnitude", "two orders of magnitude"]),
    ("a third of it, two thirds of the bytes, a quarter of", ["a third", "two thirds", "a quarter"]),
    ("it doubles; double the bytes", ["doubles", "double"]),
    ("half precision, half-precision, behalf, the third line, double precision, sometimes", []),
    ("two options, one kernel, four lines", []),
]


@pytest.mark.parametrize(("text", "expected"), RATIOS, ids=[r[0] for r in RATIOS])
def test_words_that_state_a_ratio_are_claims(text, expected):
    assert [each.text for each in ratios(text)] == expected


PLANTED = [
    ("# A 67 MB heading { #h-2 }", [(1, 5)]),
    ("Text 12 and **34**, *56*, ~~78~~.", [(1, 6), (1, 15), (1, 22), (1, 29)]),
    ("> quoted 12\n> and 34", [(1, 10), (2, 7)]),
    ("- item 12\n    - deeper 34", [(1, 8), (2, 14)]),
    ("| a 12 | b |\n| --- | ---: |\n| 34 | x |", [(1, 5), (3, 3)]),
    ("[link 12](http://x.example/34)", [(1, 7)]),
    ("![alt 12](a34.png)", [(1, 7)]),
    ('![alt](a.png "title 12")', [(1, 21)]),
    ('!!! note "Title 12"\n    Body 34.', [(1, 17), (2, 10)]),
    ('??? tip "Folded 12"\n\n    Body 34.', [(1, 17), (3, 10)]),
    ('=== "Tab 12"\n\n    Inside 34.', [(1, 10), (3, 12)]),
    ('!!! note\n\n    !!! tip "Inner 12"\n        Body 34.', [(3, 20), (4, 14)]),
    ("A note[^1].\n\n[^1]: Foot 12.", [(3, 12)]),
    ("Term\n:   Meaning 12", [(2, 13)]),
    ("*[HBM]: High 12\n\nHBM", [(1, 14)]),
    ("```mermaid\ngraph LR\n  A[67 MB] --> B\n```", [(3, 5)]),
    ("---\ntitle: A 12\ndescription: About 34.\n---\ntext", [(2, 10), (3, 20)]),
    ("{% if count %}It is 12{% endif %}{% for i in [1, 2] %} 34{% endfor %}", [(1, 21), (1, 56)]),
    ("{% set x = 3 %}\n{{ count | reads('3 x') }} and 12", [(2, 32)]),
    ("<figure><figcaption>Caption 12</figcaption></figure>", [(1, 29)]),
    ('<p title="of 12">in 34</p>', [(1, 14), (1, 21)]),
    ("é – 12", [(1, 5)]),
    ("It is twice the traffic.", [(1, 7)]),
    ("1\\. not a list 12", [(1, 1), (1, 16)]),
]


@pytest.mark.parametrize(("text", "places"), PLANTED, ids=[r[0] for r in PLANTED])
def test_a_typed_numeral_is_found_in_each_construct_at_its_place(tmp_path, text, places):
    assert check(tmp_path, text) == [(line, column, "typed") for line, column in places]


INNOCENT = [
    "1. first\n2. second\n10. tenth",
    "`code 12` and ``more 34``",
    "    indented = 12",
    "<!-- comment 12 -->",
    "{# comment 12 #}",
    "[text](http://x.example/12 )",
    "<http://x.example/12>",
    "[text][1]\n\n[1]: http://x.example/12",
    "a note[^12].\n\n[^12]: text",
    "## Heading { #id-12 }",
    "$x^{12}$ and $$y_3$$",
    "<kbd>F5</kbd> <code>12</code> <span style='width: 12px'>x</span>",
    ":material-numeric-1-box: &#160; &frac12;",
    "| a | b |\n|---|---|\n| {{ count }} | {{ size }} |",
    "{{ table() }}",
    "{% set t = 12 %}{{ word }}",
    "{% raw %}`{{ 12 }}`{% endraw %}",
    '{{ count | reads("3 items") }} {{ (size > 12) | holds("more") }} {{ "2017" | plain("year") }}',
    "---\nicon: material/12\nweight: 3\n---\ntext",
    "<!-- not run: why -->\n```text\n12\n```",
    "```python\nx = 12\n```",
    '```python title="x.py" linenums="1"\nx = 12\n\n\ny = 13\n```',
    "```pycon\n>>> 12\n12\n```",
    "```console\n$ ledger --sm-count 12\n```",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_no_reader_takes_for_a_number_of_the_book_is_left_alone(tmp_path, text):
    assert check(tmp_path, text) == []


UNREAD = [
    ("It is {{ size }} big.", [(1, 7, "unread")]),
    ("It is {{ size / 2 }} big.", [(1, 7, "unread")]),
    ('It is {{ "%.1f" | format(size.value) }} big.', [(1, 7, "unread")]),
    ("# {{ count }} things", [(1, 3, "unread")]),
    ("- {{ count }} things", [(1, 3, "unread")]),
    ("{% for i in [1, 2] %}{{ i }} {% endfor %}", [(1, 22, "unread")]),
    ("It is {{ size > 3 }}.", []),
    ("It is {{ word }}.", []),
    ("`{{ count }}`", []),
]


@pytest.mark.parametrize(("text", "expected"), UNREAD, ids=[r[0] for r in UNREAD])
def test_a_value_in_a_sentence_needs_its_reading(tmp_path, text, expected):
    assert check(tmp_path, text) == expected


UNTESTED = [
    ("```sh\nls\n```", [(1, 1, "untested")]),
    ("x\n\n```\nls\n```", [(3, 1, "untested")]),
    ("!!! note\n\n    ```yaml\n    a: b\n    ```", [(3, 1, "untested")]),
    ("<!-- not run: -->\n```python\nx\n```", [(2, 1, "untested")]),
    ("```python\nx", [(1, 1, "untested")]),
    ("<!-- not run: needs a GPU -->\n```sh\nls\n```", []),
    ("````markdown\n```sh\nls\n```\n````", [(1, 1, "untested")]),
]


@pytest.mark.parametrize(("text", "expected"), UNTESTED, ids=[r[0] for r in UNTESTED])
def test_a_fence_is_run_or_says_why_not(tmp_path, text, expected):
    assert check(tmp_path, text) == expected


def test_every_code_has_an_example_of_each_kind_and_an_explanation():
    assert set(EXAMPLES) == set(CODES)
    for code in CODES:
        assert explain(code).startswith(f"{code}: {CODES[code]}\n\nwrong\n")


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_wrong_example_of_a_code_has_that_finding_and_the_right_one_has_none(tmp_path, code):
    from ledger.pages import define_names

    env = Collector()
    define_names(env)
    book = Book(root=tmp_path, names=names_of(env))
    for name, text in (("wrong", EXAMPLES[code].wrong), ("right", EXAMPLES[code].right)):
        (tmp_path / f"{name}.md").write_text(text)
    assert [f.code for f in book.check([tmp_path / "wrong.md"])] == [code]
    assert book.check([tmp_path / "right.md"]) == []
