"""Numerals planted between ⟦ and ⟧ in whole pages: each is found at its place, and nothing else is.

Every phrase below stands in every construct below, so that what a phrase is does not hang on where it stands.
"""

import ast
import re
import time

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as over
from hypothesis import strategies as st

from ledger.prose.book import Book, Collector, names_of, register
from ledger.traced import given
from ledger.units import BYTES

ENV = Collector(variables={"size": given("size", 71_303_168, dimension=BYTES), "count": 3, "word": "split"})
register(ENV, {"table": lambda: "| a |\n| --- |\n| 12 |"}, sources={})

PHRASES = """
    It runs on ⟦132⟧ of them
    ⟦4,096⟧ rows of ⟦16⟧ ⟦777⟧ and ⟦1’000’000⟧ or ⟦1_024⟧
    from ⟦2⟧–⟦4⟧ up to ⟦10⟧-⟦20⟧ % of it
    within ±⟦3⟧ % and ~⟦5⟧ and ≈⟦7⟧ and ≤ ⟦9⟧ and >⟦8⟧ of it
    about ⟦1e6⟧ and ⟦1.5e-3⟧ and ⟦10^6⟧ and ⟦2^53⟧ and ⟦10⁻³⟧ of them
    it costs $⟦12⟧ or €⟦5⟧ or ⟦7⟧ £ a day
    between $⟦12⟧-$⟦15⟧ a day
    on ⟦2026-11-01⟧ at ⟦12:30⟧ and at ⟦09:30:15⟧
    in ⟦2017⟧ and in the ⟦1990⟧s
    one ⟦1/2⟧ of it and ⟦½⟧ of that and ⟦3⟧:⟦1⟧
    a ⟦4⟧-bit number of ⟦8⟧-byte words, ⟦16⟧-wide and ⟦2⟧-by-⟦4⟧
    is ⟦2⟧x faster, ⟦2⟧× faster, ⟦3.5⟧X faster and ×⟦2⟧ as fast
    a ⟦64⟧KB line, ⟦5⟧us, ⟦3⟧ms, ⟦80⟧GB/s, ⟦100⟧Gb/s, ⟦1.4⟧GHz, ⟦7⟧B, ⟦700⟧W, ⟦4⟧k, ⟦2⟧GiB and ⟦32⟧B/clk
    an ⟦8⟧×H100 box, or ⟦8⟧xH100
    some ⟦12⟧\u202f345 of them
    ⟦.5⟧ of it and -⟦3⟧ and +⟦4⟧ and −⟦5⟧ and ⟦50⟧%
    ⟦16x16⟧ tiles of ⟦1024×1024×64⟧
    some ⟦١٢⟧ and 有⟦12⟧个块 of them
    sub-⟦10⟧ µs and post-⟦2017⟧ work
    n = ⟦1024⟧ and (M ≥ ⟦64⟧, N)
    "⟦12⟧" and '⟦13⟧' and (⟦14⟧) and “⟦15⟧”, ⟦16⟧; ⟦17⟧: ⟦18⟧. ⟦19⟧!
    HBM ⟦3.35⟧ TB/s, and Hopper has it: H100 ⟦80⟧ GB
    On the RTX 4090, ⟦128⟧ SMs
    In Figure 3, ⟦12⟧ blocks
    of ⟦12⟧/s, ⟦12⟧/SM
    is ⟦twice⟧ the traffic, ⟦half⟧ the blocks, ⟦three times⟧ as many
    is ⟦an order of magnitude⟧ more, ⟦two orders of magnitude⟧ less
    is ⟦an order-of-magnitude⟧ gain, ⟦tenfold⟧, ⟦two-fold⟧, ⟦ten-fold⟧
    it ⟦doubles⟧ and ⟦halves⟧ and ⟦tripled⟧ and is ⟦double⟧ the size, more than ⟦double⟧ it
    ⟦a third⟧ of it, ⟦two thirds⟧ of it, ⟦three-quarters⟧ of it, by ⟦a quarter⟧.
    ⟦fifty percent⟧ of it, ⟦a factor of two⟧, ⟦nine out of ten⟧, ⟦one in ten⟧
    cut in ⟦half⟧, ⟦one half⟧ of it, ⟦Twice⟧ that, ⟦a hundred times⟧ that
    **⟦12⟧** and *⟦13⟧* and __⟦14⟧__ and _⟦15⟧_ and ***⟦16⟧***
    [⟦12⟧](https://x.example/34) and [see ⟦twice⟧](a.md#b-5)
    [⟦12⟧ ways](https://x.example/34 "title ⟦56⟧")
    a&nbsp;⟦12⟧&nbsp;MB&#160;of it
    <b>⟦12⟧</b> and <em title="of ⟦13⟧">it</em>
    {{ word }} ⟦12⟧ {{ word }}⟦13⟧
    {% if count %}it is ⟦12⟧{% else %}it is ⟦13⟧{% endif %} of it
    so {%- set x = 3 -%} and ⟦12⟧ {# comment 12 #} of it
    [link ⟦12⟧][ref] of it
    ![alt ⟦12⟧](a12.png "title ⟦13⟧") of it
    `code 12`⟦13⟧ and ``a`12`` and ⟦14⟧`b 15`
    $x_{12}$ and ⟦13⟧ and $12$ of it
    a ⟦12⟧<!-- comment 12 -->and ⟦13⟧ of it
    https://x.example/12/34 and ⟦5⟧ of it
"""
INNOCENT = """
    H200, B200, MI300X, A100-80GB, GB200, L2, fp16, bf16, FP8, e4m3, int4, W4A16, sm_90, sm_90a, m16n8k16
    FlashAttention-2, split-K=8, GPT-4, GPT-3.5, Qwen2.5-72B, Llama-3-70B, x86-64, utf-8, ops.py:12
    RTX 4090, GTX 1080, CUDA 12.4, PEP 8, RFC 9110, ISO 8601, IEEE 754, PCIe 5.0, NVLink 4, cuDNN 9, C++ 17
    Python 3.11, PyTorch 2.4, Llama 3 70B, Llama 70B, Mixtral 8x7B, HTTP 404, version 2, Version 1.2
    Python 3.10 and 3.11, python>=3.11, mkdocs 1.6, v1.2.3, 1.2.3, 192.168.0.1, 2.x
    Figure 3, Figure 3a, Fig. 3, Section 2.1, chapter 4, step 1, Table 2, Eq. (3), equation (4), line 40, page 12
    Figures 3 and 4, lines 10–20, Sections 2, 3 and 4, § 5, #1234, issue 7, No. 5, commit 1234567
    thread 0, block 3, device 1, port 8000, exit code 2, Appendix 3
    n=1024, K=3, n-1, k+1, x2, x[3], 0x1F, 0x10, 0b101, 3D, 2-D, 1st, 2nd, 3rd, 12th, 42nd
    550e8400-e29b-41d4-a716-446655440000, 3f2a9c1, deadbeef12, 12-intro.md, 01-intro.md, a/12/b
    https://x.example/12/34?a=5&b=6#c7, www.x.example/12, /usr/lib/3, docs/v2/3, a@b2.example, <http://x.example/12>
    3️⃣ and :one2: and :100: and :material-numeric-1-box: &#160; &frac12; &#x1F600;
    `12` and `` 12 ` 13 `` and <kbd>F5</kbd> <kbd>12</kbd> <code>12</code> <samp>12</samp>
    $x^{12}$ and $12$ and \\(12\\) of it
    <!-- comment 12 --> and {# comment 12 #} of it
    <span id="a-12" data-x="12" style="width: 12px" class="c 12">x</span> <a href="12.html" rel=12>y</a>
    [text](https://x.example/12) and [text](12.md#h-34) and [text][12] and [12] and [text][ref]
    ![alt](a-12.png) and ![alt](12.png){ width=300 } and ![alt](12.png){ .c12 #id-12 height="12" }
    [![alt](12.png)](34.md) of it
    {{ "2017" | plain("year") }} and {{ (size > 12) | holds("more") }} and {{ count | reads("3 items") }}
    {% set x = 3 %}{% for i in range(3) %}x{% endfor %}{% if count > 12 %}a{% endif %}
    {% raw %}`{{ 12 }}`{% endraw %} of it
    so {%- if count == 12 -%} b {%- endif -%} of it
    half precision, half-precision, half-open, half of_ behalf, the third kernel, double precision, sometimes
    double-buffered, a third option, a quarter-finished, the second half, the first half, halfway, two options
    one kernel, four lines, twelve kernels, ten of them, at all times, the quarter, doublet, triplet
    ①②③ and x₁ and H₂O and cm² of it
    a_12_b, __a12__, snake_3_case, f32x4, x.y3, a.b.3, obj.3
"""
INNOCENT = INNOCENT.replace("half of_ ", "")

CONSTRUCTS = {
    "a paragraph": "@ so.",
    "a line within a paragraph": "so it is\n@\nso.",
    "a heading": "## So @",
    "a heading with an id": "## So @ { #h-12 }",
    "a closed heading": "### So @ ###",
    "a setext heading": "So @\n----",
    "a quote": "> so @",
    "a quote without a blank": ">so\n>@\n> so",
    "a nested quote": "> > so\n> > @",
    "a list item": "- so\n- @",
    "a list item with a star": "* @",
    "a numbered item": "1. so\n2. @",
    "a late numbered item": "9.  so\n10. @\n11. so",
    "a nested item": "- so\n    - so @\n        1. so\n        2. so @",
    "a paragraph of an item": "1. so\n\n    so @",
    "a definition": "Term\n:   @",
    "a table": "| a | b |\n| --- | ---: |\n| a \\| b | @ |",
    "a table's head": "| a | so @ |\n|:---|:---:|\n| a | b |",
    "a table without edges": "a | b\n--- | ---\nx | so @",
    "an admonition": "!!! note\n    so @",
    "a title of an admonition's body": '!!! warning "So"\n\n    so\n\n    - so @',
    "a nested admonition": '!!! note\n\n    ??? tip "So"\n\n        so @',
    "an open fold": '???+ tip "So"\n    so @',
    "a tab": '=== "So"\n\n    so @\n\n=== "Two"\n\n    so @',
    "a table in a tab": '=== "So"\n\n    | a | b |\n    |---|---|\n    | a | @ |',
    "raw HTML": "<div>\n<p>so @</p>\n</div>",
    "Markdown in HTML": '<div markdown="1">\nso @\n</div>',
    "a caption": '<figure markdown="span">\n  ![so](a12.png){ width="300" }\n  <figcaption>so @</figcaption>\n</figure>',
    "behind a fence": "```python\nx = 12\n```\n\nso @",
    "between tags": "{% if count %}\nso @\n{% endif %}",
    "in a loop": "{% for i in [1, 2] -%}\nso @\n{%- endfor %}",
    "in a macro": "{% macro m(x=12) %}so @{% endmacro %}",
}
# What Markdown does not see inside raw HTML or a macro's text, a phrase need not be innocent of.
UNREAD_IN = {"raw HTML", "a caption"}
IS_MARKDOWN = re.compile(r"[`\[$*_]")

PAGES = [
    ("a numeral at the start of a line is none of a list", "It came out in\n⟦1990⟧. A year\n⟦12⟧. so\n⟦7⟧) so."),
    ("a year that opens a paragraph", "⟦1990⟧. A year."),
    ("an escaped dot", "⟦1990⟧\\. A year."),
    ("a list without a blank line ahead", "Steps:\n1. one\n2. two\n3. three ⟦12⟧"),
    ("a list with parentheses", "1) one\n2) two ⟦12⟧\n\nso\n\n3) x"),
    ("a list behind a heading", "# So\n1. one\n2. two"),
    ("a list in an admonition", "!!! note\n    1. one\n    2. two ⟦12⟧"),
    ("a list in a quote", "> 1. one\n> 2. two ⟦12⟧"),
    ("a list in a list", "1. one\n    1. two\n    2. three ⟦12⟧\n10. ten"),
    ("a lazy list", "1. one\n1. two\n1. three"),
    ("a list in a definition", "Term\n:   1. one\n    2. two ⟦12⟧"),
    ("a numbered heading", "# 1. So\n\n## 2.1 Some ⟦12⟧\n\n### 2.1. So"),
    ("a heading of a quantity", "# ⟦12⟧ ways\n\n## ⟦2.5⟧ GHz\n\n### ⟦3⟧ options"),
    ("admonition titles", '!!! note "Title ⟦12⟧"\n    so\n\n??? tip "⟦12⟧"\n    so\n\n!!! note inline end "⟦13⟧"\n    so'),
    ("tab labels", '=== "Tab ⟦12⟧"\n\n    so\n\n=== "⟦twice⟧"\n\n    so'),
    ("a footnote", "so[^1] and so[^n-2].\n\n[^1]: Foot ⟦12⟧.\n[^n-2]: Foot\n    more ⟦13⟧"),
    ("an abbreviation", "The HBM is so.\n\n*[HBM]: High bandwidth memory, ⟦12⟧ of it"),
    ("a link by reference", 'See [this ⟦12⟧][1], [that][b 2] and [2].\n\n[1]: http://x.example/12 "title ⟦13⟧"\n[b 2]: y-3.md\n[2]: z.md'),
    ("front matter", "---\ntitle: A ⟦12⟧\ndescription: >-\n  About ⟦34⟧ and ⟦twice⟧ that\nicon: material/12\nweight: 3\ntags: [a 12]\n---\nso ⟦5⟧"),
    ("a title in quotes", '---\ntitle: "RTX 4090, ⟦12⟧ ways"\n---\n'),
    ("a title that is a number", "---\ntitle: ⟦12⟧\n---\n"),
    ("a diagram", "```mermaid\n%% so 12\ngraph LR\n  A1[⟦67⟧ MB] -->|⟦12⟧ times| B2(so)\n  style A1 fill:#333,stroke-width:4px\n  linkStyle 0 stroke:#fff,stroke-width:2px\n```"),
    ("a diagram in a tab", '=== "So"\n\n    ```mermaid\n    graph LR\n      A[⟦twice⟧] --> B\n    ```'),
    ("a fence's title", '```python title="⟦12⟧ ways" hl_lines="1 2" linenums="1"\nx = 12\n```'),
    ("a fence in a tab", '=== "So"\n\n    ```python hl_lines="1"\n    x = 12\n    ```\n\n    so ⟦12⟧'),
    ("a fence in a fence", "````python\n```\n12\n```\nx = 12\n````\n\n⟦12⟧"),
    ("a fence of tildes", "~~~python\n12\n```\n12\n~~~\n⟦12⟧"),
    ("inline code that looks like a fence", "```code 12``` and ⟦12⟧"),
    ("indented code", "so\n\n    x = 12\n\nso ⟦12⟧"),
    ("a multi-line comment", "<!-- so\n12\n\n13 --> \n\nso ⟦12⟧"),
    ("raw HTML with code", "<div>\n<pre>12</pre>\n<p>⟦12⟧</p>\n</div>\n\n<script>x = 12</script>\n\n<style>a { width: 12px }</style>"),
    ("HTML table", "<table><caption>so ⟦12⟧</caption><tr><td colspan=2 rowspan='3'>⟦13⟧</td><th>-⟦3⟧</th></tr></table>"),
    ("HTML image", '<img src="a12.png" width="300" height=200 alt="of ⟦12⟧" title="of ⟦13⟧">'),
    ("folded HTML", "<details><summary>so ⟦12⟧</summary>\n\nso ⟦13⟧\n\n</details>"),
    ("a table with a loop", "| a | b |\n|---|---|\n{% for i in [1, 2] -%}\n| {{ i }} | ⟦12⟧ |\n{% endfor %}"),
    ("tables of many shapes", "| a ⟦1⟧ | b |\n|:-:|--:|\n| `12` | ⟦12⟧ |\n| `a|12` | **⟦3⟧** |\n| [x](y12) | ⟦half⟧ |"),
    ("a raw block", "{% raw %}⟦12⟧ {{ 12 }}{% endraw %}".replace("{{ 12 }}", "`{{ 12 }}`")),
    ("white space control", "so {%- if count %} ⟦12⟧ {%- endif -%}   ⟦13⟧\n{{- word -}}\n⟦14⟧"),
    ("a set block", "{% set x %}so ⟦12⟧{% endset %}{{ x }}"),
    ("text behind tags of several lines", "{{\n  word\n}} ⟦12⟧ {%\n if count\n%}⟦13⟧{% endif %}\n⟦14⟧"),
    ("a broken tag", "so {{ nothing }} ⟦12⟧"),
    ("an output of a table", "{{ table() }}\n\nso ⟦12⟧"),
    ("a snippet and a reference", '--8<-- "a-12.md"\n\n::: ledger.cli\n    options:\n      heading_level: 3\n\nso ⟦12⟧'),
    ("a ratio over two lines", "is an\norder of magnitude and ⟦three\ntimes⟧ so\n\n> is ⟦three\n> times⟧ so".replace("an\norder of magnitude", "⟦an\norder of magnitude⟧")),
    ("a ratio in two paragraphs", "of three\n\ntimes out"),
    ("marks within a ratio", "is **⟦three** times⟧ so"),
    ("an emoji beside a time", "at ⟦12:30:45⟧ and ⟦3⟧:⟦1⟧:⟦2⟧ :smile: :100:"),
    ("characters of the planes that marks use", "\U000f0000 `12` ⟦12⟧ \ue000 \U0010fffd ⟦13⟧"),
    ("a byte order mark", "\ufeffso ⟦12⟧"),
    ("wide characters", "é – 🙂 漢字 ⟦12⟧"),
    ("tabs", "so\t⟦12⟧\n\n-\tso ⟦13⟧"),
    ("lines of Windows", "so ⟦12⟧\r\nso ⟦13⟧\r\n"),
    ("form feeds and other separators", "so\x0c ⟦12⟧ \u2028 ⟦13⟧ \x85 ⟦14⟧"),
    ("an empty page", ""),
    ("a page of white space", " \n\t\n"),
    ("an unclosed comment", "<!-- so"),
    ("money and formulas", "$⟦12⟧ and $⟦13⟧ are not $x + 12$ nor\n\n$$\n12\n$$"),
]  # fmt: skip

MARKS = re.compile("[⟦⟧]")


def plain_and_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A page without the marks, and line and column of what they enclose."""
    places = []
    for match in re.finditer("⟦", text):
        before = MARKS.sub("", text[: match.start()]).replace("\r\n", "\n").removeprefix("\ufeff")
        places.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
    return MARKS.sub("", text), places


def typed(tmp_path, text: str) -> list[tuple[int, int, str]]:
    """Line, column and message of what is typed on a page."""
    page = tmp_path / "p.md"
    page.write_text(text, newline="")
    findings = Book(root=tmp_path, names=names_of(ENV)).check([page])
    return [(f.line, f.column, f.message) for f in findings if f.code == "typed"]


def lines_of(table: str) -> list[str]:
    return [line.strip() for line in table.strip().split("\n")]


def wrong(tmp_path, text: str) -> list[str]:
    """What is missed and what is reported for nothing, each with its line."""
    page, places = plain_and_places(text)
    found = typed(tmp_path, page)
    lines = page.split("\n")
    missed = [f"missed {p}: {lines[p[0] - 1]}" for p in places if p not in {f[:2] for f in found}]
    return missed + [
        f"reported {f[2]} at {f[:2]}: {lines[f[0] - 1]}" for f in found if f[:2] not in set(places)
    ]


@pytest.mark.parametrize("phrase", [*lines_of(PHRASES), *lines_of(INNOCENT)])
def test_a_phrase_in_a_sentence(tmp_path, phrase):
    assert wrong(tmp_path, f"So {phrase} so.\n\n{phrase}\n\n[ref]: https://x.example/12") == []


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_every_phrase_in_every_construct(tmp_path, construct):
    phrases = [*lines_of(PHRASES), *lines_of(INNOCENT)]
    if construct in UNREAD_IN:
        phrases = [phrase for phrase in phrases if not IS_MARKDOWN.search(phrase)]
    pieces = [CONSTRUCTS[construct].replace("@", phrase) for phrase in phrases]
    assert wrong(tmp_path, "\n\nx\n\n".join(pieces) + "\n\n[ref]: https://x.example/12") == []


@pytest.mark.parametrize(("name", "text"), PAGES, ids=[row[0] for row in PAGES])
def test_a_page(tmp_path, name, text):
    assert wrong(tmp_path, text) == []


PIECES = st.sampled_from([*"<>[](){}!#*_`~$|:&\\\"'=-+^.,;/ \n\t1Aé\ue000\x02\x03\U000f0000", "\n\n", "\n    ", "```", "{{ ", " }}",
                          "{% if x %}", "{% endif %}", "{#", "#}", "{%- raw %}", "<!--", "-->", "<![CDATA[", "<div>", "</p>", "<code>",
                          "!!! a", '=== "b"', "[^1]:", "*[A]:", "1. ", "| 1 |", "|---|", "---\n", "twice", "12"])  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@over(text=st.lists(PIECES, max_size=60).map("".join))
def test_no_text_breaks_the_scan_and_each_finding_stands_at_its_words(tmp_path, text):
    page = tmp_path / "p.md"
    page.write_text(text, newline="")
    lines = page.read_text(encoding="utf-8-sig").split("\n")
    for line, column, message in typed(tmp_path, text):
        said = ast.literal_eval(message.removeprefix("nobody vouches for "))
        assert "\n".join(lines[line - 1 :])[column - 1 :].startswith(said)


@pytest.mark.parametrize(
    "piece", ["12 kernels and twice that. ", "| 12 ", "x_12 ", "12,", "* 12 ", "`12` ", "{{ word }} 12 "]
)
def test_a_long_line_takes_no_more_than_its_length_asks(tmp_path, piece):
    start = time.process_time()
    typed(tmp_path, piece * (10_000 // len(piece)))
    assert time.process_time() - start < 5  # a quadratic scan takes minutes
