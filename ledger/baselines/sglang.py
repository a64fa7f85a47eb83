"""SGLang's number of KV splits in its Triton decode attention.

Source: sgl-project/sglang, python/sglang/kernels/ops/attention/metadata.py, as in the wheel 0.5.23;
re-implemented from a description.

Not here: the flag for uneven batches that the wheel also writes, and the limit of 256 splits on gfx942.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.baselines.single import single
from ledger.traced import ceil_div

CAP = 8  # splits; 16 on HIP
HEADS_PER_BLOCK = 16  # at most, where query heads share a key
DETERMINISTIC_CHUNK = 256  # keys


def splits(
    lengths: Sequence[int],
    *,
    query_heads: int,
    kv_heads: int,
    sm_count: int,
    cap: int = CAP,
    tokens: int = 1,
) -> tuple[int, ...]:
    """The number of splits of each request.

    The larger of two counts: one from how uneven the batch is, one that fills the SMs, multiplied by the
    logarithm of the longest request ("a hack", says the source).

    Args:
        lengths: keys of each request, at least one request.
        query_heads: heads of the queries.
        kv_heads: heads of the keys and values.
        sm_count: SMs of the GPU.
        cap: the most splits.
        tokens: query tokens of each request.
    """
    longest, shortest = max(lengths), min(lengths)
    uneven = 1 if 8 * longest < 10 * shortest else min(int(ceil_div(longest, shortest)), cap)
    blocks = grid(len(lengths) * tokens, query_heads, kv_heads)
    filling = min(int(ceil_div(stretched(sm_count, longest), blocks)), cap)
    chunks = [int(ceil_div(longest, count)) for count in (uneven, filling)]
    return tuple(max(int(ceil_div(length, chunk)) for chunk in chunks) for length in lengths)


def grid(rows: int, query_heads: int, kv_heads: int) -> int:
    """The blocks of an unsplit launch over so many query tokens of the batch."""
    if query_heads == kv_heads:
        return rows * query_heads
    return rows * int(ceil_div(query_heads, min(HEADS_PER_BLOCK, query_heads // kv_heads)))


def stretched(sm_count: int, longest: int) -> int:
    """The SM count times log2 of the longest request over 64 keys, at least 1, in float32, cut to whole."""
    factor = max(single(math.log2(single(single(longest) / 64))), 1.0)
    return int(single(single(sm_count) * factor))


def latent_cap(sm_count: int, context: int, base: int = CAP) -> int:
    """The most splits in latent attention: it grows with the SMs and with the longest context served."""
    return max(base, min(_power_of_two(sm_count), _power_of_two(int(ceil_div(context, 32)))))


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def deterministic_splits(keys: int) -> int:
    """The splits of a request in deterministic mode, whatever the batch: one for each 256 keys."""
    return int(ceil_div(keys, DETERMINISTIC_CHUNK))


def answer(request: Decode, *, cap: int = CAP) -> Answer:
    """The most splits of a request of the batch."""
    found = splits(
        request.lengths,
        query_heads=request.query_heads,
        kv_heads=request.kv_heads,
        sm_count=request.sm_count,
        cap=cap,
        tokens=request.query_tokens,
    )
    blocks = grid(request.batch * request.query_tokens, request.query_heads, request.kv_heads)
    many = stretched(request.sm_count, request.keys)
    why = f"{many} (SMs x log2 of the length) over {blocks} blocks, {cap} at most"
    return Answer(splits=max(found), why=why)


BASELINE = Baseline(name="sglang", version="wheel 0.5.23", source="sglang-kv-splits", answer=answer)
