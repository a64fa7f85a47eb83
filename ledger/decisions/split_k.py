"""A skinny GEMM: leave half the SMs idle, or split K and add the partial sums?"""

from __future__ import annotations

from ledger.decisions.gemm import gemm
from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div

REDUCTION_BLOCK = 1024  # elements of C that one block of the reduction adds up


def options(
    *,
    m: Items = 1024,
    n: Items = 1024,
    k: Items = 16384,
    split: Items = 8,
    tile: Items = 128,
    accumulator_bytes: Bytes = 4,
    element_bytes: Bytes = 2,
) -> tuple[Option, Option]:
    """One block per tile of C against ``split`` blocks per tile, each over its share of K.

    Counted: C written once in fp32; with the split, every partial C written and read once as well.
    Not counted: the operands A and B, which both options read alike; the launch of the reduction.

    Args:
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        split: how many shares K is cut into, at most k.
        tile: rows and columns of the tile of C that one block computes.
        accumulator_bytes: bytes of an element of C and of its partial sums, 4 for fp32.
        element_bytes: bytes of an element of A and B, 2 for fp16; in no line.
    """
    c = m * n * accumulator_bytes
    tiles = ceil_div(m, tile) * ceil_div(n, tile)
    accumulator = tile * tile * accumulator_bytes
    partials = 2 * split * c
    shape = {"m": m, "n": n, "k": k, "tile": tile, "element_bytes": element_bytes}
    return (
        Option(
            f"no split, {tiles} blocks",
            bytes=c,
            grid=tiles,
            on_chip=accumulator,
            launches=lambda: (gemm(**shape, grid=tiles, writes=c),),
        ),
        Option(
            f"split-K={split}",
            bytes=c + partials,
            grid=tiles * split,
            on_chip=accumulator,
            epilogue=Epilogue(partials, 1, "the partial sums out to HBM and back, and their reduction"),
            launches=lambda: (
                gemm(**shape, grid=tiles * split, writes=split * c, passed=split * c),
                Launch(
                    grid=ceil_div(m * n, REDUCTION_BLOCK),
                    reads=split * c,
                    writes=c,
                    on_chip=REDUCTION_BLOCK * accumulator_bytes,
                    in_flight=REDUCTION_BLOCK * accumulator_bytes,
                    passed=split * c,
                ),
            ),
        ),
    )


QUESTION = Question(
    slug="split-k",
    options=options,
    name=lambda shape: "skinny GEMM {m}x{n}x{k}, split-K={split}".format(**shape),
    note="the fine option buys parallelism with 2*split*M*N*4 bytes of partials",
    finer="b",
    at_most={"split": "k"},
    tiles={"tile": (16, 32, 64, 128, 256)},
)
