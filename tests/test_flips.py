"""Flips: each edge worked by hand, then exactness on random decisions and on random formulas."""

import math
import random
import sys

import pytest

from ledger import flips as module_of_flips
from ledger.decision import NEITHER, Decision, choose
from ledger.decisions import QUESTIONS, decision
from ledger.decisions.question import MOST
from ledger.errors import UnknownName
from ledger.flips import LIMITS, UNDECIDED, Flip, flips, nearest
from ledger.machine import machines
from ledger.option import Option
from ledger.sweep import sweep
from ledger.traced import ceil_div, given, largest, smallest

KB = 1024
BUDGET, SMS = 100 * KB, 132


def made(a: tuple, b: tuple, **changes) -> Decision:
    """A decision from two rows of (bytes, grid, on_chip), A and B."""
    values = {"budget": BUDGET, "bytes_per_us": 1000.0, "sm_count": SMS, **changes}
    return Decision("made", Option("A", *a), Option("B", *b), **values)


def made_over_n(lines, now: int, **changes) -> Decision:
    """A decision whose two rows are functions of one traced input, ``n``."""
    n = given("n", now, scope="made")
    return made(*lines(n), slug="made", shape={"n": n}, **changes)


# the limits -------------------------------------------------------------------------------------------

OF_LIMITS = [
    # A, B, winner today, then each flip: SMs below 132 and above, budget below 100 KB and above
    (
        (4, 64, 50 * KB),
        (70, 512, 80 * KB),
        "B",
        [("SMs", 64, "A"), ("SMs", 513, "NEITHER"), ("budget", 80 * KB - 1, "NEITHER")],
    ),
    (
        (4, 200, 30 * KB),
        (7, 300, 20 * KB),
        "A",
        [("SMs", 201, "B"), ("budget", 30 * KB - 1, "B")],  # further off, NEITHER from 301 and below 20 KB
    ),
    (
        (4, 200, 120 * KB),
        (7, 200, 10 * KB),
        "B",
        [("SMs", 201, "NEITHER"), ("budget", 10 * KB - 1, "NEITHER"), ("budget", 120 * KB, "A")],
    ),
    ((4, 200, 120 * KB), (2, 200, 150 * KB), NEITHER, [("budget", 120 * KB, "A")]),  # B only from 150 KB
    ((4, 132, BUDGET), (7, 132, BUDGET), "A", [("SMs", 133, "NEITHER"), ("budget", BUDGET - 1, "NEITHER")]),
    ((1, 200, 2), (2, 200, 2), "A", [("SMs", 201, "NEITHER"), ("budget", 1, "NEITHER")]),
    ((1, 200, 1), (2, 200, 1), "A", [("SMs", 201, "NEITHER")]),  # a budget is above zero: no less than 1
    ((1, 2**60, 1), (2, 3, 1), "A", [("SMs", 2**60 + 1, "NEITHER")]),  # no SM count is too large
]


@pytest.mark.parametrize(("a", "b", "winner", "expected"), OF_LIMITS)
def test_flips_of_the_limits_are_the_nearest_edges_on_either_side(a, b, winner, expected):
    asked = made(a, b)
    now = {"SMs": SMS, "budget": BUDGET}
    assert asked.winner == winner
    assert flips(asked) == tuple(Flip(name, at, to, now[name]) for name, at, to in expected)


def test_a_budget_between_two_bytes_flips_at_the_next_whole_one():
    half = {"budget": 99.5}
    assert flips(made((1, 200, 100), (2, 200, 300), **half), ["budget"]) == (Flip("budget", 100, "A", 99.5),)
    assert flips(made((1, 200, 99), (2, 200, 300), **half), ["budget"]) == (
        Flip("budget", 98, "NEITHER", 99.5),
    )
    assert flips(made((1, 200, 99.5), (2, 200, 300), **half), ["budget"]) == (
        Flip("budget", 99, "NEITHER", 99.5),
    )


# the shape --------------------------------------------------------------------------------------------

OF_SHAPES = [
    # slug, shape, parameter, the flips: worked by hand on 132 SMs and 228 KB (233,472 bytes) a block
    ("split-k", {}, "split", [(2, "NEITHER")]),  # 64 tiles: 128 blocks do not fill, 192 do; 2^53 // k too
    ("split-k", {}, "m", [(256, "NEITHER"), (2049, "no split, 136 blocks")]),  # 2 x 8 x 8; 17 x 8
    ("split-k", {}, "tile", [(93, "no split, 144 blocks"), (242, "NEITHER")]),  # 12 x 12; 4 t^2 > 233,472
    ("split-k", {}, "k", []),  # only a bound on split
    ("split-k", {"split": 1}, "split", [(3, "split-K=3")]),
    ("split-k", {"split": 2, "k": 2}, "split", []),  # 3 would fill, but split is at most k
    ("split-kv", {}, "batch_heads", [(2, "NEITHER"), (132, "one block per head")]),  # 2 x 64 < 132
    ("split-kv", {}, "skv", []),  # at least split, and in both lines alike
    ("split-kv", {}, "kv_block", [(457, "NEITHER")]),  # 2 x 457 x 128 x 2 = 233,984
    ("elementwise", {}, "n", [(134144, "2 kernels")]),  # 131 blocks; from 131 x 1024 + 1 on they are 132
    ("elementwise", {"n": 1}, "n", [(66 * 1024 - 1023, "2 kernels")]),  # 66 blocks, twice
    ("norm-rope-quant", {}, "element_bytes", [(8, "norm+rope | quant as 2 kernels")]),  # 8192 x 25 > 192 KB
    # head_dim is at most tile: below 1 and above 128 there is nothing
    ("norm-projection", {}, "head_dim", [(16, "project | norm, 2 kernels")]),  # 32 x 4 blocks
    # tile is at least head_dim; 6 x 198^2 = 235,224
    ("norm-projection", {}, "tile", [(198, "project | norm, 2 kernels")]),
]


@pytest.mark.parametrize(("slug", "shape", "parameter", "expected"), OF_SHAPES)
def test_flips_of_a_shape_parameter_are_worked_by_hand(slug, shape, parameter, expected):
    asked = decision(slug, **shape)
    now = int(asked.shape[parameter])
    assert flips(asked, [parameter]) == tuple(Flip(parameter, at, to, now) for at, to in expected)


def test_all_parameters_come_in_order_limits_first():
    asked = decision("split-k")
    order = [*LIMITS, *asked.shape]
    found = [order.index(flip.parameter) for flip in flips(asked)]
    assert found == sorted(found)
    assert flips(asked) == tuple(flip for name in order for flip in flips(asked, [name]))


def test_an_unknown_parameter_is_refused():
    with pytest.raises(UnknownName, match="unknown parameter of split-k 'splits': did you mean 'split'"):
        flips(decision("split-k"), ["splits"])
    with pytest.raises(UnknownName, match=r"unknown parameter of made 'n': .*known: SMs, budget"):
        flips(made((1, 1, 1), (1, 1, 1)), ["n"])


def test_the_nearest_flip_is_the_one_with_the_least_change_in_share():
    found = flips(decision("split-k"))
    assert nearest(found) == Flip("tile", 93, "no split, 144 blocks", 128)
    assert nearest(found).margin == (93 - 128) / 128
    assert nearest(flips(decision("split-k"), LIMITS)) == Flip("SMs", 64, "no split, 64 blocks", 132)
    assert nearest([]) is None


def test_the_package_gives_the_function_and_not_its_module():
    assert module_of_flips is flips


# what no range settles --------------------------------------------------------------------------------


def test_a_search_that_gives_up_says_up_to_where_nothing_changes():
    # the padded tensor is never more than n + 63, but no range of n shows that
    asked = made_over_n(lambda n: ((ceil_div(n, 64) * 64, 200, 1), (n + 63, 200, 1)), 1000)
    (above,) = flips(asked, ["n"])  # below 1000 each value was looked at
    assert above.winner is UNDECIDED
    assert above.at > 5000
    assert nearest([above, Flip("SMs", 132_000, "B", 132)]).winner is UNDECIDED  # the other may be nearer


def test_what_both_sides_share_does_not_keep_a_comparison_open():
    def lines(n):
        padded = ceil_div(n, 64) * 64
        return (padded * 3 + n * padded, 200, 1), (n * padded + 2 * padded, 200, 1)

    assert flips(made_over_n(lines, 1000), ["n"]) == ()


EDGES = [
    # the lines of both options as functions of n, today's n, the flips
    (lambda n: ((n / 3, 200, 1), (100, 200, 1)), 10, [(301, "B")]),  # 100.33…
    (lambda n: ((100 / n, 200, 1), (7, 200, 1)), 1, [(15, "A")]),  # 6.67
    (lambda n: ((n * 0.1, 200, 1), (0.3, 200, 1)), 1, [(3, "B")]),  # 3 x 0.1 is above 0.3 in floats
    (lambda n: ((9 // (n - 5), 200, 1), (2, 200, 1)), 20, [(8, "B")]),  # at 5 nothing is defined
    (lambda n: ((7, 200, abs(n - 50)), (9, 200, 10)), 50, []),  # within the budget until 102,450
    (lambda n: ((largest(n, 40), 200, 1), (smallest(2 * n, 90), 200, 1)), 30, [(19, "B"), (91, "B")]),
    (lambda n: ((math.ceil(n / 4), 200, 1), (3, 200, 1)), 4, [(13, "B")]),
    (lambda n: ((5 * (n > 40), 200, 1), (3, 200, 1)), 4, [(41, "B")]),
    (lambda n: ((-n + 2**53, 200, 1), (2**52, 200, 1)), 1, [(2**52, "A")]),
    (lambda n: ((n * n, 200, 1), (20 * n - 96, 200, 1)), 6, [(8, "A")]),
    (lambda n: ((n * n, 200, 1), (20 * n - 96, 200, 1)), 10, [(7, "B"), (13, "B")]),
]


@pytest.mark.parametrize(("lines", "now", "expected"), EDGES)
def test_every_operation_has_exact_edges(lines, now, expected, monkeypatch):
    monkeypatch.setattr(sys.modules["ledger.flips"], "PATIENCE", 5000)
    found = [(flip.at, flip.winner) for flip in flips(made_over_n(lines, now), ["n"])]
    assert [each for each in found if each[1] is not UNDECIDED] == expected


# at random --------------------------------------------------------------------------------------------

WINDOW = 200  # values on either side of today's that are tried one by one


def formula(draw: random.Random, n, depth: int = 3):
    """A random formula of n, of whole numbers of at least 1 throughout."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice([n, n, draw.randint(1, 60)])
    one, other = formula(draw, n, depth - 1), formula(draw, n, depth - 1)
    kinds = (
        lambda: one + other,
        lambda: one * other,
        lambda: largest(one, other),
        lambda: smallest(one, other),
        lambda: ceil_div(one, other),
        lambda: one // other + 1,
        lambda: largest(one - other, 1),
        lambda: one / other,
        lambda: 1 + (one <= other) * other,
    )
    return draw.choice(kinds)()


@pytest.mark.parametrize("seed", range(250))
def test_flips_of_random_formulas_are_those_that_trying_each_value_finds(seed, monkeypatch):
    monkeypatch.setattr(sys.modules["ledger.flips"], "PATIENCE", 400)

    def lines(n):
        draw = random.Random(seed)
        return tuple(
            (formula(draw, n), math.ceil(formula(draw, n) * draw.randint(1, 9)), formula(draw, n))
            for _ in range(2)
        )

    draw = random.Random(-seed)
    now = draw.randint(1, 100)
    limits = {"budget": draw.randint(1, 200), "sm_count": draw.randint(1, 100)}
    asked = made_over_n(lines, now, **limits)

    def winner(n: int) -> str:
        options = [Option(label, *row) for label, row in zip("AB", lines(n), strict=True)]
        choice = choose(options, limits["budget"], limits["sm_count"])
        return choice.label if choice else NEITHER

    found = flips(asked, ["n"])
    for values in (range(now + 1, now + WINDOW), range(now - 1, 0, -1)):
        first = next((n for n in values if winner(n) != asked.winner), None)
        flip = next((f for f in found if (f.at > now) == (values.step > 0)), None)
        if flip is not None and flip.winner is UNDECIDED:
            assert first is None or abs(first - now) >= abs(flip.at - now)
        elif flip is not None and flip.at in values:
            assert (flip.at, flip.winner) == (first, winner(first))
        else:
            assert first is None


MACHINES = [
    gpu for gpu in machines().values() if {"smem_per_sm_kib", gpu.bandwidth_field} <= set(gpu.figures)
]


def random_shape(draw: random.Random, slug: str) -> dict[str, int]:
    """A shape of the question, some parameters left at the reference's value, some as large as can be."""
    question = QUESTIONS[slug]
    shape = dict(question.parameters)
    for name in shape:
        if draw.random() < 0.6:
            shape[name] = draw.choice(
                [draw.randint(1, 8), 2 ** draw.randint(0, 20), int(2 ** draw.uniform(0, 16)), 1, MOST]
            )
    for name, bound in question.at_most.items():
        shape[name] = min(shape[name], shape[bound])
    return shape


def random_decision(draw: random.Random) -> Decision:
    """A decision at random: question, machine, shape and at times a budget of its own."""
    slug, gpu = draw.choice(list(QUESTIONS)), draw.choice(MACHINES)
    budget = draw.choice([None, None, draw.randint(1, 10**6)])
    return decision(slug, machine=gpu, budget=budget, **random_shape(draw, slug))


def limits_of(asked: Decision) -> dict[str, int]:
    """The machine's limits under the names that flips give them."""
    return {"SMs": int(asked.sm_count), "budget": int(asked.budget)}


def plain_winner(asked: Decision, parameter: str, at: int) -> str:
    """Who wins at a value: the rule on plain whole numbers, from the decision function itself."""
    shape = {name: int(value) for name, value in asked.shape.items()}
    limits = limits_of(asked)
    (limits if parameter in LIMITS else shape)[parameter] = at
    options = QUESTIONS[asked.slug].options(**shape)
    choice = choose(options, limits["budget"], limits["SMs"])
    return "NEITHER" if choice is None else "AB"[options.index(choice)]


def test_flips_of_ten_thousand_random_decisions_are_exact():
    draw = random.Random(20260)
    checked = 0
    for _ in range(10_000):
        asked = random_decision(draw)
        over = draw.sample([*LIMITS, *asked.shape], 3)
        today = plain_winner(asked, "SMs", int(asked.sm_count))
        for flip in flips(asked, over):
            assert flip.winner is not UNDECIDED
            step = 1 if flip.at < flip.now else -1
            assert plain_winner(asked, flip.parameter, flip.at) != today
            assert plain_winner(asked, flip.parameter, flip.at + step) == today
            checked += 1
    assert checked > 10_000


@pytest.mark.parametrize("seed", range(500))
def test_no_flip_is_nearer_than_the_one_reported(seed):
    draw = random.Random(seed)
    asked = random_decision(draw)
    name = draw.choice([*LIMITS, *asked.shape])
    key, now = ("sm_count" if name == "SMs" else name), int({**asked.shape, **limits_of(asked)}[name])
    shape = {each: int(value) for each, value in asked.shape.items() if each != key}
    budget = None if key == "budget" else int(asked.budget)
    gpu = asked.machine.having(sm_count=int(asked.sm_count))
    for values in (range(now + 1, min(now + 4000, MOST) + 1), range(now - 1, max(now - 4000, 0), -1)):
        if len(values):
            found = sweep(asked.slug, {key: [now, *values]}, machine=gpu, budget=budget, **shape)
            today, *tried = found.codes.tolist()
            expected = next(
                (at for at, code in zip(values, tried, strict=True) if code not in {today, 3}), None
            )
            flip = next((f for f in flips(asked, [name]) if (f.at > now) == (values.step > 0)), None)
            assert expected == (flip.at if flip and flip.at in values else None)
