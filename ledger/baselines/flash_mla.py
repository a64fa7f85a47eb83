"""FlashMLA's parts: each a share of the batch's key blocks, cut across requests.

Source: deepseek-ai/FlashMLA, csrc/api/dense_decode.h and csrc/smxx/decode/get_decoding_sched_meta/,
commit 9241ae3e; re-implemented from a description.

Not here: the sparse paths, one of which counts three blocks of overhead on sm_100.
"""

from __future__ import annotations

from collections.abc import Sequence

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.errors import BadValue
from ledger.traced import ceil_div

ROW_TILE = 64  # query rows of one block
KEY_BLOCK = 64  # keys
OVERHEAD = 5  # blocks' worth of time that each piece of a request costs


def part_count(*, query_tokens: int, query_heads: int, kv_heads: int, sm_count: int) -> int:
    """The parts that run at once: SMs over key-value heads over tiles of packed query rows, at least 1."""
    row_tiles = ceil_div(query_tokens * (query_heads // kv_heads), ROW_TILE)
    return max(int(sm_count // kv_heads // row_tiles), 1)


def payload(lengths: Sequence[int], parts: int) -> int:
    """The blocks that one part takes, overhead included."""
    return int(ceil_div(sum(_blocks(each) + OVERHEAD for each in lengths), parts)) + OVERHEAD


def pieces(lengths: Sequence[int], size: int) -> list[int]:
    """How many pieces each request is cut into when parts of a size are filled in order.

    A request ends in the current part if what remains of it fits, overhead included; otherwise the part
    takes what it still holds beyond the overhead, and the request goes on in the next.

    Raises:
        BadValue: a part holds nothing beyond the overhead.
    """
    if size <= OVERHEAD:
        raise BadValue("flash-mla: size of a part", f"above {OVERHEAD}", size)
    counts, room = [], size
    for length in lengths:
        remaining, count = _blocks(length), 1
        while room < remaining + OVERHEAD:
            taken = max(room - OVERHEAD, 0)
            remaining -= taken
            count += taken > 0
            room = size
        room -= remaining + OVERHEAD
        counts.append(count)
    return counts


def _blocks(keys: int) -> int:
    return int(ceil_div(keys, KEY_BLOCK))


def answer(request: Decode) -> Answer:
    """The most pieces that a request of the batch is cut into, by this arithmetic alone.

    The kernels behind it serve latent attention: one key-value head of 576 elements.
    """
    parts = part_count(
        query_tokens=request.query_tokens,
        query_heads=request.query_heads,
        kv_heads=request.kv_heads,
        sm_count=request.sm_count,
    )
    size = payload(request.lengths, parts)
    found = max(pieces(request.lengths, size))
    return Answer(splits=found, why=f"{parts} parts of at most {size} blocks, {OVERHEAD} a piece overhead")


BASELINE = Baseline(name="flash-mla", version="commit 9241ae3e", source="flash-mla-schedule", answer=answer)
