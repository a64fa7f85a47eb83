"""The values of a sweep as they are written: each form, each edge, each mistake."""

import numpy
import pytest

from ledger.decisions import question
from ledger.errors import BadValue, UnknownName
from ledger.span import ALLOWED, span, swept

MOST = 2**53

READ = [
    ("1..4", [1, 2, 3, 4]),
    ("3..3", [3]),
    ("1..10:4", [1, 5, 9]),
    ("1..9:4", [1, 5, 9]),
    ("5..6:9", [5]),
    ("1..65536*16", [1, 16, 256, 4096, 65536]),
    ("3..25*2", [3, 6, 12, 24]),
    ("1,2,4,8", [1, 2, 4, 8]),
    ("8, 4", [8, 4]),
    ("7", [7]),
    (" 1 .. 3 ", [1, 2, 3]),
    (f"{MOST}", [MOST]),
    ([2, 3.0], [2, 3]),
    (range(4, 0, -2), [4, 2]),
    (numpy.array([1, 9]), [1, 9]),
]


@pytest.mark.parametrize(("text", "values"), READ, ids=[str(r[0]) for r in READ])
def test_a_span_is_its_values_in_order(text, values):
    found = span("n", text)
    assert list(found) == values
    assert all(type(value) is int for value in found)


BAD_TEXTS = ["", "1..", "..4", "4..1", "0..4", "1..4:0", "1..4*1", "1..4*0", "1..4:1:1", "1;2", "a", "-1..4", "1.5", "1,,2", f"1..{MOST + 1}"]  # fmt: skip


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_a_text_that_is_no_span_says_what_is_allowed(text):
    with pytest.raises(BadValue) as raised:
        span("split-k: split", text)
    assert str(raised.value) == f"split-k: split must be {ALLOWED}, got {text!r}"


BAD_VALUES = [
    ("0,1", f"n must be a whole number from 1 to 2^53 ({MOST}), got 0"),
    (f"1,{MOST + 1}", f"n must be a whole number from 1 to 2^53 ({MOST}), got {MOST + 1}"),
    ([1, 2.5], f"n must be a whole number from 1 to 2^53 ({MOST}), got 2.5"),
    (range(3), f"n must be a whole number from 1 to 2^53 ({MOST}), got 0"),
    (range(1, MOST + 2), f"n must be a whole number from 1 to 2^53 ({MOST}), got {MOST + 1}"),
    ([], "n must be at least one value, got none"),
    (range(5, 5), "n must be at least one value, got none"),
]


@pytest.mark.parametrize(("values", "message"), BAD_VALUES, ids=[r[1] for r in BAD_VALUES])
def test_each_value_is_checked_as_a_single_one_is(values, message):
    with pytest.raises(BadValue) as raised:
        span("n", values)
    assert str(raised.value) == message


def test_a_long_range_takes_no_memory():
    assert len(span("n", f"1..{MOST}")) == MOST


def test_what_is_not_swept_is_given_or_the_reference_s():
    axes, fixed = swept(question("split-k"), {"split": "1..8"}, {"m": 7})
    assert axes == {"split": range(1, 9)}
    assert fixed == {"m": 7, "n": 1024, "k": 16384, "tile": 128, "accumulator_bytes": 4, "element_bytes": 2}


MISTAKES = [
    ({"splits": "1..8"}, {}, UnknownName, "unknown parameter of split-k 'splits': did you mean 'split'"),
    ({"split": "1..8"}, {"ms": 1}, UnknownName, "unknown parameter of split-k 'ms'"),
    ({"split": "1..8"}, {"split": 1}, BadValue, "split-k: split must be either swept or given, got both"),
    ({"m": "1..8"}, {"split": 9, "k": 8}, BadValue, "split-k: split must be at most k = 8, got 9"),
    ({"split": "0,1"}, {}, BadValue, "split-k: split must be a whole number from 1 to 2^53"),
]


@pytest.mark.parametrize(("over", "shape", "error", "message"), MISTAKES, ids=[r[3] for r in MISTAKES])
def test_mistakes_in_a_sweep_are_those_of_one_decision(over, shape, error, message):
    with pytest.raises(error) as raised:
        swept(question("split-k"), over, shape)
    assert str(raised.value).startswith(message)
