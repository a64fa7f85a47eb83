"""The rule as a table: every pair of standings, each edge with a row on it and a row past it."""

import math
from dataclasses import replace

import pytest

from ledger.decision import NEITHER, Decision, Line, Standing, choose
from ledger.errors import BadValue, DimensionError
from ledger.option import Epilogue, Option
from ledger.traced import Choice, given
from ledger.units import BLOCKS, BYTES

KB = 1024
BUDGET, SMS = 100 * KB, 132


def made(a: tuple, b: tuple, **changes) -> Decision:
    """A decision from two rows of (bytes, grid, on_chip), A and B."""
    two = {"option_a": Option("A", *a), "option_b": Option("B", *b)}
    return Decision("made", **two, budget=BUDGET, bytes_per_us=1000.0, sm_count=SMS, **changes)


FULL, IDLE, BIG = (132, BUDGET), (131, BUDGET), (132, BUDGET + 1)

RULE = [
    # A, B, winner, line, reason
    ((10**6, *FULL), (2 * 10**6, *FULL), "A", "traffic", "traffic: 1.0 MB vs 2.0 MB, and both fit"),
    (
        (2 * 10**6, *FULL),
        (10**6, *FULL),
        "B",
        "traffic",
        "traffic: 1.0 MB vs 2.0 MB (saves 1.0 MB = 1000.00 us)",
    ),
    ((10**6, *FULL), (10**6, *FULL), "A", "traffic", "traffic: 1.0 MB vs 1.0 MB, and both fit"),
    (
        (10**6 + 1, *FULL),
        (10**6, *FULL),
        "B",
        "traffic",
        "traffic: 1.0 MB vs 1.0 MB (saves 0.0 MB = 0.00 us)",
    ),
    (
        (9, *FULL),
        (1, *IDLE),
        "A",
        "parallelism",
        "parallelism: the other option launches 131 blocks for 132 SMs",
    ),
    (
        (0, *IDLE),
        (3 * 10**6, *FULL),
        "B",
        "parallelism",
        "parallelism: the other option launches 131 blocks for 132 SMs, so it pays +3.0 MB to reach 132",
    ),
    ((9, *FULL), (1, *BIG), "A", "capacity", "capacity veto on the other option (100 KB)"),
    ((1, *BIG), (9, *FULL), "B", "capacity", "capacity veto on the other option (100 KB)"),
    (
        (1, *IDLE),
        (1, *IDLE),
        NEITHER,
        "parallelism",
        "neither option both fits on chip and fills the machine",
    ),
    ((1, *IDLE), (1, *BIG), NEITHER, "parallelism", "neither option both fits on chip and fills the machine"),
    ((1, *BIG), (1, *IDLE), NEITHER, "parallelism", "neither option both fits on chip and fills the machine"),
    (
        (1, 132, 2 * BUDGET),
        (1, 1, 3 * BUDGET),
        NEITHER,
        "capacity",
        "capacity: 200 KB and 300 KB both exceed the 100 KB budget; re-tile, do not choose",
    ),
]


@pytest.mark.parametrize(("a", "b", "winner", "line", "reason"), RULE)
def test_the_rule(a, b, winner, line, reason):
    decision = made(a, b)
    assert decision.verdict() == (winner, reason)
    assert decision.line is Line(line)
    assert isinstance(decision.winner, Choice)


STANDINGS = [
    (132, BUDGET, Standing.USABLE),
    (131, BUDGET, Standing.IDLE),
    (132, BUDGET + 1, Standing.TOO_BIG),
    (131, BUDGET + 1, Standing.TOO_BIG),
]


@pytest.mark.parametrize(("grid", "on_chip", "standing"), STANDINGS)
def test_an_option_is_usable_iff_it_fits_and_fills(grid, on_chip, standing):
    decision = made((1, grid, on_chip), (1, *FULL))
    assert decision.standing(decision.a) is standing
    assert decision.usable(decision.a) is (standing is Standing.USABLE)


def test_coarse_and_fine_are_the_two_options():
    decision = made((1, *FULL), (2, *FULL), finer="b")
    assert (decision.coarse, decision.fine) == (decision.a, decision.b)
    turned = replace(decision, finer="a")
    assert (turned.coarse, turned.fine) == (decision.b, decision.a)


def test_the_rule_picks_among_any_number_of_options():
    options = [Option("big", 1, 132, BUDGET + 1), Option("slow", 9, *FULL), Option("quick", 4, *FULL)]
    assert choose(options, BUDGET, SMS) is options[2]
    assert choose(options[:2], BUDGET, SMS) is options[1]
    assert choose(options[:1], BUDGET, SMS) is None
    assert choose([], BUDGET, SMS) is None


def test_on_equal_bytes_the_first_option_wins():
    options = [Option("idle", 4, *IDLE), Option("first", 4, *FULL), Option("second", 4, *FULL)]
    assert choose(options, BUDGET, SMS) is options[1]


BAD = [
    ({"budget": 0}, "made: budget must be a finite number above 0, got 0"),
    ({"budget": math.inf}, "made: budget must be a finite number above 0, got inf"),
    ({"bytes_per_us": math.nan}, "made: bytes_per_us must be a finite number above 0, got nan"),
    ({"bytes_per_us": -1.0}, "made: bytes_per_us must be a finite number above 0, got -1.0"),
    ({"sm_count": 0}, "made: sm_count must be a whole number of at least 1, got 0"),
    ({"sm_count": 1.5}, "made: sm_count must be a whole number of at least 1, got 1.5"),
    ({"option_a": Option("A", 1, 0, 1)}, "made: A: grid must be a whole number of at least 1, got 0"),
    ({"option_b": Option("B", -1, 1, 1)}, "made: B: bytes must be a finite number of at least 0, got -1"),
    (
        {"option_b": Option("B", 1, 1, math.nan)},
        "made: B: on_chip must be a finite number of at least 0, got nan",
    ),
    ({"option_b": Option("B", "1", 1, 1)}, "made: B: bytes must be a finite number of at least 0, got '1'"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[r[1] for r in BAD])
def test_bad_input_says_subject_allowed_and_found(changes, message):
    with pytest.raises(BadValue) as raised:
        replace(made((1, *FULL), (2, *FULL)), **changes)
    assert str(raised.value) == message


def test_an_option_brings_no_new_work_unless_it_says_so():
    assert Option("A", 1, 1, 1).epilogue == Epilogue(bytes=0, launches=0, work="nothing new")


def test_a_line_takes_its_unit_and_refuses_another():
    assert Option("A", given("n", 3), given("g", 4), 5).grid.dimension == BLOCKS
    assert Epilogue(given("n", 3)).bytes.dimension == BYTES
    with pytest.raises(DimensionError, match="g counts blocks, not bytes"):
        Option("A", given("g", 4, dimension=BLOCKS), 1, 1)
