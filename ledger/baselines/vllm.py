"""vLLM's choice of kernel in decode attention: PagedAttention v1 or v2, and a 2D or 3D unified kernel.

Sources: vllm-project/vllm, vllm/attention/ops/paged_attn.py, commit 5da3a322;
vllm/v1/attention/backends/triton_attn.py and vllm/v1/attention/ops/triton_unified_attention.py, commit
3f392a39; re-implemented from a description. Neither rule looks at the GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.traced import ceil_div

PARTITION = 512  # keys, PagedAttention v2
LONG = 8192  # keys, beyond which v1 is never taken
MANY = 512  # sequences times query heads, above which v1 keeps the GPU busy
LEAST_2D_GRID = 128  # blocks
SEGMENTS = 16
TILE_3D = 16  # keys; 32 where a key's element has one byte


def partitions(sequences: int, heads: int, longest: int) -> int:
    """The partitions of PagedAttention v2, or 1 where v1 is taken.

    Args:
        sequences: requests of the batch.
        heads: query heads.
        longest: keys of the longest request.
    """
    found = int(ceil_div(longest, PARTITION))
    return 1 if longest <= LONG and (found == 1 or sequences * heads > MANY) else found


def paged_answer(request: Decode) -> Answer:
    """PagedAttention v1, or v2 with its partitions."""
    found = partitions(request.batch, request.query_heads, request.keys)
    heads = request.batch * request.query_heads
    why = f"{heads} sequence-heads against {MANY}, {request.keys} keys against {PARTITION} and {LONG}"
    return Answer(splits=found, mode="v1" if found == 1 else "v2", why=why)


def threshold(kv_heads: int, graph_sizes: Sequence[int] = ()) -> int:
    """The most sequences that the 3D kernel takes.

    Args:
        kv_heads: heads of the keys and values.
        graph_sizes: batch sizes captured as CUDA graphs; the threshold moves to the nearest of them, of
            two equally near to the first.
    """
    bare = LEAST_2D_GRID // kv_heads
    return min(graph_sizes, key=lambda size: abs(size - bare), default=bare)


def active_segments(keys: int, tile: int = TILE_3D) -> int:
    """The segments, of 16, that hold any keys: each takes whole tiles, so the last ones can be empty."""
    per_segment = int(ceil_div(keys, SEGMENTS * tile))
    return int(ceil_div(keys, per_segment * tile))


def unified_answer(
    request: Decode, *, graph_sizes: Sequence[int] = (), batch_invariant: bool = False
) -> Answer:
    """The 2D kernel, or the 3D kernel with its 16 segments; more than one query token is prefill.

    Args:
        request: the request.
        graph_sizes: batch sizes captured as CUDA graphs, none by default.
        batch_invariant: whether results must not depend on the batch, which rules the 3D kernel out.
    """
    most = threshold(request.kv_heads, graph_sizes)
    if request.query_tokens > 1 or batch_invariant:
        why = "prefill is in the batch" if request.query_tokens > 1 else "batch-invariant mode"
        return Answer(splits=1, mode="2D", why=why)
    if request.batch > most:
        return Answer(splits=1, mode="2D", why=f"{request.batch} sequences are more than {most}")
    active = active_segments(request.keys, 32 if request.element_bytes == 1 else TILE_3D)
    why = f"{request.batch} sequences are at most {most}; {active} of {SEGMENTS} segments hold keys"
    return Answer(splits=SEGMENTS, mode="3D", why=why)


PAGED = Baseline(
    name="vllm-paged", version="commit 5da3a322", source="vllm-paged-attention", answer=paged_answer
)
UNIFIED = Baseline(
    name="vllm-unified", version="commit 3f392a39", source="vllm-unified-attention", answer=unified_answer
)
