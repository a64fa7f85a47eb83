"""A norm on the Q projection's output: a kernel of its own, or the projection's epilogue?"""

from __future__ import annotations

from ledger.decisions.gemm import gemm
from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div, named


def options(
    *,
    tokens: Items = 4096,
    heads: Items = 32,
    head_dim: Items = 128,
    row: Items = 8192,
    rows_per_block: Items = 8,
    tile: Items = 128,
    element_bytes: Bytes = 2,
    accumulator_bytes: Bytes = 4,
) -> tuple[Option, Option]:
    """The projection followed by a norm kernel against a projection that norms each tile it computes.

    Counted: what the norm kernel reads and writes. The lines hold the *difference* between the options:
    the projection's own traffic, weights and output alike, is in neither, so the fused option's is zero.
    Not counted: the norm's weights. The unfused pair's grid is the norm kernel's.
    The hidden size, which only the second opinion uses, is taken as ``heads * head_dim``.
    Only valid while a head's row fits one tile: ``head_dim`` at most ``tile``.

    Args:
        tokens: tokens of the batch, the projection's rows.
        heads: query heads.
        head_dim: elements of a head's row, which is what the norm runs over; at most tile.
        row: elements one block of the norm kernel keeps on chip.
        rows_per_block: rows that one block of the norm kernel handles.
        tile: rows and columns of the tile of Q that one block of the projection computes.
        element_bytes: bytes of an element of Q, 2 for fp16.
        accumulator_bytes: bytes of an accumulator element, 4 for fp32.
    """
    rows = named("rows", tokens * heads)
    q = rows * head_dim * element_bytes
    hidden = heads * head_dim
    grid = ceil_div(tokens, tile) * ceil_div(hidden, tile)
    projection = {"m": tokens, "n": hidden, "k": hidden, "tile": tile, "element_bytes": element_bytes}
    norm_grid = ceil_div(rows, rows_per_block)
    row_bytes = row * element_bytes
    return (
        Option(
            "project | norm, 2 kernels",
            bytes=2 * q,
            grid=norm_grid,
            on_chip=row_bytes,
            epilogue=Epilogue(2 * q, 1, "a norm kernel, and Q read and written again"),
            launches=lambda: (
                gemm(**projection, grid=grid, writes=q, passed=q),
                Launch(
                    grid=norm_grid,
                    reads=q,
                    writes=q,
                    on_chip=row_bytes,
                    in_flight=row_bytes,
                    passed=q,
                ),
            ),
        ),
        Option(
            "norm fused into the GEMM epilogue",
            bytes=0 * q,
            grid=grid,
            on_chip=tile * tile * accumulator_bytes + tile * tile * element_bytes,
            launches=lambda: (gemm(**projection, grid=grid, writes=q),),
        ),
    )


QUESTION = Question(
    slug="norm-projection",
    options=options,
    name=lambda shape: "norm fused into the Q projection's output",
    note="fusion inherits the GEMM's grid; that is usually good, not bad",
    finer="a",
    tiles={"row": (1024, 2048, 4096, 8192), "rows_per_block": (1, 2, 4, 8, 16), "tile": (64, 128, 256)},
    at_most={"head_dim": "tile"},
)
