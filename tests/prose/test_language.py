"""What reads, holds, cited and plain make of a value: the finding, and the markup as a whole."""

import pytest

from ledger.prose.language import BrokenCall, cited, declared, holds, reads
from ledger.sources import Source
from ledger.traced import Choice, given
from ledger.units import BYTES

SIZE = given("size", 67_108_864, scope="made", dimension=BYTES)
SOURCES = {"blog": Source(title="A blog", where="blog.example", url="https://blog.example/a?b=c&d")}

READINGS = [
    # value, reading, code, message, mend
    (SIZE, "67.1 MB", "", "", ""),
    (SIZE, "67.2 MB", "drift", "the page says '67.2 MB', the library '67.1 MB'", "write '67.1 MB'"),
    (SIZE, "64.1 MiB", "drift", "the page says '64.1 MiB', the library '64.0 MiB'", "write '64.0 MiB'"),
    (
        SIZE,
        "67 µs",
        "drift",
        "'67 µs' reads a value in µs, but the value is a value in bytes",
        "write the number with its unit, or read another value",
    ),
    (
        SIZE,
        "a lot",
        "drift",
        "reading 'a lot' must be one number with its unit, such as \"67.1 MB\", got that text",
        "write the number with its unit, or read another value",
    ),
    (12, "12 heads", "", "", ""),
    (12.5, "13 heads", "", "", ""),
    (-12, "−12", "", "", ""),
    (12, "13 heads", "drift", "the page says '13 heads', the library '12 heads'", "write '12 heads'"),
    (Choice("NEITHER"), "NEITHER", "", "", ""),
    (
        Choice("split-K=8"),
        "split-K=4",
        "flip",
        "the page says 'split-K=4', the library 'split-K=8'",
        "write 'split-K=8'",
    ),
    ("one block per head", "one  block\nper head", "", "", ""),
    ("H200 SXM", "H100", "drift", "the page says 'H100', the library 'H200 SXM'", "write 'H200 SXM'"),
]


@pytest.mark.parametrize(("value", "text", "code", "message", "mend"), READINGS)
def test_a_reading_beside_its_value(value, text, code, message, mend):
    outcome = reads(value, text)
    assert (outcome.code, outcome.message, outcome.mend) == (code, message, mend)
    assert ("<mark" in outcome.markup) is bool(code)


CLAIMS = [
    (True, "", ""),
    (False, "false", "'at most twice' does not hold"),
    (SIZE > 1, "", ""),
    (SIZE < 10, "false", "'at most twice' does not hold: size < 10 is 67,108,864 < 10"),
    (
        2 * SIZE < SIZE + SIZE,
        "false",
        "'at most twice' does not hold: 2·size < size + size is 134,217,728 < 134,217,728",
    ),
]


@pytest.mark.parametrize(("value", "code", "message"), CLAIMS)
def test_a_claim_beside_its_comparison(value, code, message):
    outcome = holds(value, "at most twice")
    assert (outcome.code, outcome.message) == (code, message)


BROKEN = [
    (lambda: reads(SIZE > 1, "1"), "reads('1') was given a comparison", "use holds for a claim"),
    (lambda: reads([1], "1"), "reads('1') was given a list", "give it a number or a name: d.a.bytes"),
    (lambda: reads(1, 1), "reads was given 1", 'give the reading as text: reads("67.1 MB")'),
    (lambda: holds(3, "few"), "holds('few') was given a int", "give it a comparison: (d.a.grid < 132)"),
    (lambda: holds(True, 3), "holds was given 3", 'give the claim as text: holds("half the traffic")'),
    (lambda: declared("2017"), "plain('2017') has no reason", 'say what it is: {{ "2017" | plain("year") }}'),
    (
        lambda: declared("2017", " "),
        "plain('2017') has no reason",
        'say what it is: {{ "2017" | plain("year") }}',
    ),
]


@pytest.mark.parametrize(("call", "message", "mend"), BROKEN, ids=[r[1] for r in BROKEN])
def test_a_call_that_makes_no_sense_says_what_to_do(call, message, mend):
    with pytest.raises(BrokenCall) as raised:
        call()
    assert (str(raised.value), raised.value.mend) == (message, mend)


def test_a_citation_needs_a_source_that_exists():
    good = cited("1.8×", "blog", SOURCES)
    assert good.code == ""
    assert str(good) == (
        '<a class="cited" href="https&#58;//blog.example/a&#63;b&#61;c&#38;d" title="A blog&#58; blog.example">1.8×</a>'
    )
    near, far = cited("1.8×", "blgo", SOURCES), cited("1.8×", "paper", SOURCES)
    assert (near.code, near.message, near.mend) == ("source", "no source has the key 'blgo'", "write 'blog'")
    assert far.mend == "add it to the sources"


MARKUP = [
    (
        lambda: reads(SIZE, "67.1 MB"),
        '<data class="value" value="67108864" title="size &#61; 67,108,864 bytes">67.1 MB</data>',
    ),
    (lambda: reads(3, "3 <b>"), '<data class="value" value="3">3 &#60;b&#62;</data>'),
    (
        lambda: reads(given("n_b", 3, source="vendor figure, [X]"), "4"),
        '<mark class="finding"><data class="value" value="3" title="n&#95;b &#61; 3; n&#95;b&#58; vendor figure, '
        '&#91;X&#93;">3</data> <small>the page says 4</small></mark>',
    ),
    (lambda: declared("2017", "year"), '<span class="word">2017</span>'),
    (
        lambda: holds(SIZE > 1, "some"),
        '<span class="claim" title="size &#62; 1 &#61; 67,108,864 &#62; 1 &#61; true">some</span>',
    ),
]


@pytest.mark.parametrize(("make", "markup"), MARKUP)
def test_markup_holds_nothing_that_markdown_or_html_could_read(make, markup):
    assert str(make()) == markup
