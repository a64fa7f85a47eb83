"""Sweeps: figures worked by hand, then every verdict against the scalar rule, edges and huge numbers included."""

import math
import random
import subprocess
import sys
from collections import Counter
from itertools import product

import dask.array
import numpy
import pytest

from ledger.decision import choose
from ledger.decisions import QUESTIONS, decision, question
from ledger.decisions.question import MOST
from ledger.errors import BadValue, LedgerError, UnknownName
from ledger.flips import flips
from ledger.machine import Machine, machines
from ledger.sweep import LIMITS, WORDS, Run, Sweep, available_memory, rule, sweep

MODULE = sys.modules["ledger.sweep"]


def test_one_axis_is_a_verdict_for_each_value():
    found = sweep("split-k", {"split": "1..8"})  # 64 tiles: from 3 on the split fills 132 SMs
    assert found.codes.dtype == numpy.uint8
    assert found.codes.tolist() == [2, 2, 1, 1, 1, 1, 1, 1]
    assert found.axes == {"split": range(1, 9)}
    assert found.counts == {"A": 0, "B": 6, "NEITHER": 2, "not a shape": 0}
    assert found.labels == ("no split, 64 blocks", "split-K=…", "NEITHER", "not a shape")


def test_axes_are_in_the_order_given():
    found = sweep("split-k", {"sm_count": [64, 132], "split": "1..4"})
    assert found.codes.tolist() == [[0, 0, 0, 0], [2, 2, 1, 1]]
    assert sweep("split-k", {"split": "1..4", "sm_count": [64, 132]}).codes.tolist() == (
        found.codes.T.tolist()
    )


def test_a_budget_is_swept_as_any_parameter_is():
    found = sweep("split-kv", {"budget": [131071, 131072], "kv_block": "256,257"})
    assert found.codes.tolist() == [[2, 2], [1, 2]]  # 2 x 256 x 128 x 2 = 131,072


def test_a_budget_that_is_given_holds_throughout():
    assert sweep("split-k", {"split": "3"}, budget=65535).codes.tolist() == [2]
    assert sweep("split-k", {"split": "3"}, budget=65536.5).codes.tolist() == [1]


def test_what_one_parameter_bounds_is_no_shape_above_it():
    found = sweep("split-k", {"split": "1..4", "k": "2,3"})
    assert found.codes.tolist() == [[2, 2], [2, 2], [3, 1], [3, 3]]
    assert sweep("norm-projection", {"tile": "127,128"}).codes.tolist() == [3, 1]


def test_rows_are_each_combination_with_its_verdict():
    found = sweep("split-k", {"split": "2,3", "k": [2, 4]})
    assert list(found.rows()) == [
        (2, 2, "NEITHER"),
        (2, 4, "NEITHER"),
        (3, 2, "not a shape"),
        (3, 4, "B"),
    ]


def test_changes_are_the_runs_along_the_first_axis():
    found = sweep("split-k", {"split": "1..8", "sm_count": [64, 132]})
    assert list(found.changes()) == [
        Run(1, 8, 0, {"sm_count": 64}),
        Run(1, 2, 2, {"sm_count": 132}),
        Run(3, 8, 1, {"sm_count": 132}),
    ]
    assert list(sweep("split-k", {"split": [5]}).changes()) == [Run(5, 5, 1, {})]


def test_where_a_run_ends_is_where_the_verdict_flips():
    (first, second, third) = sweep("split-k", {"m": "1..4096"}).changes()
    assert [flip.at for flip in flips(decision("split-k"), ["m"])] == [first.last, third.first]
    assert second.code == 1


def test_progress_is_told_after_each_block(monkeypatch):
    monkeypatch.setattr(MODULE, "CELLS", 10)
    told = []
    found = sweep("split-k", {"split": "1..5", "m": "1..7"}, progress=lambda *done: told.append(done))
    assert told == [(7, 35), (14, 35), (21, 35), (28, 35), (35, 35)]
    assert found.codes.tolist() == sweep("split-k", {"split": "1..5", "m": "1..7"}).codes.tolist()


def test_blocks_change_nothing(monkeypatch):
    over = {"split": "1..9", "m": "64..1024:64", "sm_count": "16,108,132"}
    whole = sweep("split-k", over)
    for cells in (1, 2, 3, 7, 48, 50, 10**6):
        monkeypatch.setattr(MODULE, "CELLS", cells)
        assert (sweep("split-k", over).codes == whole.codes).all()


# memory -----------------------------------------------------------------------------------------------


def test_a_sweep_that_would_not_fit_is_refused_before_it_starts():
    started = []
    with pytest.raises(LedgerError) as raised:
        sweep("split-k", {"m": "1..1000000", "n": "1..1000000"}, memory=10**9, progress=started.append)
    assert str(raised.value) == (
        "split-k: 1,000,000,000,000 verdicts need 1,000,065,554,432 bytes of memory and 1,000,000,000 are"
        " free; take larger steps, or sweep a part at a time"
    )
    assert not started


def test_free_memory_is_asked_for_unless_it_is_given(monkeypatch):
    monkeypatch.setattr(MODULE, "available_memory", lambda: 1)
    with pytest.raises(LedgerError, match=r"8 verdicts need .* and 1 are free"):
        sweep("split-k", {"split": "1..8"})
    monkeypatch.setattr(MODULE, "available_memory", lambda: None)  # a system that does not say
    assert sweep("split-k", {"split": "1..8"}).codes.size == 8


def test_all_shapes_there_are_do_not_fit_any_machine():
    with pytest.raises(LedgerError, match="verdicts need"):
        sweep("split-k", {"m": f"1..{MOST}", "n": f"1..{MOST}"})
    assert 10**6 < available_memory() < 10**15


# mistakes ---------------------------------------------------------------------------------------------

MISTAKES = [
    ({}, {}, BadValue, "split-k: over must be at least one parameter, got none"),
    ({"splits": "1"}, {}, UnknownName, "unknown parameter of split-k 'splits': did you mean 'split'"),
    ({"split": "1..x"}, {}, BadValue, "split-k: split must be whole numbers from 1 to 2^53"),
    ({"sm_count": [0]}, {}, BadValue, "split-k: sm_count must be a whole number from 1 to 2^53"),
    ({"budget": [0]}, {}, BadValue, "split-k: budget must be a whole number from 1 to 2^53"),
    ({"budget": [1]}, {"budget": 2}, BadValue, "split-k: budget must be either swept or given, got both"),
    ({"split": "1"}, {"budget": 0}, BadValue, "split-k: budget must be a finite number above 0, got 0"),
    ({"split": "1"}, {"split": 2}, BadValue, "split-k: split must be either swept or given, got both"),
    ({"m": "1"}, {"split": 99, "k": 9}, BadValue, "split-k: split must be at most k = 9, got 99"),
    ({"m": "1"}, {"machine": "h2000"}, UnknownName, "unknown machine 'h2000': did you mean"),
]


@pytest.mark.parametrize(("over", "given", "error", "message"), MISTAKES, ids=[r[3] for r in MISTAKES])
def test_mistakes_say_subject_allowed_and_found(over, given, error, message):
    with pytest.raises(error) as raised:
        sweep("split-k", over, **given)
    assert str(raised.value).startswith(message)


# every verdict is the scalar rule's -------------------------------------------------------------------


def test_a_number_beyond_64_bits_stays_exact():
    # c is 2 x 2^31 x 2^31 = 2^63 bytes; 64 bits would call it and three times as much -2^63 alike
    assert sweep("gemm-epilogue", {"m": [2**31], "n": [2**31]}).codes.tolist() == [[1]]
    # tile x tile x 4 is 2^64, in 64 bits 0: no block of that size fits
    assert sweep("gemm-epilogue", {"tile": [2**31]}, m=2**45, n=2**45).codes.tolist() == [2]
    assert sweep("split-k", {"split": "1..3"}, m=2**31, n=2**31).codes.tolist() == [0, 0, 0]


def test_one_huge_value_makes_its_own_block_exact_and_no_other(monkeypatch):
    monkeypatch.setattr(MODULE, "CELLS", 4)
    kinds = Counter()
    monkeypatch.setattr(MODULE, "rule", lambda a, *rest: kinds.update([a.bytes.dtype]) or rule(a, *rest))
    sweep("split-k", {"m": "1,2,3,4,5,6,7,8,9007199254740992"}, n=2**20)
    assert kinds == {numpy.dtype(numpy.int64): 2, numpy.dtype(object): 1}


def test_a_huge_number_that_no_line_has_does_no_harm():
    # 4 x 2^31 x 2^30 is in the count of operations alone
    found = sweep("split-kv", {"skv": "1"}, batch_heads=2**31, sq=2**30, head_dim=1, split=1, element_bytes=1, accumulator_bytes=1)  # fmt: skip
    assert found.codes.tolist() == [0]


def test_the_largest_64_bit_number_is_still_one(monkeypatch):
    kinds = []
    monkeypatch.setattr(MODULE, "rule", lambda a, *rest: kinds.append(a.bytes.dtype) or rule(a, *rest))
    # 4 x n x 1 bytes at most, n up to 2^53: 2^55; with elements of 256 bytes 2^63, one too many
    sweep("elementwise", {"n": [MOST - 1]}, element_bytes=256)
    sweep("elementwise", {"n": [MOST]}, element_bytes=256)
    assert kinds == [numpy.dtype(numpy.int64), numpy.dtype(object)]


def test_without_numpy_a_sweep_says_what_to_install():
    code = "import sys; sys.modules['numpy'] = None; import ledger; ledger.sweep"
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1] == (
        "ledger.errors.LedgerError: a sweep needs NumPy: pip install 'fusion-ledger[sweep]'"
    )


MACHINES = [
    gpu for gpu in machines().values() if {"smem_per_sm_kib", gpu.bandwidth_field} <= set(gpu.figures)
]


def random_value(draw: random.Random, most: int) -> int:
    """A value from one end of the domain to the other."""
    return draw.choice(
        [1, 2, most, most - 1, draw.randint(1, 300), int(2 ** draw.uniform(0, math.log2(most)))]
    )


def random_sweep(draw: random.Random) -> tuple[Sweep, dict[str, int], Machine]:
    """A sweep of two parameters or limits about the flips of a random shape, what is fixed, the machine."""
    asked = question(draw.choice(list(QUESTIONS)))
    most = draw.choice([2**10, 2**16, 2**26, MOST])
    shape = {name: random_value(draw, most) for name in asked.parameters if draw.random() < 0.4}
    for name, bound in asked.at_most.items():
        shape[name] = min({**asked.parameters, **shape}[name], {**asked.parameters, **shape}[bound])
    names = draw.sample([*asked.parameters, *LIMITS], 2)
    gpu, budget = draw.choice(MACHINES), draw.choice([None, draw.randint(1, 2**20)])
    today = decision(asked.slug, machine=gpu, budget=budget, **shape)
    over = {}
    for name in names:
        at = [f.at for f in flips(today, ["SMs" if name == "sm_count" else name])]
        near = {value + step for value in at for step in (-1, 0, 1) if 1 <= value + step <= MOST}
        over[name] = sorted(near | {random_value(draw, most) for _ in range(14)})
    fixed = {name: value for name, value in shape.items() if name not in over}
    full = {**asked.parameters, **fixed}
    if any(full[n] > full[b] for n, b in asked.at_most.items() if not {n, b} & set(over)):
        return random_sweep(draw)
    budget = None if "budget" in over else budget
    found = sweep(asked.slug, over, machine=gpu, budget=budget, **fixed)
    given = {"sm_count": int(today.sm_count), "budget": int(today.budget), **asked.parameters, **fixed}
    return found, given, gpu


def scalar(slug: str, values: dict[str, int]) -> int:
    """The code of one combination: the decision function on plain whole numbers, and the rule."""
    asked, values = QUESTIONS[slug], dict(values)
    budget, sm_count = values.pop("budget"), values.pop("sm_count")
    if any(values[name] > values[bound] for name, bound in asked.at_most.items()):
        return 3
    options = asked.options(**values)
    choice = choose(options, budget, sm_count)
    return 2 if choice is None else int(choice is options[1])


def whole_decision(slug: str, values: dict[str, int], gpu: Machine) -> int:
    """The code of one combination by the way that a reader takes."""
    values = dict(values)
    budget, sm_count = values.pop("budget"), values.pop("sm_count")
    gpu = gpu.having(sm_count=sm_count)
    if any(values[name] > values[bound] for name, bound in QUESTIONS[slug].at_most.items()):
        with pytest.raises(BadValue, match="must be at most"):
            decision(slug, machine=gpu, budget=budget, **values)
        return 3
    asked = decision(slug, machine=gpu, budget=budget, **values)
    return 2 if asked.choice is None else int(asked.choice is asked.option_b)


def test_a_hundred_thousand_verdicts_are_those_of_the_scalar_rule():
    draw = random.Random(53)
    counts, slugs = Counter(), Counter()
    while counts.total() < 100_000:
        found, given, gpu = random_sweep(draw)
        points = list(product(*found.axes.values()))
        codes = found.codes.reshape(-1).tolist()
        for point, code in zip(points, codes, strict=True):
            assert code == scalar(found.slug, {**given, **dict(zip(found.axes, point, strict=True))})
        for i in draw.sample(range(len(points)), 6):
            point = dict(zip(found.axes, points[i], strict=True))
            assert codes[i] == whole_decision(found.slug, {**given, **point}, gpu)
        counts.update(codes)
        slugs.update([found.slug])
    assert set(slugs) == set(QUESTIONS)
    assert all(counts[code] > 1000 for code in range(len(WORDS)))


@pytest.mark.parametrize("slug", QUESTIONS)
def test_dask_arrays_give_the_same_verdicts_with_the_same_functions(slug):
    first, second = list(QUESTIONS[slug].parameters)[:2]
    over = {first: range(1, 301), second: range(1, 201)}
    rows, columns = dask.array.arange(1, 301, chunks=64), dask.array.arange(1, 201, chunks=64)
    shape = {**QUESTIONS[slug].parameters, first: rows[:, None], second: columns[None, :]}
    today = decision(slug)
    codes = rule(*question(slug).options(**shape), int(today.budget), int(today.sm_count))
    assert isinstance(codes, dask.array.Array)
    assert (codes.compute() == sweep(slug, over).codes).all()
