"""How shipping libraries split decode attention: the worked examples of each, and 90 shapes through all."""

import csv

import pytest

from ledger.baselines import (
    ATTENTION,
    BASELINES,
    baseline,
    flash_attention_2,
    flash_attention_3,
    flash_attention_4,
    flash_mla,
    flashinfer,
    sglang,
    vllm,
)
from ledger.baselines.request import Decode
from ledger.baselines.single import nearly_fills, single
from ledger.decisions import decision
from ledger.errors import BadValue, UnknownName
from ledger.machine import machine
from ledger.sources import sources


def asked(batch=1, query_heads=32, kv_heads=8, head_dim=128, keys=4096, sm_count=132, **more):
    return Decode(
        batch=batch,
        query_heads=query_heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        keys=keys,
        sm_count=sm_count,
        **more,
    )


# 90 shapes ------------------------------------------------------------------------------------------------

COLUMNS = {
    "fa2": "flash-attention-2",
    "fa3": "flash-attention-3",
    "fa4": "flash-attention-4",
    "flashinfer_2blk_per_sm": "flashinfer-decode",
    "vllm_paged": "vllm-paged",
    "vllm_unified": "vllm-unified",
    "sglang_cap8": "sglang",
}


@pytest.fixture(scope="module")
def rows(repository):
    """The shapes of the table: three GPUs, six batches, five lengths; 32 query heads over 8, 128 wide."""
    with (repository / "tests" / "data" / "decode_splits.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def wrong(rows, column, found):
    return [(row["gpu"], row["batch"], row["ctx"], row[column]) for row in rows if found(row) != row[column]]


@pytest.mark.parametrize(("column", "name"), COLUMNS.items(), ids=COLUMNS)
def test_every_shape_of_the_table_comes_out_as_tabled(rows, column, name):
    def found(row):
        gpu = asked(batch=int(row["batch"]), keys=int(row["ctx"]), sm_count=int(row["sms"]))
        return str(BASELINES[name].answer(gpu))

    assert len(rows) == 90
    assert wrong(rows, column, found) == []


def test_our_own_rule_comes_out_as_tabled_and_alone_says_neither(rows):
    """The smallest split, of shares of at least 128 keys, for which the ledger's fine option is usable."""

    def found(row):
        gpu = machine("h200").having(sm_count=int(row["sms"]))
        heads, keys = 8 * int(row["batch"]), int(row["ctx"])
        for split in range(1, keys // 128 + 1):
            made = decision("split-kv", machine=gpu, batch_heads=heads, skv=keys, split=split, kv_block=128)
            if made.usable(made.b):
                return str(split)
        return "NEITHER"

    assert wrong(rows, "base_rule", found) == []
    assert sum(row["base_rule"] == "NEITHER" for row in rows) == 7


# one library at a time ------------------------------------------------------------------------------------

FA2_CORE = [
    # blocks, slots, key tiles, splits
    (48, 108, 64, 2),
    (48, 108, 4, 2),
    (12, 108, 64, 7),
    (12, 216, 64, 16),
    (32, 216, 32, 6),
    (32, 264, 32, 7),
    (64, 264, 64, 4),
    (172, 216, 8, 1),
    (173, 216, 8, 1),
    (1, 264, 1024, 114),
    (1, 264, 3, 3),
    (211, 264, 16, 6),
    (212, 264, 16, 1),
]


@pytest.mark.parametrize(("blocks", "slots", "key_tiles", "splits"), FA2_CORE)
def test_flash_attention_2_takes_the_smallest_split_of_nearly_full_waves(blocks, slots, key_tiles, splits):
    assert flash_attention_2.splits(blocks, slots, key_tiles) == splits


FA2 = [
    ({"keys": 4096}, 32),
    ({"keys": 131072}, 28),
    ({"batch": 8, "keys": 4096}, 4),
    ({"batch": 32, "keys": 8192}, 1),
    ({"sm_count": 108, "kv_heads": 32, "keys": 512}, 4),
    ({"sm_count": 108, "batch": 4, "query_heads": 64, "keys": 32768}, 6),
    ({"batch": 8, "keys": 4096, "query_tokens": 2}, 1),  # not swapped: 256 blocks cover 0.8 of 264
    ({"batch": 8, "keys": 4096, "head_dim": 100}, 1),  # nor where a head is no multiple of 8
]


@pytest.mark.parametrize(("shape", "splits"), FA2)
def test_flash_attention_2_packs_query_heads_into_rows_for_one_token(shape, splits):
    assert flash_attention_2.answer(asked(**shape)).splits == splits


@pytest.mark.parametrize(("tokens", "blocks"), [(64, 1), (65, 2)])
def test_flash_attention_2_tiles_64_query_rows(tokens, blocks):
    alone = asked(query_heads=1, kv_heads=1, query_tokens=tokens)
    assert flash_attention_2.answer(alone).why.startswith(f"{blocks} x ")


@pytest.mark.parametrize(("head_dim", "keys"), [(64, 256), (65, 128), (128, 128), (129, 64), (256, 64)])
def test_flash_attention_2_takes_fewer_keys_of_a_wider_head(head_dim, keys):
    assert flash_attention_2.key_tile(head_dim) == keys


FA3 = [
    ({"keys": 4096}, {}, 14),
    ({"keys": 131072}, {}, 15),
    ({"batch": 8, "keys": 4096}, {}, 2),
    ({"batch": 16, "keys": 8192}, {}, 1),
    ({"query_heads": 64, "kv_heads": 1, "keys": 512}, {}, 1),
    ({"query_heads": 64, "kv_heads": 1, "keys": 1024}, {}, 6),
    ({"query_heads": 16, "kv_heads": 16, "query_tokens": 65536, "keys": 262144}, {}, 3),
    ({"query_heads": 16, "kv_heads": 16, "query_tokens": 65536, "keys": 65536}, {}, 1),
    ({"query_heads": 16, "kv_heads": 16, "query_tokens": 65536, "keys": 262144}, {"causal": True}, 1),
    ({"query_heads": 8, "kv_heads": 8, "head_dim": 64, "query_tokens": 128, "keys": 8192}, {}, 15),
    # one token sees every key, so causal is plain: 704 keys are 4 tiles of 176, 705 are 5
    ({"kv_heads": 1, "keys": 704}, {"causal": True}, 1),
    ({"kv_heads": 1, "keys": 705}, {"causal": True}, 5),
    # paged: 704 keys are 6 tiles of 128; with a window, 511 + 0 + 1 + 128 keys are 5
    ({"kv_heads": 1, "keys": 704}, {"paged": True}, 6),
    ({"kv_heads": 1, "keys": 4096}, {"window": (511, 0)}, 5),
    ({"kv_heads": 1, "keys": 4096}, {"window": (384, 0)}, 5),
    ({"kv_heads": 1, "keys": 4096}, {"window": (383, 0)}, 1),
    # two tokens see different keys: 6 tiles of 128
    ({"kv_heads": 1, "keys": 704, "query_tokens": 2}, {"causal": True}, 6),
]


@pytest.mark.parametrize(("shape", "mask", "splits"), FA3)
def test_flash_attention_3_counts_each_sm_once(shape, mask, splits):
    assert flash_attention_3.answer(asked(**shape), **mask).splits == splits


TILES = [
    # head size, bytes, ways, (rows, keys)
    (64, 2, (), (192, 192)),
    (64, 2, ("causal",), (192, 128)),
    (64, 2, ("paged",), (192, 128)),
    (65, 2, (), (192, 144)),
    (96, 2, ("causal",), (192, 144)),
    (96, 2, ("local",), (192, 128)),
    (97, 2, (), (128, 176)),
    (128, 2, ("causal",), (128, 128)),
    (129, 2, (), (128, 112)),
    (192, 2, ("paged",), (128, 96)),
    (193, 2, ("paged",), (128, 80)),
    (256, 2, ("local",), (128, 64)),
    (64, 1, (), (192, 160)),
    (96, 1, (), (192, 128)),
    (128, 1, ("causal",), (128, 224)),
    (192, 1, (), (128, 160)),
    (256, 1, (), (128, 128)),
    (65, 1, (), (192, 128)),
    (97, 1, (), (128, 224)),
    (129, 1, (), (128, 160)),
    (193, 1, (), (128, 128)),
]


@pytest.mark.parametrize(("head_dim", "element_bytes", "ways", "tile"), TILES)
def test_flash_attention_3_has_a_tile_for_each_head_size_and_mask(head_dim, element_bytes, ways, tile):
    assert flash_attention_3.tile(head_dim, element_bytes=element_bytes, ways=frozenset(ways)) == tile


def test_flash_attention_3_rereads_keys_that_do_not_fit_the_l2_only_for_rows_enough():
    l2 = 50 * 2**20
    long = {"blocks": 264, "sm_count": 132, "key_tiles": 2000, "row_tiles": 264, "kv_bytes": l2 + 1}
    assert flash_attention_3.splits(**long) == 2
    assert flash_attention_3.splits(**long | {"kv_bytes": l2}) == 1
    assert flash_attention_3.splits(**long | {"row_tiles": 263}) == 1
    assert flash_attention_3.splits(**long, masked=True) == 1
    assert flash_attention_3.splits(**long | {"kv_bytes": 200 * l2}) == 128


FA4 = [
    # blocks, SMs, key tiles, splits
    (8, 148, 256, 18),
    (8, 148, 16, 16),
    (8, 148, 4, 1),
    (1, 148, 1024, 128),
    (3, 148, 64, 49),
    (100, 148, 64, 1),
    (148, 148, 64, 1),
    (200, 148, 64, 0),
    (0, 148, 64, 1),
]


@pytest.mark.parametrize(("blocks", "sm_count", "key_tiles", "splits"), FA4)
def test_flash_attention_4_fits_the_blocks_into_the_sms(blocks, sm_count, key_tiles, splits):
    assert flash_attention_4.splits(blocks, sm_count, key_tiles) == splits


def test_flash_attention_4_answers_1_where_its_division_gives_0():
    assert flash_attention_4.answer(asked(batch=25, keys=8192, sm_count=148)).splits == 1


FLASHINFER = [
    # lengths, slots, page, graph, (chunk, items, split); 8 key-value heads
    ([4096], 264, 16, False, (128, 32, True)),
    ([4096] * 16, 264, 16, False, (2048, 32, True)),
    ([4096] * 64, 264, 16, False, (4096, 64, False)),
    ([4096] * 33, 264, 16, True, (4096, 33, False)),  # 33 x 8 blocks fill 264 slots, graph or not
    ([4096] * 32, 264, 16, True, (4096, 32, True)),
    ([200], 264, 1, False, (128, 2, True)),
    ([131072], 264, 16, False, (3984, 33, True)),
    ([100, 200, 16384], 264, 16, False, (544, 33, True)),
    ([128] * 4, 264, 16, False, (128, 4, False)),
    ([8192] * 32, 264, 16, True, (8192, 32, True)),
    ([8192] * 32, 264, 16, False, (8192, 32, False)),
    ([4096] * 4, 216, 1, False, (683, 24, True)),
    ([4096] * 4, 432, 1, False, (316, 52, True)),
]


@pytest.mark.parametrize(("lengths", "slots", "page", "graph", "plan"), FLASHINFER)
def test_flashinfer_takes_the_smallest_chunk_whose_pieces_run_at_once(lengths, slots, page, graph, plan):
    found = flashinfer.decode_plan(lengths, kv_heads=8, slots=slots, page=page, graph=graph)
    assert (found.chunk, found.items, found.split) == plan


TENSOR_CORES = [
    # requests, query tokens, keys, rows of a tile, (chunk, items, split); 32 query heads over 8, 132 SMs
    (1, 1, 131072, 16, (3984, 33, True)),
    (16, 1, 8192, 16, (4096, 32, True)),
    (16, 16, 8192, 64, (4096, 32, True)),
    (1, 16, 8192, 64, (256, 32, True)),  # one tile, so 33 chunks could run: 512 pages in 32 of 16
    (1, 512, 16384, 128, (8192, 32, True)),
    (1, 4096, 4096, 128, (4096, 128, False)),
]


@pytest.mark.parametrize(("batch", "tokens", "keys", "tile", "plan"), TENSOR_CORES)
def test_flashinfer_plans_tensor_cores_by_tiles_of_packed_rows(batch, tokens, keys, tile, plan):
    rows = [4 * tokens] * batch
    found = flashinfer.tensor_core_plan([keys] * batch, rows, kv_heads=8, head_dim=128, sm_count=132)
    assert flashinfer.row_tile(4 * tokens, 128) == tile
    assert (found.chunk, found.items, found.split) == plan
    splits = flashinfer.tensor_core_answer(asked(batch=batch, query_tokens=tokens, keys=keys)).splits
    assert splits == (-(-keys // plan[0]) if plan[2] else 1)


@pytest.mark.parametrize(
    ("mean", "head_dim", "rows"), [(16, 64, 16), (16.5, 64, 64), (64, 64, 64), (65, 255, 128), (65, 256, 64)]
)
def test_flashinfer_tiles_rows_by_their_mean(mean, head_dim, rows):
    assert flashinfer.row_tile(mean, head_dim) == rows


@pytest.mark.parametrize(
    ("keys", "chunk"), [(256, 256), (257, 256), (8448, 256), (8449, 257), (131072, 3972)]
)
def test_flashinfer_cuts_a_request_alone_beyond_256_keys(keys, chunk):
    assert flashinfer.single_chunk(keys, kv_heads=8, slots=264) == chunk  # 33 chunks at once


FLASH_MLA = [
    # requests, keys, blocks of a part, most pieces; 128 query heads over 1, 132 SMs
    (128, 4096, 139, 1),  # two requests of 64 + 5 to a part; what is left is less than the overhead
    (1, 4096, 7, 32),  # each part takes 2 of 64
    (4, 32768, 37, 16),  # a part takes 32 of 512, the last as well
    (64, 1024, 26, 1),  # 16 + 5 leave 5, the overhead alone
    (1, 131072, 37, 64),  # 32 of 2048
]


@pytest.mark.parametrize(("batch", "keys", "size", "pieces"), FLASH_MLA)
def test_flash_mla_fills_its_parts_in_order(batch, keys, size, pieces):
    heads = {"query_heads": 128, "kv_heads": 1}
    assert flash_mla.part_count(query_tokens=1, sm_count=132, **heads) == 66
    assert flash_mla.payload([keys] * batch, 66) == size
    assert flash_mla.answer(asked(batch=batch, keys=keys, head_dim=576, **heads)).splits == pieces


@pytest.mark.parametrize(
    ("query_heads", "kv_heads", "sm_count", "parts"),
    [(64, 1, 132, 132), (65, 1, 132, 66), (128, 2, 132, 66), (1024, 1, 8, 1)],
)
def test_flash_mla_has_a_part_for_each_sm_that_a_tile_of_rows_leaves(query_heads, kv_heads, sm_count, parts):
    found = flash_mla.part_count(
        query_tokens=1, query_heads=query_heads, kv_heads=kv_heads, sm_count=sm_count
    )
    assert found == parts


def test_flash_mla_goes_on_in_the_next_part_where_the_room_is_overhead_alone():
    # blocks 3, 2 and 9 in parts of 13: 8 taken leave 5, too few to begin in; 7 leave 6: one block of 9 begins
    assert flash_mla.pieces([3 * 64, 2 * 64], 13) == [1, 1]
    assert flash_mla.pieces([3 * 64, 2 * 64, 9 * 64], 13) == [1, 1, 2]
    with pytest.raises(BadValue, match="flash-mla: size of a part must be above 5, got 5"):
        flash_mla.pieces([64], 5)


PAGED = [
    (1, 32, 512, "v1"),
    (1, 32, 513, "v2"),
    (16, 32, 4096, "v2"),
    (17, 32, 4096, "v1"),
    (8, 64, 2048, "v2"),
    (9, 64, 2048, "v1"),
    (64, 64, 8192, "v1"),
    (64, 64, 8193, "v2"),
]


@pytest.mark.parametrize(("batch", "heads", "keys", "mode"), PAGED)
def test_vllm_pages_by_length_and_sequence_heads_alone(batch, heads, keys, mode):
    request = asked(batch=batch, query_heads=heads, kv_heads=heads, keys=keys)
    assert vllm.paged_answer(request).mode == mode


UNIFIED = [
    (1, 8, "3D"),
    (16, 8, "3D"),
    (17, 8, "2D"),
    (4, 32, "3D"),
    (5, 32, "2D"),
    (128, 1, "3D"),
    (129, 1, "2D"),
    (1, 128, "3D"),
    (2, 128, "2D"),
]


@pytest.mark.parametrize(("batch", "kv_heads", "mode"), UNIFIED)
def test_vllm_unifies_by_sequences_alone(batch, kv_heads, mode):
    request = asked(batch=batch, query_heads=kv_heads, kv_heads=kv_heads)
    assert vllm.unified_answer(request).mode == mode


def test_vllm_moves_its_threshold_to_a_captured_size_and_keeps_prefill_and_invariance_2d():
    assert vllm.threshold(8, (8, 24)) == 8
    assert vllm.threshold(8, (8, 23)) == 23
    assert vllm.unified_answer(asked(batch=17), graph_sizes=(17, 64)).mode == "3D"
    assert vllm.unified_answer(asked(query_tokens=2)).mode == "2D"
    assert vllm.unified_answer(asked(), batch_invariant=True).mode == "2D"


@pytest.mark.parametrize(("keys", "active"), [(100, 7), (256, 16), (257, 9), (1000, 16), (4096, 16)])
def test_vllm_leaves_segments_empty_just_above_a_whole_tile_each(keys, active):
    assert vllm.active_segments(keys) == active
    assert f"; {active} of 16 segments" in vllm.unified_answer(asked(keys=keys)).why


def test_vllm_takes_larger_tiles_of_one_byte_keys():
    assert "; 4 of 16 segments" in vllm.unified_answer(asked(keys=100, element_bytes=1)).why


SGLANG = [
    # lengths, (query heads, key-value heads), most splits, splits of each request; 132 SMs
    ([256], (32, 32), 8, {8}),
    ([4096], (32, 8), 8, {8}),
    ([4096] * 32, (32, 8), 8, {4}),
    ([64, 4096], (32, 8), 8, {1, 8}),
    ([4096] * 2, (32, 32), 8, {8}),
    ([1024] * 8, (64, 8), 16, {9}),
    ([256], (128, 1), 256, {32}),
    ([32768] * 4, (128, 1), 256, {38}),
]


@pytest.mark.parametrize(("lengths", "heads", "cap", "splits"), SGLANG)
def test_sglang_multiplies_the_sms_by_a_logarithm(lengths, heads, cap, splits):
    found = sglang.splits(lengths, query_heads=heads[0], kv_heads=heads[1], sm_count=132, cap=cap)
    assert set(found) == splits
    assert list(found) == sorted(found)


def test_sglang_takes_a_batch_as_even_below_a_quarter_more():
    # 1 SM x log2(16) over 16 blocks: one split fills it, so that only an uneven batch is cut
    heads = {"query_heads": 128, "kv_heads": 1, "sm_count": 1}
    assert sglang.splits([1024, 820], **heads) == (1, 1)  # 8192 < 8200
    assert sglang.splits([1024, 819], **heads) == (2, 2)  # 8192 >= 8190


def test_sglang_has_other_limits_for_latent_attention_and_for_determinism():
    assert sglang.latent_cap(132, 131072) == 256
    assert sglang.latent_cap(132, 1024) == 32
    assert sglang.latent_cap(132, 100) == 8
    assert [sglang.deterministic_splits(keys) for keys in (1, 256, 257)] == [1, 1, 2]


# what they share ------------------------------------------------------------------------------------------


def test_single_precision_is_what_decides_at_an_edge():
    assert single(0.8) > 0.8
    assert nearly_fills(4, 5)  # 0.8 in float32 is above 0.8, but its product with 5 rounds to 4
    assert not nearly_fills(3, 5)


def test_every_baseline_is_registered_by_its_name_with_a_source_and_a_reason():
    assert len({each.name for each in ATTENTION}) == len(ATTENTION)
    for each in ATTENTION:
        assert baseline(each.name) is each
        assert each.source in sources()
        assert each.version.split()[-1] in sources()[each.source].where
        for request in (asked(), asked(batch=64), asked(keys=100), asked(query_tokens=3)):
            found = each.answer(request)
            assert found.splits >= 1
            assert found.why
            assert "\n" not in found.why


REASONS = [
    ("flash-attention-2", {}, "8 x 32 = 256 blocks on 264 slots (two an SM), 32 key tiles"),
    ("flash-attention-2", {"batch": 32}, "256 blocks cover 0.8 of 264 slots (two an SM)"),
    ("flash-attention-3", {}, "8 x 14 = 112 blocks on 132 SMs, 24 key tiles"),
    ("flash-attention-3", {"keys": 512}, "3 key tiles are at most 4"),
    ("flash-attention-3", {"keys": 704}, "4 key tiles are at most 4"),
    ("flash-attention-3", {"batch": 32}, "256 blocks cover 0.8 of 132 SMs"),
    ("flash-attention-4", {}, "132 SMs over 8 blocks, 32 key tiles, 128 at most"),
    ("flash-attention-4", {"keys": 513}, "132 SMs over 8 blocks, 5 key tiles, 128 at most"),
    ("flash-attention-4", {"keys": 512}, "4 key tiles are at most 4"),
    ("flashinfer-decode", {}, "32 items x 8 heads on 264 slots, 128 keys each"),
    ("flashinfer-decode", {"batch": 64}, "64 items x 8 heads on 264 slots, not cut"),
    ("flashinfer-tensor-cores", {}, "32 items x 8 heads on 264 slots, 128 keys each"),
    ("flash-mla", {"kv_heads": 1}, "132 parts of at most 6 blocks, 5 a piece overhead"),
    ("vllm-paged", {}, "32 sequence-heads against 512, 4096 keys against 512 and 8192"),
    ("vllm-unified", {}, "1 sequences are at most 16; 16 of 16 segments hold keys"),
    ("sglang", {}, "792 (SMs x log2 of the length) over 8 blocks, 8 at most"),
]


@pytest.mark.parametrize(("name", "shape", "why"), REASONS)
def test_the_reason_holds_the_numbers_that_decided(name, shape, why):
    assert baseline(name).answer(asked(**shape)).why == why


BAD = [
    (lambda: asked(batch=0), BadValue, "decode: batch must be a whole number from 1 to 65535, got 0"),
    (lambda: asked(keys=2.5), BadValue, "decode: keys must be a whole number from 1 to 2147483647, got 2.5"),
    (lambda: asked(kv_heads=True), BadValue, "got True"),
    (lambda: asked(sm_count="132"), BadValue, "got '132'"),
    (lambda: asked(head_dim=float("nan")), BadValue, "got nan"),
    (lambda: asked(kv_heads=5), BadValue, "decode: query_heads must be a multiple of kv_heads = 5, got 32"),
    (
        lambda: baseline("flash-attention-3").answer(asked(head_dim=257)),
        BadValue,
        "flash-attention-3: head_dim must be at most 256, got 257",
    ),
    (
        lambda: baseline("flashinfer"),
        UnknownName,
        "unknown baseline 'flashinfer': did you mean 'flashinfer-decode'?",
    ),
]


@pytest.mark.parametrize(("ask", "error", "message"), BAD, ids=[r[2] for r in BAD])
def test_bad_input_names_the_subject_what_is_allowed_and_what_was_found(ask, error, message):
    with pytest.raises(error) as raised:
        ask()
    assert message in str(raised.value)


def test_a_request_takes_a_machine_s_traced_figures_and_floats_that_are_whole():
    request = asked(sm_count=machine("h200").sm_count, keys=4096.0)
    assert request == asked()
    assert type(request.sm_count) is int
    assert (request.group, request.query_rows, request.lengths) == (4, 4, (4096,))
