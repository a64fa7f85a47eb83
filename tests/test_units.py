"""Readings, precision and rounding: each edge has a row on it and a row past it."""

from fractions import Fraction

import pytest

from ledger.errors import BadValue, DimensionError
from ledger.units import (
    BLOCKS,
    BYTES,
    BYTES_PER_US,
    GBS,
    KIB,
    PLAIN,
    SMS,
    US,
    WAVES,
    Dimension,
    read,
    round_to,
    show,
)

ACCEPTED = [
    # text, dimension, values it accepts, values it does not
    ("67.1 MB", BYTES, [67_050_000, 67_108_864, 67_150_000], [67_049_999, 67_150_001]),
    ("about 67 MB", BYTES, [66_500_000, 67_500_000], [66_499_999, 67_500_001]),
    ("67 MB", BYTES, [67_108_864], [67_500_001]),
    ("104 KB", BYTES, [104 * 1024], [104_000 - 600]),
    ("104 kB", BYTES, [104_000], [104 * 1024]),
    ("104.0 KiB", BYTES, [104 * 1024, 104 * 1024 + 51], [104 * 1024 + 52]),
    ("64 MiB", BYTES, [64 * 2**20], [64 * 10**6]),
    ("1.5 GiB", BYTES, [3 * 2**29], [15 * 10**8]),
    ("2.00 TB", BYTES, [2 * 10**12], [2 * 2**40]),
    ("64 blocks", BLOCKS, [64], [63, 65]),
    ("1 block", BLOCKS, [1], [2]),
    ("132 SMs", SMS, [132], [131, 133]),
    ("2,048 blocks", BLOCKS, [2048], [2047]),
    ("2 048 blocks", BLOCKS, [2048], [2047]),
    ("14.91 µs", US, [Fraction("14.905"), 14.91, Fraction("14.915")], [14.9049, 14.9151]),
    ("14.91 us", US, [14.91], [14.93]),
    ("4,502.4 GB/s", GBS, [4502.4], [4502.5]),
    ("4502.4 GB/s", BYTES_PER_US, [4_502_400], [4_502_500]),
    ("about 4,500 GB/s", GBS, [4450, 4502.4, 4550], [4449, 4551]),
    ("4,500 GB/s", GBS, [4500, 4500.5], [4502.4]),
    ("about 100 blocks", BLOCKS, [95, 105], [94, 106]),
    ("about 60 blocks", BLOCKS, [60], [61]),
    ("228 KiB", KIB, [228], [227]),
    ("15.5 waves", WAVES, [15.5, 15.51], [15.6]),
    ("0.1 %", PLAIN, [0.001, 0.0010], [0.0016]),
    ("-2.1 MB", BYTES, [-2_097_152], [2_097_152]),
    ("−2.1 MB", BYTES, [-2_097_152], [2_097_152]),
    ("+2.1 MB", BYTES, [2_097_152], [-2_097_152]),
    ("17×", PLAIN, [17], [18]),
    ("8 splits", PLAIN, [8], [9]),
    ("eight splits", PLAIN, [8], [9]),
    ("Two launches", PLAIN, [2], [3]),
    ("0", PLAIN, [0], [1]),
]


@pytest.mark.parametrize(("text", "dimension", "good", "bad"), ACCEPTED, ids=[r[0] for r in ACCEPTED])
def test_a_reading_accepts_the_value_at_the_precision_that_was_written(text, dimension, good, bad):
    reading = read(text, dimension)
    assert [v for v in good if not reading.accepts(v, dimension)] == []
    assert [v for v in bad if reading.accepts(v, dimension)] == []


SHOWN = [
    ("67.1 MB", BYTES, 71_303_168, "71.3 MB"),
    ("67.1 MB", BYTES, 67_149_999, "67.1 MB"),
    ("about 67 MB", BYTES, 71_303_168, "about 71 MB"),
    ("104 KB", BYTES, 16384, "16 KB"),
    ("64 blocks", BLOCKS, 2048, "2,048 blocks"),
    ("2 048 blocks", BLOCKS, 16384, "16 384 blocks"),
    ("2048 blocks", BLOCKS, 16384, "16384 blocks"),
    ("14.91 µs", US, 7.455, "7.46 µs"),
    ("+67.1 MB", BYTES, 33_554_432, "+33.6 MB"),
    ("+67.1 MB", BYTES, -33_554_432, "-33.6 MB"),
    ("0.1 %", PLAIN, 0.0024, "0.2 %"),
    ("eight splits", PLAIN, 4, "four splits"),
    ("Eight splits", PLAIN, 4, "Four splits"),
    ("eight splits", PLAIN, 21, "21 splits"),
    ("only 64 blocks", BLOCKS, 128, "only 128 blocks"),
]


@pytest.mark.parametrize(
    ("text", "dimension", "value", "shown"), SHOWN, ids=[f"{r[0]} {r[2]}" for r in SHOWN]
)
def test_a_value_is_shown_as_its_reading_was_written(text, dimension, value, shown):
    assert read(text, dimension).show(value, dimension) == shown


@pytest.mark.parametrize("text", ["", "many", "MB", "64 of 132 SMs", "1-2 blocks", "1.2.3 MB"])
def test_a_text_without_exactly_one_number_is_refused(text):
    with pytest.raises(BadValue, match="must be one number with its unit"):
        read(text, BYTES)


WRONG_UNITS = [
    ("67.1 µs", BYTES, "'67.1 µs' reads a value in µs, but the value is a value in bytes"),
    ("67.1", BYTES, "has no unit of a value in bytes; known: B, kB, KB"),
    ("64 splits", BLOCKS, "has no unit of a value in blocks; known: block, blocks"),
    ("67 MB", PLAIN, "'67 MB' reads a value in bytes, but the value is a plain number"),
    ("4 GB/s", BYTES, "reads a value in bytes/µs, but the value is a value in bytes"),
]


@pytest.mark.parametrize(("text", "dimension", "message"), WRONG_UNITS, ids=[r[0] for r in WRONG_UNITS])
def test_a_reading_in_the_wrong_unit_says_both(text, dimension, message):
    with pytest.raises(DimensionError) as raised:
        read(text, dimension)
    assert message in str(raised.value)


def test_a_dimension_is_written_with_what_stands_over_and_under():
    assert [str(d) for d in (PLAIN, BYTES, BYTES_PER_US, PLAIN / US, BYTES * BYTES / US)] == [
        "plain number",
        "bytes",
        "bytes/µs",
        "1/µs",
        "bytes^2/µs",
    ]
    assert BYTES / BYTES == PLAIN == Dimension()


ROUNDED = [
    (Fraction(1, 4), 1, "", "0.2"),
    (Fraction(3, 4), 1, "", "0.8"),
    (0.25, 1, "", "0.2"),
    (Fraction(-1, 20), 1, "", "0.0"),
    (-0.15, 1, "", "-0.1"),
    (999_950, 0, ",", "999,950"),
    (16_777_216, 0, ",", "16,777,216"),
    (2.5, 0, "", "2"),
    (3.5, 0, "", "4"),
]


@pytest.mark.parametrize(("value", "decimals", "grouping", "text"), ROUNDED)
def test_rounding_sends_exact_ties_to_even(value, decimals, grouping, text):
    assert round_to(value, decimals, grouping) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (16_777_216, "16,777,216"),
        (4502.4, "4,502.4"),
        (2.0, "2"),
        (0.0001234567, "0.000123457"),
    ],
)
def test_show_writes_a_number_in_full(value, text):
    assert show(value) == text
