"""GEMM, then bias and GeLU: a kernel of their own, or the GEMM's epilogue?"""

from __future__ import annotations

from ledger.decisions.gemm import gemm
from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div

POINTWISE_BLOCK = 1024  # elements that one block of a pointwise kernel handles


def options(
    *,
    m: Items = 4096,
    n: Items = 4096,
    k: Items = 4096,
    tile: Items = 128,
    element_bytes: Bytes = 2,
    accumulator_bytes: Bytes = 4,
) -> tuple[Option, Option]:
    """A GEMM followed by a bias + GeLU kernel against a GEMM that applies both before it stores.

    Counted: C written once, and in the unfused pair read and written once more.
    Not counted: the operands A and B, which both options read alike (``k`` is in no line for that reason),
    and the bias vector's traffic. The accumulator is counted as on-chip bytes; on tensor-core GPUs it
    lives in registers.

    Args:
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        tile: rows and columns of the tile of C that one block computes.
        element_bytes: bytes of an element of C and of the bias, 2 for fp16.
        accumulator_bytes: bytes of an accumulator element, 4 for fp32.
    """
    c = m * n * element_bytes
    grid = ceil_div(m, tile) * ceil_div(n, tile)
    accumulator = tile * tile * accumulator_bytes
    shape = {"m": m, "n": n, "k": k, "tile": tile, "grid": grid, "element_bytes": element_bytes}
    row = POINTWISE_BLOCK * element_bytes
    pointwise = {"grid": ceil_div(m * n, POINTWISE_BLOCK), "on_chip": row, "in_flight": row}
    return (
        Option(
            "GEMM | epilogue, 2 kernels",
            bytes=2 * c + c,
            grid=grid,
            on_chip=accumulator,
            epilogue=Epilogue(2 * c, 1, "a bias + GeLU kernel, and C read and written again"),
            launches=lambda: (
                gemm(**shape, writes=c, passed=c),
                Launch(**pointwise, reads=c, writes=c, passed=c),
            ),
        ),
        Option(
            "GEMM with fused epilogue",
            bytes=c,
            grid=grid,
            on_chip=accumulator + tile * element_bytes,
            launches=lambda: (gemm(**shape, writes=c),),
        ),
    )


QUESTION = Question(
    slug="gemm-epilogue",
    options=options,
    name=lambda shape: "GEMM + bias + GeLU epilogue",
    note="C never leaves the accumulator fragment",
    finer="a",
    tiles={"tile": (16, 32, 64, 128, 256)},
)
