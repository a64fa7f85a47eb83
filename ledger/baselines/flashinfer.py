"""FlashInfer's chunks of keys: batch decode, the plan of prefill and of tensor-core decode, one request.

Source: flashinfer-ai/flashinfer, include/flashinfer/attention/scheduler.cuh, commit fb28d724 of
2026-08-22; re-implemented from a description.

The library asks the CUDA runtime how many blocks of the decode kernel an SM holds. That depends on the
kernel as compiled, so here it is an argument. Not here: the plans for sm_90
prefill and for mixed batches, a sliding window, blocks of a mixed launch kept for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger.baselines.baseline import Answer, Baseline
from ledger.baselines.request import Decode
from ledger.traced import ceil_div

BLOCKS_PER_SM = 2  # fixed in the prefill plan; an assumption for decode
LEAST_CHUNK = 128  # keys
LEAST_SINGLE_CHUNK = 256  # keys, for one request alone
PAGE = 16  # keys; the cache's owner chooses


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a batch's keys are shared out."""

    chunk: int  # keys, a whole number of pages
    items: int  # pieces of work of one key-value head
    split: bool


def decode_plan(
    lengths: Sequence[int], *, kv_heads: int, slots: int, page: int = PAGE, graph: bool = False
) -> Plan:
    """The plan of batch decode on CUDA cores.

    The smallest chunk of at least 128 keys whose pieces all run at once; nothing is cut where the
    requests alone fill the slots.

    Args:
        lengths: keys of each request, at least one request.
        kv_heads: heads of the keys and values, each a block of its own.
        slots: blocks that run at once: blocks per SM times SMs.
        page: keys of one page of the cache.
        graph: whether a CUDA graph is captured, for which the splitting kernel always runs.
    """
    pages = [int(ceil_div(length, page)) for length in lengths]
    if len(pages) * kv_heads >= slots:
        return Plan(chunk=max(pages) * page, items=len(pages), split=False)
    chunk = _chunk(pages, [1] * len(pages), slots // kv_heads, page)
    items = sum(int(ceil_div(max(p, 1), chunk)) for p in pages)
    return Plan(chunk=chunk * page, items=items, split=graph or items != len(pages))


def row_tile(mean_rows: float, head_dim: int) -> int:
    """Packed query rows of one block, where shared memory is not short and the GPU is past Turing."""
    if mean_rows > 64 and head_dim < 256:
        return 128
    return 64 if mean_rows > 16 else 16


def tensor_core_plan(
    lengths: Sequence[int],
    rows: Sequence[int],
    *,
    kv_heads: int,
    head_dim: int,
    sm_count: int,
    page: int = PAGE,
    graph: bool = False,
) -> Plan:
    """The plan of prefill, and of decode on tensor cores.

    Args:
        lengths: keys of each request, at least one request.
        rows: packed query rows of each request: its query tokens times the heads that share a key.
        kv_heads: heads of the keys and values.
        head_dim: elements of a key.
        sm_count: SMs of the GPU, each counted for two blocks.
        page: keys of one page of the cache.
        graph: whether a CUDA graph is captured, for which the splitting kernel always runs.
    """
    pages = [int(ceil_div(length, page)) for length in lengths]
    per_tile = row_tile(sum(rows) / len(rows), head_dim)
    tiles = [int(ceil_div(each, per_tile)) for each in rows]
    chunk = _chunk(pages, tiles, BLOCKS_PER_SM * sm_count // kv_heads, page)
    items = sum(t * int(ceil_div(max(p, 1), chunk)) for t, p in zip(tiles, pages, strict=True))
    return Plan(chunk=chunk * page, items=items, split=graph or chunk < max(pages))


def _chunk(pages: Sequence[int], tiles: Sequence[int], most: int, page: int) -> int:
    """The fewest pages, at least 128 keys, with at most so many items; the longest if none has."""
    low, high = max(LEAST_CHUNK // page, 1), max(pages)
    while low < high:
        middle = (low + high) // 2
        if sum(t * ceil_div(p, middle) for t, p in zip(tiles, pages, strict=True)) > most:
            low = middle + 1
        else:
            high = middle
    return low


def single_chunk(keys: int, *, kv_heads: int, slots: int) -> int:
    """The keys of one chunk for a request alone: all of them up to 256, then at least 256."""
    if keys <= LEAST_SINGLE_CHUNK:
        return keys
    return max(int(ceil_div(keys, max(slots // kv_heads, 1))), LEAST_SINGLE_CHUNK)


def answer(request: Decode, *, blocks_per_sm: int = BLOCKS_PER_SM, page: int = PAGE) -> Answer:
    """The chunks of one request in batch decode on CUDA cores, outside a CUDA graph."""
    slots = blocks_per_sm * request.sm_count
    plan = decode_plan(request.lengths, kv_heads=request.kv_heads, slots=slots, page=page)
    work = f"{plan.items} items x {request.kv_heads} heads on {slots} slots"
    return _answer(request.keys, plan, work)


def tensor_core_answer(request: Decode, *, page: int = PAGE) -> Answer:
    """The chunks of one request in decode on tensor cores, outside a CUDA graph."""
    plan = tensor_core_plan(
        request.lengths,
        (request.query_rows,) * request.batch,
        kv_heads=request.kv_heads,
        head_dim=request.head_dim,
        sm_count=request.sm_count,
        page=page,
    )
    slots = BLOCKS_PER_SM * request.sm_count
    return _answer(request.keys, plan, f"{plan.items} items x {request.kv_heads} heads on {slots} slots")


def _answer(keys: int, plan: Plan, work: str) -> Answer:
    if not plan.split:
        return Answer(splits=1, why=f"{work}, not cut")
    return Answer(splits=int(ceil_div(keys, plan.chunk)), why=f"{work}, {plan.chunk} keys each")


DECODE = Baseline(
    name="flashinfer-decode", version="commit fb28d724", source="flashinfer-scheduler", answer=answer
)
TENSOR_CORES = Baseline(
    name="flashinfer-tensor-cores",
    version="commit fb28d724",
    source="flashinfer-scheduler",
    answer=tensor_core_answer,
)
