"""QK-Norm and RoPE, then fp8 quantisation: stop after RoPE, or go on in the same kernel?"""

from __future__ import annotations

from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div, named


def options(
    *,
    tokens: Items = 4096,
    q_heads: Items = 32,
    kv_heads: Items = 8,
    head_dim: Items = 128,
    row: Items = 8192,
    rows_per_block: Items = 8,
    element_bytes: Bytes = 2,
    float_bytes: Bytes = 4,
    quantized_bytes: Bytes = 1,
) -> tuple[Option, Option]:
    """QK-Norm + RoPE followed by an fp8 quantisation kernel against one kernel for all three.

    Counted: queries and keys in and out, the intermediate between the two kernels, the sine and cosine
    tables read once, one scale written for each row; on chip, the buffers of one row. The unfused pair's
    grid is that of one of its kernels, one block a row.
    Not counted: the norm's weights, values (they are neither normed nor rotated), re-reads of the tables.

    Args:
        tokens: tokens of the batch.
        q_heads: query heads; each token has one row for each.
        kv_heads: key heads; each token has one row for each.
        head_dim: elements of a head's row.
        row: elements one block keeps on chip.
        rows_per_block: rows that one block of the fused kernel handles.
        element_bytes: bytes of a query or key element, 2 for fp16.
        float_bytes: bytes of a table entry, a scale and an element being worked on, 4 for fp32.
        quantized_bytes: bytes of a quantised element, 1 for fp8.
    """
    rows = named("rows", tokens * (q_heads + kv_heads))
    elements = named("elements", rows * head_dim)
    tables = named("tables", 2 * tokens * head_dim * float_bytes)
    scales = named("scales", rows * float_bytes)
    intermediate = 2 * elements * element_bytes
    half = elements * element_bytes
    ends = half + elements * quantized_bytes
    row_bytes = row * element_bytes
    fused_bytes = row * (2 * element_bytes + 2 * float_bytes + quantized_bytes)
    first = {"reads": half + tables, "in_flight": row_bytes}
    warp = {"grid": rows, "on_chip": row_bytes, "threads": 32}  # one warp for a row
    last = {"writes": elements * quantized_bytes + scales}
    return (
        Option(
            "norm+rope | quant as 2 kernels",
            bytes=ends + intermediate + tables + scales,
            grid=rows,
            on_chip=row_bytes,
            epilogue=Epilogue(
                intermediate, 1, "a quantisation kernel, and the fp16 rows out to HBM and back"
            ),
            launches=lambda: (
                Launch(**first, **warp, writes=half, passed=half),
                Launch(**last, **warp, reads=half, in_flight=row_bytes, passed=half),
            ),
        ),
        Option(
            "one fused kernel",
            bytes=ends + tables + scales,
            grid=ceil_div(rows, rows_per_block),
            on_chip=fused_bytes,
            launches=lambda: (
                Launch(**first, **last, grid=ceil_div(rows, rows_per_block), on_chip=fused_bytes),
            ),
        ),
    )


QUESTION = Question(
    slug="norm-rope-quant",
    options=options,
    name=lambda shape: "QK-Norm+RoPE then fp8 quant",
    note="the case study of section 6; the row of 8192 elements is the fusion's on-chip cost",
    finer="a",
    tiles={"row": (1024, 2048, 4096, 8192), "rows_per_block": (1, 2, 4, 8, 16)},
    budget_kib=192,
)
