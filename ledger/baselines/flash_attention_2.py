"""FlashAttention-2's number of KV splits.

Source: Dao-AILab/flash-attention, csrc/flash_attn/flash_api.cpp, ``num_splits_heuristic`` and the
swap of query heads into rows, commit 0251105a of 2026-08-15; re-implemented from a description.

Not here: the caller's own number of splits, and dropout, sliding windows and ALiBi, which turn the
splitting or the swap off.
"""

from __future__ import annotations

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.baselines.single import fullness, nearly_fills
from ledger.traced import ceil_div

QUERY_TILE = 64  # rows of one block
BLOCKS_PER_SM = 2  # a block has 128 threads
MOST = 128  # splits
ENOUGH = 0.85  # of the best fullness


def key_tile(head_dim: int) -> int:
    """Keys that one block takes at a time."""
    if head_dim <= 64:
        return 256
    return 128 if head_dim <= 128 else 64


def splits(blocks: int, slots: int, key_tiles: int) -> int:
    """The number of splits for blocks that could run at once on slots.

    One where the blocks cover 0.8 of the slots. Otherwise the smallest split whose waves are at least
    0.85 as full as the fullest, among those that shorten the longest share.

    Args:
        blocks: batch times heads times tiles of query rows.
        slots: twice the SM count.
        key_tiles: tiles of keys in one request.
    """
    if nearly_fills(blocks, slots):
        return 1
    most = min(MOST, slots, key_tiles)
    full = {s: fullness(blocks * s, slots) for s in range(1, most + 1) if _shortens(s, key_tiles)}
    best = max(full.values())
    return next(s for s, each in full.items() if each >= ENOUGH * best)


def _shortens(split: int, key_tiles: int) -> bool:
    return split == 1 or ceil_div(key_tiles, split) != ceil_div(key_tiles, split - 1)


def answer(request: Decode) -> Answer:
    """The splits of one decode call through the key-value cache, num_splits left to the heuristic."""
    swapped = request.query_tokens == 1 and request.group > 1 and request.head_dim % 8 == 0
    rows = request.group if swapped else request.query_tokens
    heads = request.kv_heads if swapped else request.query_heads
    blocks = request.batch * heads * ceil_div(rows, QUERY_TILE)
    slots = BLOCKS_PER_SM * request.sm_count
    key_tiles = ceil_div(request.keys, key_tile(request.head_dim))
    found = splits(blocks, slots, key_tiles)
    if nearly_fills(blocks, slots):
        return Answer(splits=found, why=f"{blocks} blocks cover 0.8 of {slots} slots (two an SM)")
    why = f"{blocks} x {found} = {blocks * found} blocks on {slots} slots (two an SM), {key_tiles} key tiles"
    return Answer(splits=found, why=why)


BASELINE = Baseline(
    name="flash-attention-2", version="commit 0251105a", source="fa2-split-heuristic", answer=answer
)
