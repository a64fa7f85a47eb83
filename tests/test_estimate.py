"""The second opinion: every term of a launch worked by hand on a machine of round figures."""

from dataclasses import replace

import pytest

from ledger.decisions import QUESTIONS, decision
from ledger.errors import BadValue, MissingFigure
from ledger.estimate import Launch, estimate, opinion, streaming, time
from ledger.machine import machine, machines
from ledger.option import Option
from ledger.traced import Traced, plain

# 10 SMs at 1000 MHz: one draws 32,000 bytes a µs. HBM gives 100,000, L2 500,000; its half is 512 KiB.
ROUND = machine("h200").having(
    sm_count=10,
    bandwidth_gbs=100,
    boost_mhz=1000,
    l2_mib=1,
    l2_read_gbs=500,
    launch_stream_us=2,
    launch_graph_us=1,
    fp16_dense_tflops=100,
    smem_per_sm_kib=100,
    max_threads_per_sm=1024,
)
KB = 1024


def launch(**changes) -> Launch:
    """25 blocks of 99 KB on chip, one an SM: two full waves and one of five blocks."""
    given = {"grid": 25, "reads": 10**6, "writes": 0, "on_chip": 99 * KB, "in_flight": 40_000}
    return Launch(**{**given, **changes})


TERMS = [
    # changes to the launch, then: resident, slots, waves, last; and of a full and of the last wave, in µs,
    # bandwidth, draw, flight, tensor
    ({}, (1, 10, 3, 5), (4, 1.25, 0.6, 0), (2, 1.25, 0.6, 0)),
    ({"in_flight": 10_000}, (1, 10, 3, 5), (4, 1.25, 2.4, 0), (2, 1.25, 2.4, 0)),
    ({"in_flight": 16_000}, (1, 10, 3, 5), (4, 1.25, 1.5, 0), (2, 1.25, 1.5, 0)),
    ({"writes": 10**6}, (1, 10, 3, 5), (8, 2.5, 0.6, 0), (4, 2.5, 0.6, 0)),
    ({"on_chip": 99 * KB + 1}, (1, 10, 3, 5), (4, 1.25, 0.6, 0), (2, 1.25, 0.6, 0)),
    ({"on_chip": 49 * KB}, (2, 20, 2, 5), (8, 2.5, 0.6, 0), (2, 1.25, 0.6, 0)),
    ({"on_chip": 49 * KB + 1}, (1, 10, 3, 5), (4, 1.25, 0.6, 0), (2, 1.25, 0.6, 0)),
    ({"on_chip": 0}, (4, 40, 1, 25), (16, 5, 0.6, 0), (10, 3.75, 0.6, 0)),
    ({"on_chip": 0, "threads": 512}, (2, 20, 2, 5), (8, 2.5, 0.6, 0), (2, 1.25, 0.6, 0)),
    ({"on_chip": 0, "threads": 1}, (32, 320, 1, 25), (128, 40, 0.6, 0), (10, 3.75, 0.6, 0)),
    ({"grid": 20}, (1, 10, 2, 10), (5, 1.5625, 0.75, 0), (5, 1.5625, 0.75, 0)),
    ({"grid": 3}, (1, 10, 1, 3), (33.333333, 10.416667, 5, 0), (10, 10.416667, 5, 0)),
    # half of it passed on, and it fits half of L2
    ({"passed": 500_000}, (1, 10, 3, 5), (2.4, 1.25, 0.6, 0), (1.2, 1.25, 0.6, 0)),
    ({"passed": 512 * KB}, (1, 10, 3, 5), (2.3222784, 1.25, 0.6, 0), (1.1611392, 1.25, 0.6, 0)),
    ({"passed": 512 * KB + 1}, (1, 10, 3, 5), (4, 1.25, 0.6, 0), (2, 1.25, 0.6, 0)),
    # 25 blocks of 7.8 MFLOP each at 7.8 TFLOP/s an SM
    ({"flops": 25 * 7_800_000}, (1, 10, 3, 5), (4, 1.25, 0.6, 1), (2, 1.25, 0.6, 1)),
]


@pytest.mark.parametrize(("changes", "counts", "wave", "tail"), TERMS)
def test_every_term_of_a_launch(changes, counts, wave, tail):
    found = time(launch(**changes), ROUND)
    assert (found.resident, found.slots, found.waves, found.last) == counts
    assert list(map(float, found.wave)) == pytest.approx(wave, rel=1e-6)
    assert list(map(float, found.tail)) == pytest.approx(tail, rel=1e-6)


def test_a_launch_takes_its_cost_its_full_waves_and_its_last_one():
    found = time(launch(), ROUND)
    assert (found.cost, found.full, found.us) == (2, 8, 12)
    assert time(launch(), ROUND, "graph").us == 11
    assert found.us.parts().keys() >= {"waves", "wave", "tail", "slots", "resident", "moved"}


def test_where_bandwidth_is_the_vendor_s_a_share_of_it_is_reached_and_l2_is_faster_by_a_constant():
    vendor = machine("l40s").having(bandwidth_vendor_gbs=100, l2_mib=10)
    kept, moved = (float(time(streaming(reads=10**6, passed=p), vendor).us) for p in (10**6, 0))
    cost = float(time(streaming(reads=1), vendor).cost)
    assert moved - cost == pytest.approx(10**6 / (0.92 * 100_000))
    assert kept - cost == pytest.approx(10**6 / (0.92 * 100_000 * 2.5))


def test_without_a_published_l2_nothing_stays_in_it():
    unknown = machine("l40s").having(bandwidth_vendor_gbs=100)
    all_of_it = streaming(reads=400_000, passed=400_000)
    assert time(all_of_it, unknown).us == time(streaming(reads=400_000), unknown).us


def test_a_streaming_kernel_has_a_block_for_every_4_kb_that_it_reads_or_writes():
    found = streaming(reads=10_000, writes=5_000)
    assert found == launch(grid=3, reads=10_000, writes=5_000, on_chip=4096, in_flight=4096, threads=256)
    assert streaming(writes=4096) == launch(grid=1, reads=0, writes=4096, on_chip=0, in_flight=4096)
    assert streaming(reads=4097).passed == 0


BINDING = [
    ({"grid": 10, "reads": 200_000}, "bandwidth"),  # as long as the launch
    ({}, "bandwidth"),
    ({"on_chip": 49 * KB, "grid": 5}, "bandwidth"),
    ({"grid": 3}, "what the busy SMs can draw"),
    ({"in_flight": 1000}, "loads in flight"),
    ({"flops": 10**9}, "tensor cores"),
    ({"reads": 10_000}, "the launch"),
]


@pytest.mark.parametrize(("changes", "binding"), BINDING)
def test_what_bounds_a_launch_is_named(changes, binding):
    assert time(launch(**changes), ROUND).binding == binding


def made(*launches: Launch) -> Option:
    return Option("made", 1, 1, 1, launches=lambda: launches)


def test_an_option_takes_all_its_launches_one_after_the_other():
    found = estimate(made(launch(), launch(grid=3)), ROUND)
    assert float(found.us) == pytest.approx(12 + 2 + 10.4166667)
    assert found.us.formula() == "kernel 1 + kernel 2"
    assert found.why == (
        "2 launches: 3 waves, the last 50 % full, bound by bandwidth,"
        " then 30 % of one wave, bound by what the busy SMs can draw"
    )


def test_the_first_page_s_example():
    sixteen, seventeen = (opinion(decision("split-kv", batch_heads=8, split=n)) for n in (16, 17))
    assert sixteen.decision.winner == "NEITHER"
    assert not sixteen.agrees
    assert seventeen.agrees
    assert seventeen.b.us > 1.4 * sixteen.b.us


OPINIONS = [
    # slug, machine, shape: what the rule says, what the second opinion says, whether they agree
    ("split-k", "h200", {}, "split-K=8", "split-K=8", True),
    ("gemm-epilogue", "h200", {}, "GEMM with fused epilogue", "too close to call", True),
    ("split-k", "h200", {"split": 2}, "NEITHER", "split-K=2", False),
    ("split-kv", "l40s", {}, "NEITHER", "neither fits", True),
    ("norm-rope-quant", "l40s", {}, "norm+rope | quant as 2 kernels", "norm+rope | quant as 2 kernels", True),
]


@pytest.mark.parametrize(("slug", "key", "shape", "rule", "says", "agrees"), OPINIONS)
def test_an_opinion_beside_the_rule(slug, key, shape, rule, says, agrees):
    asked = decision(slug, machine=key, **shape)
    found = opinion(asked)
    assert (asked.winner, found.says, found.agrees) == (rule, says, agrees)
    assert bool(found.faster) == (says not in {"too close to call", "neither fits"})


EDGE = [(8_799_900, True), (8_800_000, True), (8_800_100, False)]  # 90 µs is a fifth more than 75


@pytest.mark.parametrize(("reads", "close"), EDGE)
def test_two_times_are_too_close_to_call_within_a_fifth(reads, close):
    quick, slow = made(launch(grid=10, reads=7_300_000)), made(launch(grid=10, reads=reads))
    for a, b in ((quick, slow), (slow, quick)):
        asked = replace(decision("split-k", machine=ROUND), option_a=a, option_b=b)
        assert opinion(asked).is_close is close


def test_a_disagreement_says_why():
    assert opinion(decision("split-k", split=2)).reason == (
        "94.30 us against 52.59 us; the rule decides by parallelism; split-K=2 takes 2 launches:"
        " 97 % of one wave, bound by tensor cores, then 97 % of one wave, bound by the launch"
    )


def test_what_nobody_has_published_is_assumed_and_says_so():
    found = time(streaming(reads=2**20), machine("l40s"))
    assert found.cost == 2.19  # the middle of the published fits
    assert found.cost.inputs[0].source == "assumed, since nobody has published it"


@pytest.mark.parametrize("key", machines())
@pytest.mark.parametrize("slug", QUESTIONS)
def test_every_decision_on_every_machine_has_an_opinion_or_says_what_is_missing(slug, key):
    if key == "gh200" or (key == "rtx-pro-6000" and _has_products(slug)):
        with pytest.raises(MissingFigure, match=f"{key} .* no public figure for"):
            opinion(decision(slug, machine=key))
        return
    found = opinion(decision(slug, machine=key))
    for each in (found.a, found.b):
        assert each is None or (isinstance(each.us, Traced) and 1 < each.us < 10**7)


def _has_products(slug: str) -> bool:
    asked = decision(slug, machine="rtx-pro-6000")
    fitting = [each for each in (asked.a, asked.b) if asked.fits(each)]
    return any(plain(launch.flops) for option in fitting for launch in option.launches())


BAD = [
    (
        lambda: opinion(decision("split-k"), "streem"),
        "estimate: mode must be one of stream, graph, got 'streem'",
    ),
    (
        lambda: estimate(Option("bare", 1, 1, 1), ROUND),
        "bare: launches must be at least one kernel, for a second opinion, got 0",
    ),
]


@pytest.mark.parametrize(("ask", "message"), BAD)
def test_bad_input_is_named(ask, message):
    with pytest.raises(BadValue) as raised:
        ask()
    assert message in str(raised.value)
