"""Residual add and RMSNorm, then fp8 with a scale for each token: stop after the norm, or go on?"""

from __future__ import annotations

from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div, named


def options(
    *,
    tokens: Items = 2048,
    hidden: Items = 16384,
    blocks_per_row: Items = 1,
    element_bytes: Bytes = 2,
    float_bytes: Bytes = 4,
    quantized_bytes: Bytes = 1,
) -> tuple[Option, Option]:
    """A fused add + RMSNorm kernel and a per-token quantisation kernel against one kernel for all three.

    Counted: the input and the residual read, their sum written back as the residual, the quantised rows
    and one scale for each token; in the pair, the normed rows written and read once more. On chip, what
    a block keeps of its row: in fp32 where it norms, which both options do.
    Not counted: the norm's weights; what blocks that share a row tell each other. The pair's grid is that
    of one of its kernels.

    Args:
        tokens: tokens of the batch; each has one row.
        hidden: elements of a row, which is what norm and scale run over.
        blocks_per_row: blocks that share a row, a cluster where there is more than one; at most hidden.
        element_bytes: bytes of an element of the input, the residual and the normed rows, 2 for bf16.
        float_bytes: bytes of a scale and of an element being worked on, 4 for fp32.
        quantized_bytes: bytes of a quantised element, 1 for fp8.
    """
    elements = named("elements", tokens * hidden)
    tensor = named("tensor", elements * element_bytes)
    result = elements * quantized_bytes + tokens * float_bytes
    share = named("share", ceil_div(hidden, blocks_per_row))
    grid = tokens * blocks_per_row
    row = share * float_bytes
    normed = {"grid": grid, "reads": 2 * tensor, "on_chip": row, "in_flight": 2 * share * element_bytes}
    half = share * element_bytes
    return (
        Option(
            "add+norm, then quant",
            bytes=3 * tensor + result + 2 * tensor,
            grid=grid,
            on_chip=row,
            epilogue=Epilogue(
                2 * tensor, 1, "a quantisation kernel, and the normed rows out to HBM and back"
            ),
            launches=lambda: (
                Launch(**normed, writes=2 * tensor, passed=tensor),
                Launch(grid=grid, reads=tensor, writes=result, on_chip=half, in_flight=half, passed=tensor),
            ),
        ),
        Option(
            "1 fused kernel",
            bytes=3 * tensor + result,
            grid=grid,
            on_chip=row,
            launches=lambda: (Launch(**normed, writes=tensor + result),),
        ),
    )


QUESTION = Question(
    slug="norm-quant",
    options=options,
    name=lambda shape: "add + RMSNorm, then fp8 quant per token, {tokens}x{hidden}".format(**shape),
    note="the norm keeps the row anyway; the residual, which both move, caps the gain",
    finer="a",
    at_most={"blocks_per_row": "hidden"},
    tiles={"blocks_per_row": (1, 2, 4, 8)},
)
