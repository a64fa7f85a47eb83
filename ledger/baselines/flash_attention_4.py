"""FlashAttention-4's number of KV splits, where a caller asks for the heuristic; its default is one.

Source: Dao-AILab/flash-attention, flash_attn/cute/interface.py, ``num_splits_heuristic``, commit 0251105a
of 2026-08-15; re-implemented from a description.

Not here: sm_120, which refuses to split, and value heads of another size than key heads.
"""

from __future__ import annotations

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.traced import ceil_div

ROW_TILE = KEY_TILE = 128  # on sm_100
MOST = 128  # splits
FEW_TILES = 4  # up to this many key tiles are never split


def splits(blocks: int, sm_count: int, key_tiles: int) -> int:
    """How often the blocks fit into the SMs, at most 128 and one for each key tile.

    It is 0 where there are more blocks than SMs; the caller takes that as no split.
    """
    if key_tiles <= FEW_TILES or blocks == 0:
        return 1
    return min(sm_count // blocks, MOST, key_tiles)


def answer(request: Decode) -> Answer:
    """The splits of one call with the heuristic asked for, num_splits = 0."""
    blocks = request.batch * request.kv_heads * int(ceil_div(request.query_rows, ROW_TILE))
    key_tiles = int(ceil_div(request.keys, KEY_TILE))
    found = max(splits(blocks, request.sm_count, key_tiles), 1)
    if key_tiles <= FEW_TILES:
        return Answer(splits=found, why=f"{key_tiles} key tiles are at most {FEW_TILES}")
    why = f"{request.sm_count} SMs over {blocks} blocks, {key_tiles} key tiles, {MOST} at most"
    return Answer(splits=found, why=why)


BASELINE = Baseline(
    name="flash-attention-4", version="commit 0251105a", source="fa4-split-heuristic", answer=answer
)
