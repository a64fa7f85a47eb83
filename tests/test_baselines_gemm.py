"""Shipping libraries' rules for GEMMs, reductions and fusion: worked examples, and edges worked by hand."""

from dataclasses import FrozenInstanceError

import pytest

from ledger.baselines import cutlass_2_stream_k, cutlass_3_stream_k, inductor, triton_split_k, xla_fusion
from ledger.errors import BadValue, MissingFigure, UnknownName
from ledger.machine import machine

MODULES = (cutlass_2_stream_k, cutlass_3_stream_k, inductor, triton_split_k, xla_fusion)


@pytest.mark.parametrize("module", MODULES, ids=[m.__name__ for m in MODULES])
def test_a_module_names_its_source_its_version_and_when_it_was_read(module):
    text = " ".join(module.__doc__.split())
    assert "Source: " in text
    assert "commit" in text or "git " in text
    assert "by 2026-12-01" in text


# CUTLASS 2 --------------------------------------------------------------------------------------------

CUTLASS_2 = [
    # tiles, k-iterations, SMs, occupancy; then tiles data-parallel, tiles and blocks of stream-K, savings
    ((108, 64, 108, 1), (108, 0, 0, None)),
    ((120, 64, 108, 1), (0, 120, 108, 48)),
    ((16, 64, 108, 1), (0, 16, 96, 39)),
    ((200, 32, 108, 1), (200, 0, 0, -4)),
    ((64, 128, 132, 1), (0, 64, 128, 58)),
    ((134, 64, 132, 1), (0, 134, 132, 55)),
    ((4, 128, 132, 1), (0, 4, 32, 94)),
    ((150, 8, 132, 1), (0, 150, 132, 0)),
    ((130, 64, 132, 1), (130, 0, 0, -11)),
    ((300, 128, 132, 2), (132, 168, 132, 81)),
    # by hand: 1 tile over 4 blocks is 25 iterations and 2 + 2 x 4 of fix-up, of 100
    ((5, 100, 4, 2), (4, 1, 4, 65)),  # the free half of the second wave
    ((13, 100, 4, 2), (12, 1, 4, 65)),  # the same in the last slot of the fourth
    # 3 tiles over 4 blocks: 75 iterations, skew 0.02 x 3 x 75 = 4.5, fix-up 2 + 4.5 + 6, cut to 12
    ((15, 100, 4, 2), (12, 3, 4, 13)),
    # refused at -6; 7 tiles over 4 blocks: 18 iterations and 6 of fix-up against 20
    ((15, 10, 4, 2), (15, 0, 0, -4)),
    # 4 tiles over 3 blocks: 267 iterations, fix-up 2 + 10.68 + 4, against 400; at most 9 blocks are tried
    ((13, 200, 3, 3), (9, 4, 3, 117)),
    ((1, 3, 4, 1), (1, 0, 0, None)),  # a block has 2 iterations at least: one block, and two are the least
    ((1, 4, 4, 1), (1, 0, 0, -4)),  # two blocks of 2 iterations, 6 of fix-up, against 4
]


@pytest.mark.parametrize(("asked", "expected"), CUTLASS_2, ids=[str(r[0]) for r in CUTLASS_2])
def test_cutlass_2_shares_the_tail_where_that_saves_iterations(asked, expected):
    found = cutlass_2_stream_k.decide(cutlass_2_gemm(*asked))
    assert (
        found.data_parallel_tiles,
        found.stream_k_tiles,
        found.stream_k_blocks,
        found.savings,
    ) == expected
    assert found.why.startswith("stream-K: " if found.stream_k_tiles else "data-parallel: ")


def cutlass_2_gemm(tiles, iterations, sm_count, occupancy):
    return cutlass_2_stream_k.Gemm(tiles=tiles, iterations=iterations, sm_count=sm_count, occupancy=occupancy)


REDUCTIONS = [
    ("one wave of two, four blocks on one tile", (5, 100, 4, 2), True),
    # 2 tiles: 6 blocks save 100 - 34 - 8, 5 blocks 100 - 40 - 13, 4 blocks 100 - 50 - 6
    ("one wave of two, six blocks on two tiles", (8, 100, 6, 2), True),
    ("one wave of one", (4, 128, 132, 1), False),
    ("four blocks on three tiles", (15, 100, 4, 2), False),
    # 3 blocks save 100 - 67 - 12, 4 blocks 100 - 50 - 6
    ("four blocks on two tiles", (6, 100, 4, 2), False),
]


@pytest.mark.parametrize(("name", "asked", "expected"), REDUCTIONS, ids=[r[0] for r in REDUCTIONS])
def test_cutlass_2_reduces_apart_where_blocks_are_many_and_waves_few(name, asked, expected):
    assert cutlass_2_stream_k.decide(cutlass_2_gemm(*asked)).separate_reduction is expected


def test_cutlass_2_says_why_in_numbers():
    reasons = [
        cutlass_2_stream_k.decide(cutlass_2_gemm(*asked)).why
        for asked in [(120, 64, 108, 1), (108, 64, 108, 1), (130, 64, 132, 1), (1, 3, 4, 1)]
    ]
    assert reasons == [
        "stream-K: 120 tiles over 108 blocks save 48 k-iterations",
        "data-parallel: 108 tiles are whole waves of 108 SMs",
        "data-parallel: the best stream-K schedule, 132 blocks, loses 11 k-iterations",
        "data-parallel: too little work for stream-K blocks of 2 k-iterations",
    ]


# CUTLASS 3 --------------------------------------------------------------------------------------------

CUTLASS_3 = [
    # tiles, k-tiles, wave, caller's splits, cluster; then mode, whole tiles, stream-K tiles, units, splits
    ((132, 64, 132, 1, 1), ("data-parallel", 132, 0, 0, 1)),
    ((140, 64, 132, 1, 1), ("stream-K", 0, 140, 132, 1)),
    ((16, 64, 132, 1, 1), ("split-K", 0, 0, 0, 8)),
    ((64, 64, 132, 1, 1), ("stream-K", 0, 64, 132, 1)),
    ((65, 64, 132, 1, 1), ("stream-K", 0, 65, 132, 1)),
    ((66, 64, 132, 1, 1), ("data-parallel", 66, 0, 0, 1)),
    ((150, 8, 132, 1, 1), ("data-parallel", 150, 0, 0, 1)),
    ((4, 128, 132, 1, 1), ("split-K", 0, 0, 0, 16)),
    ((1, 64, 132, 1, 1), ("split-K", 0, 0, 0, 8)),
    ((270, 64, 132, 1, 1), ("stream-K", 132, 138, 132, 1)),
    ((33, 256, 132, 1, 1), ("split-K", 0, 0, 0, 4)),
    # by hand
    ((66, 64, 133, 1, 1), ("stream-K", 0, 66, 133, 1)),  # 66 of 133, less than half
    ((5, 9, 132, 1, 1), ("stream-K", 0, 5, 5, 1)),  # 45 k-tiles are five units, no more than tiles
    ((132, 64, 132, 2, 1), ("split-K", 0, 0, 0, 2)),  # two splits are a split
    ((150, 9, 132, 1, 1), ("stream-K", 0, 150, 132, 1)),  # 9 k-tiles, one more than 8
    ((132, 64, 132, 4, 1), ("split-K", 0, 0, 0, 4)),  # the caller's word, whole waves or not
    ((10, 64, 132, 200, 1), ("split-K", 0, 0, 0, 64)),  # no more than there are k-tiles
    ((10, 256, 132, 200, 1), ("split-K", 0, 0, 0, 132)),  # nor than SMs
    ((140, 64, 132, 1, 5), ("stream-K", 0, 140, 130, 1)),  # 132 units are 26 clusters of 5
    ((1, 9, 132, 1, 2), ("data-parallel", 1, 0, 0, 1)),  # 9 k-tiles are one unit, no cluster of 2
]


@pytest.mark.parametrize(("asked", "expected"), CUTLASS_3, ids=[str(r[0]) for r in CUTLASS_3])
def test_cutlass_3_goes_by_the_tail_of_the_last_wave(asked, expected):
    tiles, k_tiles, wave, splits, cluster = asked
    found = cutlass_3_stream_k.decide(
        cutlass_3_stream_k.Gemm(
            tiles=tiles, k_tiles=k_tiles, wave=wave, sm_count=132, splits=splits, cluster=cluster
        )
    )
    assert (
        found.mode,
        found.data_parallel_tiles,
        found.stream_k_tiles,
        found.stream_k_units,
        found.splits,
    ) == expected
    assert found.why.startswith(found.mode)


def test_cutlass_3_says_that_half_a_wave_stays_whole():
    odd = cutlass_3_stream_k.Gemm(tiles=66, k_tiles=64, wave=133, sm_count=133)
    assert cutlass_3_stream_k.decide(odd).stream_k_units == 133  # a cluster is one CTA unless said
    asked = cutlass_3_stream_k.Gemm(tiles=66, k_tiles=64, wave=132, sm_count=132)
    assert cutlass_3_stream_k.decide(asked).why == "data-parallel: the last wave has 66 of 132, half or more"


# Inductor ---------------------------------------------------------------------------------------------

INNER = [
    # elements per output, outputs, SMs, compute capability, splits
    (8192, 1, 132, 9, 1),
    (8193, 1, 132, 9, 2),
    (10**6, 1, 132, 9, 123),
    (10**7, 1, 132, 9, 489),
    (2**28, 1, 132, 9, 2048),
    (65536, 64, 132, 9, 8),
    (65536, 263, 132, 9, 4),
    (65536, 264, 132, 9, 1),
    (32768, 8, 148, 10, 1),
    (32769, 8, 148, 10, 5),
    (2**20, 16, 108, 8, 32),
    # by hand: from as many outputs as SMs on, 40960 on compute capability 10; 40961 / 8192 = 5 and a rest
    (40960, 148, 148, 10, 1),
    (40961, 148, 148, 10, 6),
    (40960, 147, 148, 10, 5),
]


@pytest.mark.parametrize(("reduced", "outputs", "sms", "capability", "splits"), INNER)
def test_inductor_splits_a_long_inner_reduction(reduced, outputs, sms, capability, splits):
    asked = inductor.Reduction(reduced=reduced, outputs=outputs, sm_count=sms, capability=capability)
    assert inductor.split_reduction(asked).splits == splits


OUTER = [
    (4096, 1024, 32),
    (10**6, 64, 1000),
    (65536, 4096, 32),
    (640, 256, 5),
    (2**20, 512, 512),
    # by hand: 33 elements are one part of 4 x 32; at 64 times as many outputs as SMs nothing is split
    (33, 1, 1),
    (65536, 64 * 132, 1),
    (65536, 64 * 132 - 1, 32),
]


@pytest.mark.parametrize(("reduced", "outputs", "splits"), OUTER)
def test_inductor_splits_an_outer_reduction(reduced, outputs, splits):
    asked = inductor.Reduction(reduced=reduced, outputs=outputs, sm_count=132, direction="outer")
    assert inductor.split_reduction(asked).splits == splits


def test_inductor_gives_a_thread_32_to_about_512_elements():
    found = [_elements("inner", 32768), _elements("inner", 65536), _elements("inner", 524288)]
    # 32 on the limit; 2 blocks of 256 threads for the one output, so 128 each; 512 on the upper limit
    assert found == [(32, 4), (128, 2), (512, 4)]
    assert _elements("outer", 32767) == (32, 256)
    assert _elements("outer", 32768) == (2048, 4)  # 4 blocks of 4 rows
    assert _elements("inner", 524309) == (512, 5)  # a prime has no divisor within 50 of 512
    assert _elements("inner", 65537) == (129, 2)  # a prime has none within 30 of 65537 / 512


def _elements(direction, reduced):
    asked = inductor.Reduction(
        reduced=reduced, outputs=1, sm_count=1, threads_per_sm=1024, direction=direction
    )
    found = inductor.split_reduction(asked)
    return found.elements_per_thread, found.splits


UNSPLIT = [
    ({"reduced": 10**6, "operation": "argmax"}, "no split: argmax is never split"),
    ({"reduced": 10**6, "operation": "dot"}, "no split: dot is never split"),
    (
        {"reduced": 32, "direction": "outer"},
        "no split: 32 elements, no more than one thread's 32",
    ),
    ({"reduced": 8192}, "no split: 8192 elements, no more than 8192"),
    (
        {"reduced": 65536, "outputs": 264},
        "no split: 264 outputs for 132 SMs, twice as many or more",
    ),
    (
        {"reduced": 65536, "outputs": 8448},
        "no split: 8448 outputs for 132 SMs, 64 times as many or more",
    ),
]


@pytest.mark.parametrize(("asked", "why"), UNSPLIT, ids=[r[1] for r in UNSPLIT])
def test_inductor_says_why_a_reduction_is_left_whole(asked, why):
    found = inductor.split_reduction(inductor.Reduction(**{"outputs": 1, "sm_count": 132, **asked}))
    assert (found.splits, found.elements_per_thread, found.why) == (1, None, why)


DECOMPOSE_K = [
    ((32, 32, 1023), ()),
    ((32, 32, 1024), (2, 4, 8)),
    ((16, 16, 4096), (2, 4, 8, 16, 32)),
    ((64, 64, 16384), (2, 4, 8, 16, 32, 64, 128)),
    ((128, 128, 4096), (2, 4, 8, 16, 32)),
    ((32, 512, 16384), (2, 4, 8, 16, 32)),
    ((48, 48, 9216), (9, 18, 36, 72, 2, 3, 4, 6, 8, 12)),
    ((64, 128, 3072), ()),
    # by hand: shares of 640 = 2^7 x 5, 256 and 128 are left of 1280 = 2^8 x 5
    ((16, 16, 1280), (5, 10, 2, 4, 8)),
    # 672, 448, 224 and 192 of 1344 are multiples of 32, 336 and 168 are not
    ((16, 16, 1344), (2, 3, 6, 7, 4, 8)),
    # 700, 350, 280, 200, 175, 140 of 1400, none a multiple of 32
    ((16, 16, 1400), (2, 4, 5, 7, 8, 10)),
]


@pytest.mark.parametrize(("shape", "splits"), DECOMPOSE_K, ids=[str(r[0]) for r in DECOMPOSE_K])
def test_inductor_offers_divisors_of_k(shape, splits):
    m, n, k = shape
    assert inductor.decompose_k(inductor.Product(m=m, n=n, k=k)).splits == splits


def test_inductor_offers_none_on_rocm_and_what_the_user_s_ratio_lets_through():
    assert inductor.decompose_k(inductor.Product(m=16, n=16, k=4096, rocm=True)).splits == ()
    assert inductor.decompose_k(inductor.Product(m=64, n=128, k=3072, ratio=24)).splits[:2] == (3, 6)
    assert inductor.decompose_k(inductor.Product(m=64, n=128, k=3072)).why == (
        "not offered: K = 3072 is below 32 x 128"
    )


EPILOGUES = [
    # registers before and after at 256 threads, spilled, epilogue and product in µs; then blocks and answer
    ("a half of two blocks stays", 128, 128, 0, 0, 0, (2, 2), True),
    ("two blocks become one", 96, 168, 0, 0, 0, (2, 1), False),
    ("one block is left, though the epilogue dominates", 96, 168, 0, 100, 1, (2, 1), False),
    ("four blocks become one", 64, 255, 0, 0, 0, (4, 1), False),
    ("six blocks become four", 40, 64, 0, 0, 0, (6, 4), True),
    ("eight spills", 128, 128, 8, 0, 0, (2, 2), False),
    ("eight spills, four blocks", 40, 64, 8, 0, 0, (6, 4), False),
    # by hand
    ("seven spills", 128, 128, 7, 0, 0, (2, 2), True),
    ("four blocks of sixteen are enough", 16, 64, 0, 0, 0, (16, 4), True),
    ("two of four, exactly half", 64, 128, 0, 0, 0, (4, 2), False),
    ("two of four, the epilogue more than twice the product", 64, 128, 0, 2.1, 1, (4, 2), True),
    ("two of four, the epilogue just twice the product", 64, 128, 0, 2, 1, (4, 2), False),
    ("three of five", 48, 80, 0, 0, 0, (5, 3), True),
]


@pytest.mark.parametrize(
    ("name", "before", "after", "spilled", "epilogue", "product", "blocks", "fuse"),
    EPILOGUES,
    ids=[r[0] for r in EPILOGUES],
)
def test_inductor_fuses_an_epilogue_by_the_blocks_that_registers_leave(
    name, before, after, spilled, epilogue, product, blocks, fuse
):
    build = inductor.EpilogueBuild(
        registers=before,
        fused_registers=after,
        threads=256,
        spilled=spilled,
        epilogue_us=epilogue,
        product_us=product,
    )
    assert (build.blocks, build.fused_blocks) == blocks
    assert inductor.fuse_epilogue(build).fuse is fuse


# Triton -----------------------------------------------------------------------------------------------

TRITON = [
    # batch, m, n, k, tile; splits, grid
    ((1, 16, 4096, 4096), (16, 128, 64), 4, 32),
    ((1, 16, 4096, 4096), (16, 256, 64), 8, 16),
    ((1, 64, 1024, 8192), (64, 128, 64), 16, 8),
    ((1, 128, 512, 512), (128, 128, 64), 2, 4),
    ((1, 4096, 4096, 4096), (128, 256, 64), 1, 512),
    ((1, 16, 512, 16384), (16, 128, 64), 33, 4),
    ((8, 16, 1024, 1024), (16, 128, 64), 2, 64),
    # by hand: 3 k-tiles are no four, yet one split remains
    ((1, 16, 512, 192), (16, 128, 64), 1, 4),
    ((1, 17, 513, 449), (16, 128, 64), 2, 10),  # 2 x 5 tiles, 8 k-tiles
]


@pytest.mark.parametrize(("shape", "tile", "splits", "grid"), TRITON)
def test_triton_splits_k_until_the_grid_fills_the_processors(shape, tile, splits, grid):
    found = triton_split_k.decide(triton_product(shape, tile))
    assert (found.splits, found.grid) == (splits, grid)


def triton_product(shape, tile, **more):
    batch, m, n, k = shape
    m_tile, n_tile, k_tile = tile
    return triton_split_k.Product(
        batch=batch,
        m=m,
        n=n,
        k=k,
        tile=triton_split_k.Tile(m=m_tile, n=n_tile, k=k_tile),
        **{"sm_count": 132, **more},
    )


def test_triton_on_amd_does_not_ask_for_k_tiles():
    asked = ((1, 128, 512, 512), (128, 128, 64))
    assert triton_split_k.decide(triton_product(*asked, vendor="amd", sm_count=304)).splits == 76
    assert triton_split_k.decide(triton_product(*asked, vendor="amd", sm_count=3)).splits == 1


def test_triton_says_which_limit_holds():
    reasons = [
        triton_split_k.decide(triton_product(*asked)).why
        for asked in [((1, 128, 512, 512), (128, 128, 64)), ((1, 16, 4096, 4096), (16, 128, 64))]
    ]
    assert reasons == ["8 k-tiles hold 2 splits of 4", "a grid of 32 fits 4 times on 132 processors"]


TILES = [
    # rows, columns, bits, narrow
    ((16, 4096, 16, False), (16, 256, 64)),
    ((16, 4096, 16, True), (16, 128, 64)),
    ((1, 129, 8, False), (16, 256, 128)),
    ((65, 128, 32, False), (128, 128, 32)),
    ((200, 100, 16, False), (128, 128, 64)),
    ((64, 33, 16, True), (64, 64, 64)),
]


@pytest.mark.parametrize(("asked", "expected"), TILES)
def test_triton_s_own_tile_follows_the_shape_and_the_width(asked, expected):
    rows, columns, bits, narrow = asked
    operands = triton_split_k.Operands(rows=rows, columns=columns, bits=bits, narrow=narrow)
    m, n, k = expected
    assert triton_split_k.default_tile(operands) == triton_split_k.Tile(m=m, n=n, k=k)


# XLA --------------------------------------------------------------------------------------------------

H100, H200, A6000 = (xla_fusion.Device.of(machine(key)) for key in ("h100-sxm", "h200", "rtx-a6000"))
MB, MIB = 10**6, 2**20
WAVE = 132  # any number from 76 blocks on draws all of the bandwidth on each of the three


def to_the_last_digit(text):
    """What was published, give or take half a unit of its last digit."""
    half = 0.5 * 10 ** -len(text.partition(".")[2])
    return pytest.approx(float(text), rel=0, abs=half + 1e-9)


def whole(size):
    return xla_fusion.Read(net_bytes=size, total_bytes=size)


CHAINS = [
    # the device, elements of fp32; µs of two kernels and of one
    ("H100", H100, 10**5, "2.48", "1.24"),
    ("H100", H100, 10**6, "6.77", "3.39"),
    ("H100", H100, 10**7, "49.7", "24.9"),
    ("H100", H100, 10**8, "479", "240"),
    ("H200", H200, 10**6, "5.33", "2.67"),
    ("A6000", A6000, 10**6, "22.8", "11.4"),
]


@pytest.mark.parametrize(("name", "device", "elements", "apart", "fused"), CHAINS)
def test_xla_halves_the_time_of_a_chain_of_two_at_every_size(name, device, elements, apart, fused):
    chain = xla_fusion.elementwise_chain(elements=elements, blocks=WAVE)
    found = xla_fusion.decide(device, chain)
    assert found.unfused_us == to_the_last_digit(apart)
    assert found.fused_us == to_the_last_digit(fused)
    assert found.unfused_us == pytest.approx(2 * found.fused_us)
    assert found.fuse


MEMORY = [
    ("write 40 MB", A6000, xla_fusion.Kernel(blocks=WAVE, written_bytes=40 * MB), "52.1"),
    (
        "two reads and one write of 40 MB",
        A6000,
        xla_fusion.Kernel(blocks=WAVE, reads=(whole(40 * MB),) * 2, written_bytes=40 * MB),
        "156.2",
    ),
    (
        "1 MiB read until 100 MiB are read, from L2",
        H100,
        xla_fusion.Kernel(blocks=WAVE, reads=(xla_fusion.Read(net_bytes=MIB, total_bytes=100 * MIB),)),
        "12.7",
    ),
    (
        "100 MiB read twice, past L2",
        H100,
        xla_fusion.Kernel(blocks=WAVE, reads=(xla_fusion.Read(net_bytes=100 * MIB, total_bytes=200 * MIB),)),
        "62.6",
    ),
    # by hand: 1,048,576 / (1,980 x 32) = 16.5495
    ("1 MiB read by one block", H100, xla_fusion.Kernel(blocks=1, reads=(whole(MIB),)), "16.55"),
]


@pytest.mark.parametrize(("name", "device", "kernel", "time"), MEMORY, ids=[r[0] for r in MEMORY])
def test_xla_times_memory_by_bytes_blocks_and_caches(name, device, kernel, time):
    assert xla_fusion.kernel_us(device, kernel) == to_the_last_digit(time)


def test_xla_lets_a_block_draw_32_bytes_a_clock():
    assert xla_fusion.saturating_blocks(H100) == to_the_last_digit("52.9")
    assert xla_fusion.bandwidth(H100, 53) == H100.bytes_per_us
    assert xla_fusion.bandwidth(H100, 53, limit=1e9) / 1000 == to_the_last_digit("3358")
    assert xla_fusion.bandwidth(H100, 52) == 52 * 1980 * 32


# A device with round figures: DRAM 1,000 bytes per µs, 4 SMs of 2 lanes, 100 MHz, so 3,200 bytes per µs a block.
SMALL = xla_fusion.Device(
    bytes_per_us=1000, clock_mhz=100, sm_count=4, l2_bytes=100_000, lanes_per_sm=2, bytes_per_clock=32
)
READS = [
    ("once", 100_000, 100_000, True, 4, 100.0),
    ("as large as L2, from DRAM again", 100_000, 200_000, True, 4, 200.0),
    ("below it, 2.5 times as fast again", 99_000, 199_000, True, 4, 99 + 40.0),
    ("as large as four times 2 KB", 8192, 8192 + 10_000, True, 4, 8.192 + 4.0),
    ("below that, 20 times as fast", 8000, 8000 + 10_000, True, 4, 8 + 0.5),
    ("a part of the operand", 100_000, 30_000, True, 4, 30.0),
    ("scattered: a sector of 64 bytes for each 4", 10_000, 10_000, False, 4, 160.0),
    ("scattered, re-reads from L2 as ever", 10_000, 20_000, False, 8, 80 + 4.0),
]


@pytest.mark.parametrize(
    ("name", "net", "total", "coalesced", "element", "time"), READS, ids=[r[0] for r in READS]
)
def test_xla_reads_an_operand_once_from_dram_and_again_from_the_cache(
    name, net, total, coalesced, element, time
):
    read = xla_fusion.Read(net_bytes=net, total_bytes=total, coalesced=coalesced, element_bytes=element)
    assert xla_fusion.read_us(SMALL, read, blocks=100) == pytest.approx(time)


def test_xla_caps_a_cache_by_the_blocks_too():
    read = xla_fusion.Read(net_bytes=8000, total_bytes=8000 + 6400)
    assert xla_fusion.read_us(SMALL, read, blocks=1) == pytest.approx(8 + 2)  # 20,000 asked, 3,200 drawn


COMPUTE = [
    # blocks, threads of each, operations, µs: 2 operations a clock and lane, 100 clocks a µs
    ("all eight lanes", 8, 32, 16_000, 10.0),
    ("two of four SMs", 2, 32, 16_000, 20.0),
    ("one thread a block", 4, 1, 16_000, 20.0),
]


@pytest.mark.parametrize(("name", "blocks", "threads", "flops", "time"), COMPUTE, ids=[r[0] for r in COMPUTE])
def test_xla_computes_on_the_lanes_that_the_grid_occupies(name, blocks, threads, flops, time):
    kernel = xla_fusion.Kernel(blocks=blocks, threads=threads, flops=flops)
    assert xla_fusion.compute_us(SMALL, kernel) == pytest.approx(time)


def test_xla_hides_most_of_the_shorter_of_compute_and_memory():
    kernel = xla_fusion.Kernel(blocks=8, threads=32, flops=16_000, written_bytes=30_000)
    assert xla_fusion.kernel_us(SMALL, kernel) == pytest.approx(30 + 10 * 0.05)


def test_xla_does_not_fuse_a_producer_whose_work_is_done_again_for_each_consumer():
    producer = xla_fusion.Kernel(blocks=8, reads=(whole(50_000),), written_bytes=1000)  # 51 µs
    consumer = xla_fusion.Kernel(blocks=8, reads=(whole(1000),), written_bytes=1000)  # 2 µs
    fused = xla_fusion.Kernel(blocks=8, reads=(whole(50_000),), written_bytes=1000)  # 51 µs
    one = xla_fusion.Fusion(producer=producer, consumers=(consumer,), fused=(fused,))
    two = xla_fusion.Fusion(producer=producer, consumers=(consumer,) * 2, fused=(fused,) * 2)
    once, twice = xla_fusion.decide(SMALL, one), xla_fusion.decide(SMALL, two)
    assert (once.unfused_us, once.fused_us, once.fuse) == (pytest.approx(55), pytest.approx(52), True)
    assert (twice.unfused_us, twice.fused_us, twice.fuse) == (pytest.approx(58), pytest.approx(104), False)
    assert once.why == "55.00 us apart, 52.00 us fused"
    assert once.gain_us == pytest.approx(3)


def test_xla_fuses_where_it_makes_no_difference():
    assert xla_fusion.Priority(unfused_us=2, fused_us=2, why="").fuse


# What was asked ---------------------------------------------------------------------------------------


def test_a_question_takes_a_machine_s_figures_and_is_frozen():
    gemm = cutlass_2_stream_k.Gemm(tiles=134, iterations=64.0, sm_count=machine("h200").sm_count)
    assert type(gemm.sm_count) is type(gemm.iterations) is int
    assert cutlass_2_stream_k.decide(gemm).savings == 55
    with pytest.raises(FrozenInstanceError):
        gemm.tiles = 1


BAD = [
    (
        lambda: cutlass_2_stream_k.Gemm(tiles=0, iterations=1, sm_count=1),
        BadValue,
        "CUTLASS 2 stream-K: tiles must be a whole number of at least 1, got 0",
    ),
    (
        lambda: cutlass_3_stream_k.Gemm(tiles=1, k_tiles=1.5, wave=1, sm_count=1),
        BadValue,
        "CUTLASS 3 stream-K: k_tiles must be a whole number of at least 1, got 1.5",
    ),
    (
        lambda: inductor.Reduction(reduced=True, outputs=1, sm_count=1),
        BadValue,
        "Inductor reduction: reduced must be a whole number of at least 1, got True",
    ),
    (
        lambda: inductor.Reduction(reduced=1, outputs=1, sm_count=1, direction="innr"),
        UnknownName,
        "unknown reduction direction 'innr': did you mean 'inner'? known: inner, outer",
    ),
    (
        lambda: inductor.Product(m=1, n=1, k="4"),
        BadValue,
        "Inductor decompose_k: k must be a whole number of at least 1, got '4'",
    ),
    (
        lambda: inductor.EpilogueBuild(registers=1, fused_registers=1, threads=1, spilled=-1),
        BadValue,
        "Inductor epilogue: spilled must be a whole number of at least 0, got -1",
    ),
    (
        lambda: inductor.EpilogueBuild(registers=1, fused_registers=1, threads=1, product_us=float("nan")),
        BadValue,
        "Inductor epilogue: product_us must be a finite number of at least 0, got nan",
    ),
    (
        lambda: triton_product((1, 1, 1, 0), (16, 16, 16)),
        BadValue,
        "Triton split-K: k must be a whole number of at least 1, got 0",
    ),
    (
        lambda: triton_product((1, 1, 1, 1), (16, 0, 16)),
        BadValue,
        "Triton split-K tile: n must be a whole number of at least 1, got 0",
    ),
    (
        lambda: triton_product((1, 1, 1, 1), (16, 16, 16), vendor="intel"),
        UnknownName,
        "unknown vendor 'intel': known: amd, nvidia",
    ),
    (
        lambda: triton_split_k.Operands(rows=1, columns=1, bits=float("inf")),
        BadValue,
        "Triton split-K: bits must be a whole number of at least 1, got inf",
    ),
    (
        lambda: xla_fusion.Device(bytes_per_us=0, clock_mhz=1, sm_count=1, l2_bytes=1),
        BadValue,
        "XLA fusion: bytes_per_us must be a finite number above 0, got 0",
    ),
    (
        lambda: xla_fusion.Read(net_bytes=-1, total_bytes=1),
        BadValue,
        "XLA fusion read: net_bytes must be a finite number of at least 0, got -1",
    ),
    (
        lambda: xla_fusion.Kernel(blocks=0),
        BadValue,
        "XLA fusion kernel: blocks must be a whole number of at least 1, got 0",
    ),
    (
        lambda: xla_fusion.Fusion(producer=xla_fusion.Kernel(blocks=1), consumers=(), fused=()),
        BadValue,
        "XLA fusion: fused must be one kernel for each of the consumers",
    ),
    (lambda: xla_fusion.Device.of(machine("l40s")), MissingFigure, "no public figure for l2_mib"),
]


@pytest.mark.parametrize(("ask", "error", "message"), BAD, ids=[r[2] for r in BAD])
def test_bad_input_names_the_subject_what_is_allowed_and_what_was_found(ask, error, message):
    with pytest.raises(error) as raised:
        ask()
    assert message in str(raised.value)
