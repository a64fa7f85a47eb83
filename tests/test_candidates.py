"""The best of many and the usable tilings: worked by hand, then against the rule on all options at once."""

import random
import subprocess
import sys

import pytest

from ledger.candidates import best, retile
from ledger.decision import NEITHER, choose
from ledger.decisions import QUESTIONS, decision
from ledger.errors import BadValue, UnknownName

MIB = 2**20


def test_the_best_split_is_the_least_that_fills():
    found = best("split-k", {"split": "1..64"})  # 64 tiles: 192 blocks from a split of 3 on
    assert (found.winner, found.place, found.values) == ("split-K=3", "b", {"split": 3})
    assert found.decision.b.bytes.derivation().endswith("= 29,360,128 bytes")  # (1 + 2 x 3) x 4 MiB
    assert found.option is found.decision.b
    assert found.decision.winner == found.winner
    # without a split there is one option, not 64; splits of 1 and 2 do not fill either
    assert (found.usable, found.idle, found.too_big, found.candidates) == (62, 3, 0, 65)


def test_where_none_is_usable_the_best_is_neither_and_says_what_failed():
    idle = best("split-k", {"split": "1..2"})
    assert (idle.winner, idle.option, idle.decision, idle.place) == (NEITHER, None, None, None)
    assert (dict(idle.values), idle.usable, idle.idle, idle.too_big) == ({}, 0, 3, 0)
    tight = best("split-k", {"split": "1..2"}, budget=65535)
    assert (tight.idle, tight.too_big) == (0, 3)


def test_on_equal_bytes_the_smaller_value_wins_whatever_the_order():
    found = best("elementwise", {"block": [2048, 256, 512]})
    assert (found.winner, found.values, found.usable) == ("1 fused kernel", {"block": 256}, 6)


def test_a_value_that_is_no_shape_is_passed_over():
    found = best("norm-projection", {"tile": "64,128,256"})  # head_dim is 128: 64 is no shape
    assert (found.values, found.place, found.candidates) == ({"tile": 128}, "b", 3)


def test_the_best_of_several_parameters_and_another_machine():
    found = best("split-k", {"split": "1..8", "tile": "32,64,128"}, machine="l40s")
    assert (found.winner, found.values) == ("no split, 1024 blocks", {"split": 1, "tile": 32})


@pytest.mark.parametrize("seed", range(60))
def test_the_best_is_what_the_rule_picks_among_all_options(seed):
    draw = random.Random(seed)
    asked = QUESTIONS[draw.choice(list(QUESTIONS))]
    names = draw.sample(list(asked.parameters), 2)
    over = {name: sorted({2 ** draw.randint(0, 14) for _ in range(5)}) for name in names}
    budget = draw.choice([None, 2 ** draw.randint(8, 18)])
    today = decision(asked.slug, budget=budget)
    options = []
    for one in over[names[0]]:
        for other in over[names[1]]:
            shape = {**asked.parameters, names[0]: one, names[1]: other}
            if all(shape[name] <= shape[bound] for name, bound in asked.at_most.items()):
                options += asked.options(**shape)
    choice = choose(options, int(today.budget), int(today.sm_count))
    found = best(asked.slug, over, budget=budget)
    assert (found.option is None) == (choice is None)
    if choice is not None:
        assert (found.winner, found.option.bytes, found.option.grid, found.option.on_chip) == (
            choice.label, choice.bytes, choice.grid, choice.on_chip)  # fmt: skip


def test_tilings_come_fewest_bytes_first_then_the_largest_tile():
    found = retile("split-k", split=1)  # 1024 x 1024: 64 blocks at a tile of 128, which do not fill
    assert [(each.place, each.values["tile"], each.bytes, each.grid, each.on_chip) for each in found] == [
        ("a", 64, 4 * MIB, 256, 16384),
        ("a", 32, 4 * MIB, 1024, 4096),
        ("a", 16, 4 * MIB, 4096, 1024),
        ("b", 64, 12 * MIB, 256, 16384),
        ("b", 32, 12 * MIB, 1024, 4096),
        ("b", 16, 12 * MIB, 4096, 1024),
    ]
    assert found[0].label == "no split, 256 blocks"


def test_what_a_tile_does_not_change_is_listed_once():
    found = retile("norm-projection", over={"tile": "64,128,256"})  # 64 is below head_dim: no shape
    assert [(each.label, each.values["tile"]) for each in found] == [
        ("norm fused into the GEMM epilogue", 128),
        ("project | norm, 2 kernels", 128),
    ]


def test_a_tiling_has_no_more_blocks_than_it_must_on_equal_bytes_and_chip():
    found = [
        each for each in retile("norm-rope-quant", over={"rows_per_block": "1,8,2"}) if each.place == "b"
    ]
    assert [each.values["rows_per_block"] for each in found] == [8, 2, 1]


def test_where_no_tiling_is_usable_there_is_none():
    assert retile("split-k", budget=1) == ()
    assert retile("split-kv", split=1) == ()  # 32 blocks whatever the tile


def test_each_tiling_is_a_verdict_of_its_own():
    for each in retile("norm-rope-quant", tokens=64):
        asked = decision("norm-rope-quant", tokens=64, **each.values)
        assert asked.usable(asked.a if each.place == "a" else asked.b)


def test_mistakes_say_subject_allowed_and_found():
    with pytest.raises(UnknownName, match="unknown decision 'split-q': did you mean 'split-k'"):
        best("split-q", {"split": "1..8"})
    with pytest.raises(UnknownName, match="unknown parameter of split-k 'sm_count'"):
        best("split-k", {"sm_count": "1..8"})
    with pytest.raises(BadValue, match="split-k: tile must be either swept or given, got both"):
        retile("split-k", tile=64)
    with pytest.raises(BadValue, match="split-k: budget must be a finite number above 0, got 0"):
        retile("split-k", budget=0)


def test_tilings_need_no_numpy():
    code = "import sys, ledger; ledger.retile('split-k'); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
