"""Triton's kernels: the split-K of a matrix product, from its grid and the number of processors.

Source: triton-lang/triton, ``python/triton_kernels``, ``opt_flags.py`` and
``opt_flags_details/opt_flags_nvidia.py``, commits c90eea85 and c643a783, read by 2026-12-01; re-implemented
from a description of them, without their text.

Not modelled: when the kernel is persistent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ledger.baselines.bounds import whole_numbers
from ledger.errors import UnknownName
from ledger.traced import ceil_div

LEAST_K_TILES = 4
"""k-tiles that each split has at least, on NVIDIA."""
K_BITS = 1024
"""Bits of the narrower operand that one k-tile spans."""
VENDORS = ("nvidia", "amd")
_SUBJECT = "Triton split-K"


@dataclass(frozen=True, kw_only=True)
class Tile:
    """Rows, columns and depth of the tile that one program computes in one step.

    Raises:
        BadValue: one of them is not a whole number of at least 1.
    """

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        whole_numbers(self, f"{_SUBJECT} tile", "m", "n", "k")


@dataclass(frozen=True, kw_only=True)
class Operands:
    """What the tile of a product depends on.

    Args:
        rows: rows of one slice of the batch.
        columns: columns of the result.
        bits: bits of an element of the narrower operand, 16 for fp16.
        narrow: whether the restriction for imprecise accumulation holds columns to 128.

    Raises:
        BadValue: a number is not whole and at least 1.
    """

    rows: int
    columns: int
    bits: int = 16
    narrow: bool = False

    def __post_init__(self) -> None:
        whole_numbers(self, _SUBJECT, "rows", "columns", "bits")


@dataclass(frozen=True, kw_only=True)
class Product:
    """A batch of products, its tile, and the processors it runs on.

    Args:
        batch: products.
        m: rows of a result.
        n: columns of a result.
        k: columns of the first operand, rows of the second.
        tile: rows, columns and depth of a tile.
        sm_count: SMs, or compute units on AMD.
        vendor: whose GPU it is.

    Raises:
        BadValue: a number is not whole and at least 1.
        UnknownName: the vendor is neither nvidia nor amd.
    """

    batch: int = 1
    m: int
    n: int
    k: int
    tile: Tile
    sm_count: int
    vendor: Literal["nvidia", "amd"] = "nvidia"

    def __post_init__(self) -> None:
        whole_numbers(self, _SUBJECT, "batch", "m", "n", "k", "sm_count")
        if self.vendor not in VENDORS:
            raise UnknownName("vendor", str(self.vendor), VENDORS)


@dataclass(frozen=True, kw_only=True)
class Split:
    """The splits of k, and the programs launched without them."""

    splits: int
    grid: int
    why: str


def default_tile(operands: Operands) -> Tile:
    """The tile that the kernels take where the caller sets none."""
    wide = operands.columns > 128 and not operands.narrow
    return Tile(
        m=min(max(_power_of_two(operands.rows), 16), 128),
        n=256 if wide else min(128, _power_of_two(operands.columns)),
        k=K_BITS // operands.bits,
    )


def decide(product: Product) -> Split:
    """The splits: as many as grids fit on the processors; on NVIDIA with at least four k-tiles each."""
    tile = product.tile
    grid: int = product.batch * ceil_div(product.m, tile.m) * ceil_div(product.n, tile.n)
    copies = product.sm_count // grid
    if product.vendor == "amd":
        return Split(splits=max(1, copies), grid=grid, why=_fits(copies, grid, product.sm_count))
    k_tiles = ceil_div(product.k, tile.k)
    most = k_tiles // LEAST_K_TILES
    why = _fits(copies, grid, product.sm_count)
    if most < copies:
        why = f"{k_tiles} k-tiles hold {most} splits of {LEAST_K_TILES}"
    return Split(splits=max(1, min(copies, most)), grid=grid, why=why)


def _fits(copies: int, grid: int, processors: int) -> str:
    return f"a grid of {grid} fits {copies} times on {processors} processors"


def _power_of_two(number: int) -> int:
    """The least power of two that is not below the number."""
    return 1 << (number - 1).bit_length()
