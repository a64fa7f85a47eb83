"""Traced numbers: they behave as their value, and say how it came about."""

import copy
import json
import math
import pickle

import pytest

from ledger.errors import BadValue, DimensionError
from ledger.traced import (
    Traced,
    ceil_div,
    given,
    in_unit,
    largest,
    named,
    plain,
    smallest,
)
from ledger.units import BLOCKS, BYTES, BYTES_PER_US, PLAIN, SMS, US

N = given("n", 10, scope="made")
M = given("m", 4, scope="made")
SIZE = given("size", 2, dimension=BYTES)
GRID = given("grid", 64, dimension=BLOCKS)
SM = given("sm_count", 132, dimension=SMS)
RATE = given("rate", 5, dimension=BYTES_PER_US)

FORMULAS = [
    # what is computed, value, in symbols, with numbers
    (4 * N * SIZE, 80, "4·n·size", "4 × 10 × 2"),
    (N + M * 2, 18, "n + m·2", "10 + 4 × 2"),
    ((N + M) * 2, 28, "(n + m)·2", "(10 + 4) × 2"),
    (N - (M - 1), 7, "n − (m − 1)", "10 − (4 − 1)"),
    (N - M - 1, 5, "n − m − 1", "10 − 4 − 1"),
    (N / (M / 2), 5.0, "n / (m / 2)", "10 / (4 / 2)"),
    (N / M * 2, 5.0, "n / m·2", "10 / 4 × 2"),
    (100 // N, 10, "⌊100 / n⌋", "⌊100 / 10⌋"),
    (N // M, 2, "⌊n / m⌋", "⌊10 / 4⌋"),
    (ceil_div(N, M), 3, "⌈n / m⌉", "⌈10 / 4⌉"),
    (ceil_div(25, N), 3, "⌈25 / n⌉", "⌈25 / 10⌉"),
    (math.ceil(N / M), 3, "⌈n / m⌉", "⌈10 / 4⌉"),
    (largest(N, M), 10, "max(n, m)", "max(10, 4)"),
    (smallest(N, 3), 3, "min(n, 3)", "min(10, 3)"),
    (1 - N, -9, "1 − n", "1 − 10"),
    (5 + N, 15, "5 + n", "5 + 10"),
    (1 / M, 0.25, "1 / m", "1 / 4"),
    (-N + M, -6, "−n + m", "−10 + 4"),
    (abs(M - N), 6, "|m − n|", "|4 − 10|"),
    (N > M, True, "n > m", "10 > 4"),
    (N + M <= 13, False, "n + m ≤ 13", "14 ≤ 13"),
    (N == 10, True, "n = 10", "10 = 10"),
    (N != 10, False, "n ≠ 10", "10 ≠ 10"),
    ((N > M) & (M > 5), False, "n > m and m > 5", "10 > 4 and 4 > 5"),
    ((N > M) | (M > 5), True, "n > m or m > 5", "10 > 4 or 4 > 5"),
    (~(N > M), False, "not (n > m)", "not (10 > 4)"),
    (sum([N, M]), 14, "n + m", "10 + 4"),
]


@pytest.mark.parametrize(("number", "value", "symbols", "numbers"), FORMULAS, ids=[r[2] for r in FORMULAS])
def test_a_formula_is_kept_in_symbols_and_with_its_numbers(number, value, symbols, numbers):
    assert (plain(number), number.formula(), number.filled()) == (value, symbols, numbers)
    assert type(number.value) is type(value)


DIMENSIONS = [
    (N * SIZE, BYTES),
    (SIZE + SIZE, BYTES),
    (SIZE / SIZE, PLAIN),
    (SIZE / RATE, US),
    (SIZE // N, BYTES),
    (ceil_div(SIZE, SIZE), PLAIN),
    (largest(SIZE, 0), BYTES),
    (smallest(7, GRID), BLOCKS),
    (SIZE + 0, BYTES),
    (-SIZE, BYTES),
    (SIZE > 1, PLAIN),
    (GRID >= SM, PLAIN),
    (named("twice", 2 * SIZE), BYTES),
]


@pytest.mark.parametrize(("number", "dimension"), DIMENSIONS, ids=[r[0].formula() for r in DIMENSIONS])
def test_arithmetic_carries_dimensions(number, dimension):
    assert number.dimension == dimension


MISFITS = [
    (lambda: SIZE + GRID, "cannot add size (bytes) and grid (blocks)"),
    (lambda: SIZE - N, "cannot subtract size (bytes) and n (plain number)"),
    (lambda: SIZE + 4, "cannot add size (bytes) and 4 (plain number)"),
    (lambda: 4 - SIZE, "cannot subtract 4 (plain number) and size (bytes)"),
    (lambda: GRID + SM, "cannot add grid (blocks) and sm_count (SMs)"),
    (lambda: SIZE < GRID, "cannot compare size (bytes) and grid (blocks)"),
    (lambda: SIZE == GRID, "cannot compare size (bytes) and grid (blocks)"),
    (lambda: largest(SIZE, GRID), "cannot take the larger of size (bytes) and grid (blocks)"),
    (lambda: in_unit(SIZE, BLOCKS), "size counts bytes, not blocks"),
]


@pytest.mark.parametrize(("compute", "message"), MISFITS, ids=[r[1] for r in MISFITS])
def test_numbers_that_cannot_meet_say_so(compute, message):
    with pytest.raises(DimensionError) as raised:
        compute()
    assert str(raised.value) == message


@pytest.mark.parametrize("divide", [lambda a, b: a / b, lambda a, b: a // b, ceil_div])
def test_a_division_by_zero_names_the_divisor(divide):
    with pytest.raises(BadValue, match="the divisor n − n must be other than zero, got 0"):
        divide(M, N - N)


def test_it_behaves_as_its_value():
    assert str(N) == repr(N) == "10"
    assert f"{N:>4}{N / M:.2f}" == "  102.50"
    assert list(range(M)) == [0, 1, 2, 3]
    assert {N: "ten"}[10] == "ten"
    assert [int(N / M), float(N), bool(N - N)] == [2, 10.0, False]
    assert sorted([N, M]) == [4, 10]
    assert (N == "ten") is False
    with pytest.raises(TypeError, match=r"2\.5 is not a whole number"):
        range(N / M)
    with pytest.raises(TypeError):
        N + "ten"


def test_it_cannot_be_changed_and_can_be_copied():
    with pytest.raises(AttributeError, match="a traced number cannot be changed: value"):
        N.value = 3
    for again in (copy.deepcopy(N * 2), pickle.loads(pickle.dumps(N * 2))):
        assert again.derivation() == "n·2 = 10 × 2 = 20"


def test_the_inputs_are_named_in_full_and_once():
    number = N * M + N * given("split", 8, scope="split-k", source="the shape")
    assert [(i.key, i.value) for i in number.inputs] == [("made.n", 10), ("made.m", 4), ("split-k.split", 8)]
    assert number.inputs[2].source == "the shape"


def test_named_steps_are_shown_by_name_and_explained_apart():
    rows = named("rows", N * (M + 1))
    number = rows * SIZE + rows * 3 * SIZE
    assert number.derivation() == "rows·size + rows·3·size = 50 × 2 + 50 × 3 × 2 = 400 bytes"
    assert {name: step.derivation() for name, step in number.parts().items()} == {
        "rows": "n·(m + 1) = 10 × (4 + 1) = 50"
    }
    assert named("rows", 50) == 50


def test_json_holds_the_value_the_inputs_and_the_tree():
    number = named("c", N * SIZE) + 2 * SIZE
    assert json.loads(json.dumps(number.to_json())) == {
        "value": 24,
        "dimension": "bytes",
        "inputs": {"made.n": 10, "size": 2},
        "expression": {
            "op": "+",
            "of": [
                {"name": "c", "of": {"op": "*", "of": ["made.n", "size"]}},
                {"op": "*", "of": [2, "size"]},
            ],
        },
    }


def test_the_four_functions_run_on_whole_numbers_too():
    assert (ceil_div(10, 4), ceil_div(8, 4), largest(1, 2), smallest(1, 2)) == (3, 2, 2, 1)
    assert not any(isinstance(x, Traced) for x in (ceil_div(10, 4), largest(1, 2), in_unit(3, BYTES)))
