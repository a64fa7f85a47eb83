"""The changes that ``make mutants`` makes: a table of lines, each with all that becomes of it."""

import pytest

from tests import mutants
from tests.mutants import Mutant, Outcome, Same, figures_of, mutants_of, report

LINES = [
    # a line, then what becomes of it, from the left
    ("a = 0", ["a = 1"]),
    ("a = 2.5", ["a = 3.5"]),
    ("a = -b", ["a = b"]),
    ("a = b + c", ["a = b - c"]),
    ("a = (b) * (c)", ["a = (b) / (c)"]),
    ("a = b // c % d", ["a = b * c % d", "a = b // c // d"]),
    ("a -= b / c ** d", ["a += b / c ** d", "a -= b * c ** d", "a -= b / c * d"]),
    ("a = b < c <= d", ["a = b <= c <= d", "a = b < c < d"]),
    ("a = b > c >= d", ["a = b >= c >= d", "a = b > c > d"]),
    ("a = b == c != d", ["a = b != c != d", "a = b == c == d"]),
    ("a = b is c, b is not c", ["a = b is not c, b is not c", "a = b is c, b is c"]),
    ("a = b in c, b not in c", ["a = b not in c, b not in c", "a = b in c, b in c"]),
    ("a = 'µs' + f'é {b - c}'", ["a = 'µs' - f'é {b - c}'", "a = 'µs' + f'é {b + c}'"]),
    ("a: Literal[1] = True", []),
    ("def a(b: Literal[1]) -> Literal[2]: 'Not 3.'", []),
]


@pytest.mark.parametrize(("line", "becomes"), LINES, ids=[r[0] for r in LINES])
def test_each_number_and_operator_is_changed_where_it_stands(line, becomes):
    found = sorted(mutants_of("a.py", f"b = c\n{line}\n"))
    assert [mutant.changed for mutant in found] == becomes
    assert {mutant.line for mutant in found} <= {2}


CATALOGUE = """\
[x.figures]
sm_count = { value = 132, kind = "vendor" }
smem_reserved_per_block_kib = { value = 1, kind = "vendor" }
bandwidth_vendor_gbs = { value = 4800, kind = "vendor" }
launch_stream_us = { value = 1.5, kind = "measured" }
l2_mib = { value = 50, kind = "vendor" }
[y.figures]
bandwidth_vendor_gbs = { value = 300, kind = "vendor" }
bandwidth_calibrated_gbs = { value = 200.5, kind = "calibrated" }
"""
MET = "x.sm_count x.smem_reserved_per_block_kib x.launch_stream_us x.bandwidth_gbs y.bandwidth_gbs z.n"


def test_a_figure_that_is_asked_for_becomes_one_more_or_a_tenth_larger():
    assert [str(mutant) for mutant in figures_of(CATALOGUE, MET.split())] == [
        "ledger/machines.toml:4:34: x.bandwidth_vendor_gbs: 4800 -> 5280",
        "ledger/machines.toml:5:30: x.launch_stream_us: 1.5 -> 1.65",
        "ledger/machines.toml:2:22: x.sm_count: 132 -> 133",
        "ledger/machines.toml:3:41: x.smem_reserved_per_block_kib: 1 -> 2",
        "ledger/machines.toml:9:38: y.bandwidth_calibrated_gbs: 200.5 -> 220.55",
    ]


CODE = Mutant("a.py", 1, 11, "<", "<=", "    a = b < c")
FIGURE = Mutant("m.toml", 1, 1, "1", "2", "1", "x.n")
SAME = Same("a.py", "a = b < c", "a = b <= c", "they are never equal")

REPORTS = [
    # outcomes, rows of EQUIVALENT, exit code, a line of the report
    ([Outcome(CODE, "tests")], [], 0, "1 changes: 1 noticed by tests, 0 by the check"),
    ([Outcome(CODE, "")], [], 1, "  a.py:1:11: < -> <="),
    ([Outcome(CODE, "")], [SAME], 0, "1 changes survive since they change nothing"),
    ([Outcome(CODE, "check")], [SAME], 1, "  a.py: a = b < c (noticed by check)"),
    ([], [SAME], 1, "  a.py: a = b < c (no such change)"),
    ([Outcome(FIGURE, "", ("p.md:1:1",))], [], 1, "  m.toml:1:1: x.n: 1 -> 2; shown at p.md:1:1"),
]


@pytest.mark.parametrize(("outcomes", "same", "code", "line"), REPORTS, ids=[r[3] for r in REPORTS])
def test_a_survivor_without_a_reason_and_a_reason_without_a_survivor_fail(
    outcomes, same, code, line, monkeypatch, capsys
):
    monkeypatch.setattr(mutants, "EQUIVALENT", tuple(same))
    assert report(outcomes, same) == code
    assert line in capsys.readouterr().out.splitlines()
