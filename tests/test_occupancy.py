"""Blocks per SM: figures by compute capability, each limit on its edge and one step past it, bad inputs."""

from dataclasses import fields, replace
from types import MappingProxyType

import pytest

from ledger.decisions import decision
from ledger.errors import BadValue, DimensionError, MissingFigure, UnknownName
from ledger.machine import machine, machines
from ledger.occupancy import Limits, Occupancy, limits, limits_of, occupancy, resident
from ledger.traced import Choice, Traced, plain
from ledger.units import BLOCKS, PLAIN

NVIDIA = {key: each for key, each in machines().items() if each.vendor == "NVIDIA"}

# What CUDA's own occupancy header answers: cc, threads, registers, shared bytes, blocks, limiters.
ANSWERED = [
    ("9.0", 32, 8, 12288, 17, "smem"),
    ("9.0", 256, 32, 0, 8, "regs+warps"),
    ("9.0", 256, 64, 49152, 4, "regs+smem"),
    ("9.0", 384, 168, 232448, 1, "regs+smem"),
    ("9.0", 128, 128, 65536, 3, "smem"),
    ("9.0", 128, 255, 0, 2, "regs"),
    ("9.0", 224, 73, 0, 3, "regs"),
    ("9.0", 512, 128, 101376, 1, "regs"),
    ("8.0", 256, 128, 49152, 2, "regs"),
    ("8.0", 1024, 64, 0, 1, "regs"),
    ("8.0", 128, 40, 16384, 9, "smem"),
    ("8.0", 288, 40, 100, 5, "regs"),
    ("8.6", 128, 128, 65536, 1, "smem"),
    ("8.6", 256, 40, 0, 6, "regs+warps"),
    ("8.9", 64, 32, 0, 24, "blocks+warps"),
    ("7.5", 256, 64, 32768, 2, "smem"),
    ("7.0", 256, 64, 16000, 4, "regs"),
    ("10.0", 128, 168, 200000, 1, "smem"),
    ("12.0", 256, 128, 32768, 2, "regs"),
    ("12.0", 32, 16, 0, 24, "blocks"),
]


@pytest.mark.parametrize("row", ANSWERED, ids=str)
def test_the_blocks_and_what_limits_them_are_what_cuda_answers(row):
    cc, threads, registers, shared_bytes, blocks, limiter = row
    block = {"threads": threads, "registers": registers, "shared_bytes": shared_bytes}
    found = resident(limits(cc), **block)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert type(found.blocks) is int
    for each in NVIDIA.values():
        if each.compute_capability == cc:
            assert occupancy(**block, machine=each) == found


EDGES = [
    ("eight blocks of 8 warps fill the 64 warps", "9.0", (256, 32, 0), 8, "regs+warps"),
    ("a ninth warp for one more thread: 64 / 9", "9.0", (257, 32, 0), 7, "regs+warps"),
    ("without registers to spare the warps alone", "9.0", (257, 24, 0), 7, "warps"),
    ("33 registers are given as 40: 12 warps a partition", "9.0", (256, 33, 0), 6, "regs"),
    ("40 registers cost what 33 do", "9.0", (256, 40, 0), 6, "regs"),
    ("41 registers are given as 48: 10 warps a partition", "9.0", (256, 41, 0), 5, "regs"),
    ("two warps of 200 registers a partition, not ten an SM", "9.0", (32, 200, 0), 8, "regs"),
    ("32 warps of 64 registers: eight in each partition", "9.0", (1024, 64, 0), 1, "regs"),
    ("of 65 registers, given as 72, seven in each", "9.0", (1024, 65, 0), 0, "regs"),
    ("half of 228 KB less 1 KB", "9.0", (32, 8, 115712), 2, "smem"),
    ("one byte more", "9.0", (32, 8, 115713), 1, "smem"),
    ("17 footprints of 13,696 bytes", "9.0", (32, 8, 12672), 17, "smem"),
    ("one byte more is 128 more", "9.0", (32, 8, 12673), 16, "smem"),
    ("228 KB in 32 footprints, and 32 blocks at most", "9.0", (32, 8, 6272), 32, "blocks+smem"),
    ("31 footprints", "9.0", (32, 8, 6273), 31, "smem"),
    ("no shared memory but the driver's", "9.0", (32, 8, 0), 32, "blocks"),
    ("all that a block can ask for", "9.0", (32, 8, 232448), 1, "smem"),
    ("one byte past the opt-in limit", "9.0", (32, 8, 232449), 0, "smem"),
    ("a quarter of 96 KB, nothing reserved", "7.0", (32, 8, 24576), 4, "smem"),
    ("one byte more is 256 more", "7.0", (32, 8, 24577), 3, "smem"),
    ("24,832 bytes, the end of that step", "7.0", (32, 8, 24832), 3, "smem"),
    ("no shared memory, none reserved", "7.0", (32, 8, 0), 32, "blocks"),
    ("all of 96 KB", "7.0", (32, 8, 98304), 1, "smem"),
    ("one byte more than there is", "7.0", (32, 8, 98305), 0, "smem"),
    ("seven footprints of 14,592 bytes in 102,400", "8.9", (32, 8, 13568), 7, "smem"),
    ("one byte more is the seventh too many", "8.9", (32, 8, 13569), 6, "smem"),
    ("the 16 blocks of a T4, of two warps each", "7.5", (64, 32, 0), 16, "blocks+warps"),
    ("255 registers in the largest block", "9.0", (1024, 255, 0), 0, "regs"),
]


@pytest.mark.parametrize(
    ("cc", "block", "blocks", "limiter"), [r[1:] for r in EDGES], ids=[r[0] for r in EDGES]
)
def test_each_limit_holds_on_its_edge_and_gives_way_one_step_past_it(cc, block, blocks, limiter):
    threads, registers, shared_bytes = block
    found = resident(limits(cc), threads=threads, registers=registers, shared_bytes=shared_bytes)
    assert (found.blocks, found.limiter) == (blocks, limiter)


def test_an_opt_in_limit_below_what_the_sm_has_is_a_limit_of_its_own():
    low = replace(limits("9.0"), shared_bytes_per_block=50_000)
    assert resident(low, threads=32, registers=8, shared_bytes=50_000).blocks == 4
    past = resident(low, threads=32, registers=8, shared_bytes=50_001)
    assert past == Occupancy(0, 0, 0.0, ("smem",))


def test_a_block_is_refused_where_its_warps_in_fours_need_more_registers_than_there_are():
    """The header's own wording of what four sub-partitions come to, over every block there can be."""
    for warps in range(1, 33):
        for registers in range(1, 256):
            per_warp = (registers * 32 + 255) // 256 * 256
            fits = (warps + 3) // 4 * 4 * per_warp <= 65536
            found = resident(limits("9.0"), threads=32 * warps, registers=registers)
            assert (found.blocks > 0) is fits, (warps, registers)


def test_warps_and_share_follow_from_the_blocks():
    found = resident(limits("9.0"), threads=200, registers=64, shared_bytes=40 * 1024)
    # 7 warps; 32 warps by registers, so 4 blocks; 228 KB in footprints of 41 KB, so 5
    assert found == Occupancy(blocks=4, warps=28, share=0.4375, limiters=("regs",))
    assert isinstance(found.limiter, Choice)


# Threads, blocks, registers, shared bytes of an SM, of a block, reserved; from CUDA's headers.
BY_COMPUTE_CAPABILITY = {
    "7.0": (2048, 32, 65536, 96 * 1024, 96 * 1024, 0),
    "7.5": (1024, 16, 65536, 64 * 1024, 64 * 1024, 0),
    "8.0": (2048, 32, 65536, 164 * 1024, 163 * 1024, 1024),
    "8.6": (1536, 16, 65536, 100 * 1024, 99 * 1024, 1024),
    "8.9": (1536, 24, 65536, 100 * 1024, 99 * 1024, 1024),
    "9.0": (2048, 32, 65536, 228 * 1024, 227 * 1024, 1024),
    "10.0": (2048, 32, 65536, 228 * 1024, 227 * 1024, 1024),
    "12.0": (1536, 24, 65536, 100 * 1024, 99 * 1024, 1024),
}


@pytest.mark.parametrize("key", NVIDIA)
def test_a_machine_of_the_catalogue_has_the_limits_of_its_compute_capability(key):
    cc = machine(key).compute_capability
    found = limits_of(machine(key))
    assert found == limits(cc)
    assert tuple(plain(getattr(found, each.name)) for each in fields(found)) == (
        cc,
        *BY_COMPUTE_CAPABILITY[cc],
    )
    assert plain(found.warps) == machine(key).max_warps_per_sm
    assert all(type(getattr(limits(cc), each.name)) in {int, str} for each in fields(found))


def test_every_compute_capability_of_the_catalogue_is_in_the_table_above():
    assert {each.compute_capability for each in NVIDIA.values()} == set(BY_COMPUTE_CAPABILITY)


def test_the_numbers_are_traced_to_the_block_and_to_the_machine_s_figures():
    fused = decision("norm-rope-quant").b.on_chip
    found = occupancy(threads=256, registers=64, shared_bytes=fused, machine="h200")
    assert (found.blocks, found.limiter) == (2, "smem")
    assert (found.blocks.dimension, found.warps.dimension, found.share.dimension) == (BLOCKS, PLAIN, PLAIN)
    names = {each.key for each in found.blocks.inputs}
    assert {"norm-rope-quant.row", "block.threads", "block.registers", "h200.smem_per_sm_kib"} <= names
    parts = found.blocks.parts()
    assert parts["by_registers"].derivation().endswith("= 4 blocks")
    assert parts["bytes_per_block"] == 105 * 1024
    assert occupancy(threads=256, registers=64, shared_bytes=fused, machine="a100").blocks == 1
    assert occupancy(threads=256, registers=64, shared_bytes=fused, machine="l40s").blocks == 0


def test_a_machine_with_replaced_figures_is_counted_with_them():
    assert occupancy(threads=32, registers=8, machine=machine("h200").having(max_blocks_per_sm=7)).blocks == 7


def without(key, figure):
    figures = {name: each for name, each in machine(key).figures.items() if name != figure}
    return replace(machine(key), figures=MappingProxyType(figures))


GOOD = {"threads": 128, "registers": 32, "shared_bytes": 0, "machine": "h200"}
BAD = [
    ({"threads": 0}, "occupancy: threads must be a whole number from 1 to 1024, got 0"),
    ({"threads": 1025}, "occupancy: threads must be a whole number from 1 to 1024, got 1025"),
    ({"threads": 2.5}, "occupancy: threads must be a whole number from 1 to 1024, got 2.5"),
    ({"threads": True}, "occupancy: threads must be a whole number from 1 to 1024, got True"),
    ({"threads": "128"}, "occupancy: threads must be a whole number from 1 to 1024, got '128'"),
    ({"threads": Traced(1025)}, "occupancy: threads must be a whole number from 1 to 1024, got 1025"),
    ({"registers": 0}, "occupancy: registers must be a whole number from 1 to 255, got 0"),
    ({"registers": 256}, "occupancy: registers must be a whole number from 1 to 255, got 256"),
    ({"registers": None}, "occupancy: registers must be a whole number from 1 to 255, got None"),
    ({"shared_bytes": -1}, "occupancy: shared_bytes must be a whole number of at least 0, got -1"),
    ({"shared_bytes": 0.5}, "occupancy: shared_bytes must be a whole number of at least 0, got 0.5"),
    ({"machine": "mi300x"}, "occupancy: machine must be NVIDIA's, since other vendors' GPUs follow other rules, got mi300x (AMD)"),
    ({"machine": replace(machine("h200"), compute_capability="6.1")}, "occupancy: compute capability must be one of NVIDIA's from 7.0 on, such as 9.0, got '6.1'"),
    ({"machine": replace(machine("h200"), compute_capability="sm_90")}, "occupancy: compute capability must be one of NVIDIA's from 7.0 on, such as 9.0, got 'sm_90'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD, ids=[r[1] for r in BAD])
def test_a_bad_value_is_named_with_what_is_allowed(change, message):
    assert occupancy(**GOOD).blocks == 16
    with pytest.raises(BadValue) as raised:
        occupancy(**{**GOOD, **change})
    assert str(raised.value) == message


LIMITING = [
    "max_threads_per_sm",
    "max_blocks_per_sm",
    "registers_per_sm",
    "smem_per_sm_kib",
    "smem_per_block_optin_kib",
    "smem_reserved_per_block_kib",
]


@pytest.mark.parametrize("name", LIMITING)
def test_a_figure_that_the_machine_lacks_is_named(name):
    with pytest.raises(MissingFigure, match=rf"^h200 \(H200 SXM\): no public figure for {name}; known: "):
        occupancy(**{**GOOD, "machine": without("h200", name)})


def test_an_unknown_machine_or_compute_capability_is_an_unknown_name():
    with pytest.raises(UnknownName, match="unknown machine 'h20': did you mean 'h200'"):
        occupancy(**{**GOOD, "machine": "h20"})
    with pytest.raises(UnknownName, match=r"unknown compute capability '9\.1': .*known: 10\.0, 12\.0, 7\.0"):
        limits("9.1")
    with pytest.raises(UnknownName, match="unknown compute capability 'gfx942'"):
        limits("gfx942")


def test_a_traced_value_of_another_dimension_is_refused():
    with pytest.raises(DimensionError, match="counts bytes, not plain number"):
        occupancy(**{**GOOD, "threads": decision("split-k").a.on_chip // 1024})
    with pytest.raises(DimensionError, match="counts blocks, not bytes"):
        occupancy(**{**GOOD, "shared_bytes": decision("split-k").a.grid})


def test_limits_of_one_s_own_need_no_machine():
    own = Limits(
        compute_capability="9.0",
        threads=64,
        blocks=5,
        registers=65536,
        shared_bytes=8192,
        shared_bytes_per_block=4096,
        reserved_bytes_per_block=1024,
    )
    assert resident(own, threads=32, registers=8) == Occupancy(2, 2, 1.0, ("warps",))
