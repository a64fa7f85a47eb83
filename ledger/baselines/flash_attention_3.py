"""FlashAttention-3's number of KV splits.

Source: Dao-AILab/flash-attention, hopper/heuristics.h, hopper/flash_api.cpp and hopper/tile_size.h,
commit 0251105a of 2026-08-15; re-implemented from a description.

Not here: the margin of SMs that a caller can keep free, value heads of another size than key heads, and
the second pass that lowers the splits of each request when lengths vary.
"""

from __future__ import annotations

from typing import Literal

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.baselines.single import fullness, nearly_fills
from ledger.errors import BadValue
from ledger.traced import ceil_div

MOST = 128  # splits
ENOUGH = 0.85  # of the best fullness
FEW_TILES = 4  # up to this many key tiles are never split
L2_BYTES = 50 * 2**20  # assumed on every GPU

Way = Literal["causal", "local", "paged"]  # paged: without TMA

# head size up to, query rows, keys, keys where one of the ways after them holds; for fp16 on sm_90
_FP16: tuple[tuple[int, int, int, int, frozenset[Way]], ...] = (
    (64, 192, 192, 128, frozenset({"causal", "local", "paged"})),
    (96, 192, 144, 128, frozenset({"local", "paged"})),
    (128, 128, 176, 128, frozenset({"causal", "local", "paged"})),
    (192, 128, 112, 96, frozenset({"local", "paged"})),
    (256, 128, 80, 64, frozenset({"local"})),
)
_FP8 = ((64, 192, 160), (96, 192, 128), (128, 128, 224), (192, 128, 160), (256, 128, 128))


def tile(head_dim: int, *, element_bytes: int = 2, ways: frozenset[Way] = frozenset()) -> tuple[int, int]:
    """The query rows and the keys that one block takes at a time.

    Raises:
        BadValue: no kernel serves a head so large.
    """
    if element_bytes == 1:
        for most, rows, keys in _FP8:
            if head_dim <= most:
                return rows, keys
    else:
        for most, rows, keys, fewer, narrowing in _FP16:
            if head_dim <= most:
                return rows, fewer if ways & narrowing else keys
    raise BadValue("flash-attention-3: head_dim", "at most 256", head_dim)


def splits(
    blocks: int, sm_count: int, key_tiles: int, *, row_tiles: int = 1, kv_bytes: int = 0, masked: bool = False
) -> int:
    """The number of splits for blocks that could run at once, one an SM.

    Where the blocks cover 0.8 of the SMs: one, or enough that a share of the keys and values fits the L2
    where they do not and there are rows to read them twice. Otherwise one up to four key tiles, and
    beyond them the smallest split whose waves are at least 0.85 as full as the fullest.

    Args:
        blocks: batch times key-value heads times tiles of packed query rows.
        sm_count: SMs of the GPU.
        key_tiles: tiles of keys in one request.
        row_tiles: tiles of packed query rows of one key-value head.
        kv_bytes: bytes of one head's keys and values.
        masked: whether the mask is causal or a window.
    """
    if nearly_fills(blocks, sm_count):
        reread = kv_bytes > L2_BYTES and row_tiles >= 2 * sm_count and not masked
        return min(int(ceil_div(kv_bytes, L2_BYTES)), MOST) if reread else 1
    if key_tiles <= FEW_TILES:
        return 1
    counts = range(1, min(MOST, sm_count, key_tiles) + 1)
    full = [fullness(blocks * s, sm_count) for s in counts]
    return next(s for s in counts if full[s - 1] >= ENOUGH * max(full))


def answer(
    request: Decode, *, causal: bool = False, paged: bool = False, window: tuple[int, int] | None = None
) -> Answer:
    """The splits of one call through the key-value cache, num_splits left to the heuristic.

    Args:
        request: the request.
        causal: whether later keys are masked; of one query token nothing is.
        paged: whether the cache is paged and read without TMA.
        window: keys seen to the left and to the right, all where None.

    Raises:
        BadValue: the head size is above 256.
    """
    causal = causal and request.query_tokens > 1
    held: tuple[tuple[Way, bool], ...] = (
        ("causal", causal),
        ("local", window is not None),
        ("paged", paged),
    )
    ways = frozenset(way for way, holds in held if holds)
    rows, keys = tile(request.head_dim, element_bytes=request.element_bytes, ways=ways)
    seen = request.keys if window is None else max(0, min(request.keys, sum(window) + 1 + rows))
    row_tiles = int(ceil_div(request.query_rows, rows))
    blocks = request.batch * request.kv_heads * row_tiles
    key_tiles = int(ceil_div(seen, keys))
    found = splits(
        blocks,
        request.sm_count,
        key_tiles,
        row_tiles=row_tiles,
        kv_bytes=2 * request.keys * request.head_dim * (1 if request.element_bytes == 1 else 2),
        masked=causal or window is not None,
    )
    return Answer(splits=found, why=_why(blocks, request.sm_count, key_tiles, found))


def _why(blocks: int, sm_count: int, key_tiles: int, found: int) -> str:
    if nearly_fills(blocks, sm_count):
        l2 = "" if found == 1 else "; one head's keys and values do not fit the L2"
        return f"{blocks} blocks cover 0.8 of {sm_count} SMs{l2}"
    if key_tiles <= FEW_TILES:
        return f"{key_tiles} key tiles are at most {FEW_TILES}"
    return f"{blocks} x {found} = {blocks * found} blocks on {sm_count} SMs, {key_tiles} key tiles"


BASELINE = Baseline(
    name="flash-attention-3", version="commit 0251105a", source="fa3-split-heuristic", answer=answer
)
