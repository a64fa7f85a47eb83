"""CUTLASS 3.x and 4.x: data-parallel, split-K or stream-K, from tiles, k-tiles and the size of a wave.

Source: NVIDIA/cutlass, ``include/cutlass/gemm/kernel/tile_scheduler_params.h``, CUTLASS 4.7.0, commit
7107b055, read by 2026-12-01; re-implemented from a description of it, without its text. A comment there
says that the test of the tail holds with more than one wave; it is applied with less than one as well.

Not modelled: the groups, up to eight, in which stream-K units are placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ledger.baselines.bounds import whole_numbers

LEAST_K_TILES = 8
"""k-tiles that a stream-K unit has at least; a GEMM with no more than these stays data-parallel."""


class Mode(StrEnum):
    """How the k-iterations of a tile are spread."""

    DATA_PARALLEL = "data-parallel"
    SPLIT_K = "split-K"
    STREAM_K = "stream-K"


@dataclass(frozen=True, kw_only=True)
class Gemm:
    """A GEMM as the tile scheduler sees it.

    Args:
        tiles: output tiles.
        k_tiles: tiles along k of one output tile.
        wave: CTAs that run at once.
        sm_count: SMs, which bound the splits that a caller asks for.
        splits: splits that the caller asks for; 1 leaves the choice to the scheduler.
        cluster: CTAs of a cluster.

    Raises:
        BadValue: one of them is not a whole number of at least 1.
    """

    tiles: int
    k_tiles: int
    wave: int
    sm_count: int
    splits: int = 1
    cluster: int = 1

    def __post_init__(self) -> None:
        names = ("tiles", "k_tiles", "wave", "sm_count", "splits", "cluster")
        whole_numbers(self, "CUTLASS 3 stream-K", *names)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The mode, and what it works on: tiles kept whole, stream-K tiles and units, splits of each tile."""

    mode: Mode
    data_parallel_tiles: int
    stream_k_tiles: int
    stream_k_units: int
    splits: int
    why: str


def decide(gemm: Gemm) -> Schedule:
    """The mode of a GEMM: the caller's splits, else by the tail of the last wave."""
    if gemm.splits > 1:
        splits = min(gemm.splits, gemm.sm_count, gemm.k_tiles)
        return _split_k(gemm, splits, f"the caller asks for {gemm.splits} splits")
    if reason := _whole_tiles(gemm):
        return _data_parallel(gemm, reason)
    kept = max(gemm.tiles // gemm.wave - 1, 0) * gemm.wave
    shared = gemm.tiles - kept
    units = min(gemm.wave, shared * gemm.k_tiles // LEAST_K_TILES) // gemm.cluster * gemm.cluster
    if units == 0:
        return _data_parallel(gemm, f"no cluster of {gemm.cluster} gets {LEAST_K_TILES} k-tiles a unit")
    if shared < units and units % shared == 0:
        return _split_k(gemm, units // shared, f"{shared} tiles divide {units} units evenly")
    return Schedule(
        mode=Mode.STREAM_K,
        data_parallel_tiles=kept,
        stream_k_tiles=shared,
        stream_k_units=units,
        splits=1,
        why=f"stream-K: {shared} tiles over {units} units, {kept} tiles whole",
    )


def _whole_tiles(gemm: Gemm) -> str:
    """Why no tile is shared, or nothing."""
    tail = gemm.tiles % gemm.wave
    if tail == 0:
        return f"{gemm.tiles} tiles are whole waves of {gemm.wave}"
    if gemm.k_tiles <= LEAST_K_TILES:
        return f"{gemm.k_tiles} k-tiles, no more than {LEAST_K_TILES}"
    if 2 * tail >= gemm.wave:
        return f"the last wave has {tail} of {gemm.wave}, half or more"
    return ""


def _data_parallel(gemm: Gemm, reason: str) -> Schedule:
    return Schedule(
        mode=Mode.DATA_PARALLEL,
        data_parallel_tiles=gemm.tiles,
        stream_k_tiles=0,
        stream_k_units=0,
        splits=1,
        why=f"data-parallel: {reason}",
    )


def _split_k(gemm: Gemm, splits: int, reason: str) -> Schedule:
    return Schedule(
        mode=Mode.SPLIT_K,
        data_parallel_tiles=0,
        stream_k_tiles=0,
        stream_k_units=0,
        splits=splits,
        why=f"split-K={splits} of {gemm.tiles} tiles: {reason}",
    )
