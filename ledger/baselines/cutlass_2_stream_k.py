"""CUTLASS 2.x stream-K: which tiles of a GEMM run data-parallel, and which share their k-iterations.

Source: NVIDIA/cutlass, ``include/cutlass/gemm/threadblock/threadblock_swizzle_streamk.h``, CUTLASS 4.7.0,
commit 7107b055, read by 2026-12-01; re-implemented from a description of it, without its text. The source
also declares a data-parallel efficiency threshold of 0.92, which this decision does not use.

Waves, iterations and tiles are whole; the skew cost is a float, as it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ledger.baselines.bounds import whole_numbers
from ledger.traced import ceil_div

LEAST_ITERATIONS = 2
"""k-iterations that each stream-K block has at least."""
SKEW = 0.02
"""Share of a wave's iterations that each further peer costs where blocks do not divide the tiles evenly."""


@dataclass(frozen=True, kw_only=True)
class Gemm:
    """A GEMM as stream-K sees it.

    Args:
        tiles: output tiles.
        iterations: k-iterations of one tile.
        sm_count: SMs that may be used.
        occupancy: blocks resident on one SM.

    Raises:
        BadValue: one of them is not a whole number of at least 1.
    """

    tiles: int
    iterations: int
    sm_count: int
    occupancy: int = 1

    def __post_init__(self) -> None:
        whole_numbers(self, "CUTLASS 2 stream-K", "tiles", "iterations", "sm_count", "occupancy")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How the tiles are scheduled: some data-parallel, the rest shared by stream-K blocks.

    ``savings`` is in k-iterations per SM: that of the schedule, or, where all is data-parallel, of the best
    stream-K schedule refused; None where none was tried or none was possible.
    """

    data_parallel_tiles: int
    stream_k_tiles: int
    stream_k_blocks: int
    savings: int | None
    separate_reduction: bool
    why: str


class _Plan(NamedTuple):
    """A number of tiles for stream-K, and what is allowed to their blocks."""

    tiles: int
    occupancy: int
    partial_wave: bool


class _Best(NamedTuple):
    savings: int
    blocks: int


def decide(gemm: Gemm) -> Schedule:
    """The schedule of a GEMM: the first plan that saves iterations, else everything data-parallel."""
    best = None
    for plan in _plans(gemm):
        best = _search(gemm, plan)
        if best is not None and best.savings >= 0:
            return _stream_k(gemm, plan, best)
    return Schedule(
        data_parallel_tiles=gemm.tiles,
        stream_k_tiles=0,
        stream_k_blocks=0,
        savings=None if best is None else best.savings,
        separate_reduction=False,
        why=f"data-parallel: {_refusal(gemm, best)}",
    )


def _plans(gemm: Gemm) -> Iterator[_Plan]:
    """What stream-K is tried on, in order: the last, partial wave, or that and the full one before it."""
    full, part = divmod(gemm.tiles, gemm.sm_count)
    if part == 0:
        return
    if full < gemm.occupancy:
        yield _Plan(part, gemm.occupancy - full, True)
        return
    if gemm.occupancy > 1 and full % gemm.occupancy == gemm.occupancy - 1:
        yield _Plan(part, 1, True)
    yield _Plan(part + gemm.sm_count, gemm.occupancy - (full - 1) % gemm.occupancy, False)


def _search(gemm: Gemm, plan: _Plan) -> _Best | None:
    """The number of blocks that saves most, the larger one on a tie; None where no number is allowed."""
    first = min(gemm.sm_count, plan.tiles + 1) if plan.partial_wave else gemm.sm_count
    last = min(gemm.sm_count * plan.occupancy, plan.tiles * gemm.iterations // LEAST_ITERATIONS)
    tried = (_Best(_savings(gemm, plan.tiles, blocks), blocks) for blocks in range(first, last + 1))
    return max(tried, default=None)


def _savings(gemm: Gemm, tiles: int, blocks: int) -> int:
    """k-iterations that stream-K over these tiles saves against whole tiles, fix-up counted."""
    waves = ceil_div(blocks, gemm.sm_count)
    iterations = ceil_div(tiles * gemm.iterations, blocks) * waves
    peers, skew = blocks // tiles, 0.0
    if blocks % tiles:
        peers = ceil_div(blocks, tiles) + 1
        skew = SKEW * peers * iterations
    fix_up = int(2 * waves + skew + 2 * peers)
    saved: int = gemm.iterations * ceil_div(tiles, gemm.sm_count) - iterations - fix_up
    return saved


def _stream_k(gemm: Gemm, plan: _Plan, best: _Best) -> Schedule:
    waves = ceil_div(best.blocks, gemm.sm_count)
    return Schedule(
        data_parallel_tiles=gemm.tiles - plan.tiles,
        stream_k_tiles=plan.tiles,
        stream_k_blocks=best.blocks,
        savings=best.savings,
        separate_reduction=waves < gemm.occupancy and best.blocks > 2 * plan.tiles,
        why=f"stream-K: {plan.tiles} tiles over {best.blocks} blocks save {best.savings} k-iterations",
    )


def _refusal(gemm: Gemm, best: _Best | None) -> str:
    if gemm.tiles % gemm.sm_count == 0:
        return f"{gemm.tiles} tiles are whole waves of {gemm.sm_count} SMs"
    if best is None:
        return f"too little work for stream-K blocks of {LEAST_ITERATIONS} k-iterations"
    return f"the best stream-K schedule, {best.blocks} blocks, loses {-best.savings} k-iterations"
