"""The main loop of a tiled GEMM on tensor cores, as every decision with a GEMM in it launches it."""

from __future__ import annotations

from typing import Any

from ledger.option import Count, Launch

SLICE = 64  # of k, that one stage of the operands holds
STAGES = 4  # of operands that a block keeps under way


def gemm(
    *,
    m: Count,
    n: Count,
    k: Count,
    tile: Count,
    grid: Count,
    element_bytes: Count,
    columns: Count | None = None,
    **further: Any,
) -> Launch:
    """A GEMM whose blocks each compute a tile of C, operands staged through shared memory.

    The bytes on chip are the stages, ``4`` slices of ``64`` along k, all of them under way at once: an
    ordinary choice, not a measurement. The accumulators are in registers.

    Args:
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        tile: rows and columns of a block's tile.
        grid: blocks.
        element_bytes: bytes of an element of A and B.
        columns: columns of a block's tile where they are not as many as its rows.
        further: what else the launch moves: ``writes``, and ``reads`` beside the operands.
    """
    operands = (m * k + k * n) * element_bytes
    sides = 2 * tile if columns is None else tile + columns
    stages = STAGES * SLICE * sides * element_bytes
    reads = operands + further.pop("reads", 0)
    flops = 2 * m * n * k
    return Launch(grid=grid, reads=reads, on_chip=stages, in_flight=stages, flops=flops, **further)
