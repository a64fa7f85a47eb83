"""The gate of an MLP: write gate and up, then silu and multiply, or both in the GEMM's epilogue?"""

from __future__ import annotations

from ledger.decisions.gemm import gemm
from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div, named

POINTWISE_BLOCK = 1024  # elements of the result that one block of the pointwise kernel computes


def options(
    *,
    tokens: Items = 4096,
    hidden: Items = 4096,
    ffn: Items = 14336,
    tile: Items = 128,
    gate_columns: Items = 64,
    element_bytes: Bytes = 2,
    accumulator_bytes: Bytes = 4,
) -> tuple[Option, Option]:
    """A gate-up GEMM followed by silu-and-mul against a GEMM that applies both before it stores.

    Counted: in the unfused pair gate and up written and read once, and their product written; in the
    fused GEMM that product alone.
    Not counted: the activations and weights that the GEMM reads, alike in both options (``hidden`` is in
    no line for that reason). The accumulators are counted as on-chip bytes; on tensor-core GPUs they live
    in registers.
    Only valid where the weights' columns are stored interleaved, ``gate_columns`` of the one, then as many
    of the other, so that one tile holds both.

    Args:
        tokens: tokens of the batch, the rows of the GEMM.
        hidden: the model's hidden size, over which the GEMM sums.
        ffn: columns of the gate, as many of up, and columns of the result.
        tile: rows of a block's tile in both options, and columns in the unfused GEMM.
        gate_columns: columns of the gate in a tile of the fused GEMM, beside as many of up.
        element_bytes: bytes of an element of gate, up and their product, 2 for bf16.
        accumulator_bytes: bytes of an accumulator element, 4 for fp32.
    """
    result = named("result", tokens * ffn * element_bytes)
    rows = named("rows", ceil_div(tokens, tile))  # of tiles
    pair_grid = rows * ceil_div(2 * ffn, tile)
    fused_grid = rows * ceil_div(ffn, gate_columns)
    columns = 2 * gate_columns
    shape = {"m": tokens, "n": 2 * ffn, "k": hidden, "tile": tile, "element_bytes": element_bytes}
    read = 2 * POINTWISE_BLOCK * element_bytes
    return (
        Option(
            "gate-up GEMM, then silu-and-mul",
            bytes=4 * result + result,
            grid=pair_grid,
            on_chip=tile * tile * accumulator_bytes,
            epilogue=Epilogue(4 * result, 1, "a silu-and-mul kernel, and gate and up written and read"),
            launches=lambda: (
                gemm(**shape, grid=pair_grid, writes=2 * result, passed=2 * result),
                Launch(
                    grid=ceil_div(tokens * ffn, POINTWISE_BLOCK),
                    reads=2 * result,
                    writes=result,
                    on_chip=read,
                    in_flight=read,
                    passed=2 * result,
                ),
            ),
        ),
        Option(
            "gate-up GEMM with SwiGLU epilogue",
            bytes=result,
            grid=fused_grid,
            on_chip=tile * columns * accumulator_bytes,
            launches=lambda: (gemm(**shape, columns=columns, grid=fused_grid, writes=result),),
        ),
    )


QUESTION = Question(
    slug="swiglu",
    options=options,
    name=lambda shape: "SwiGLU, {tokens} tokens, {hidden} to {ffn}".format(**shape),
    note="five passes over the result against one; a quarter of what that saves was hidden anyway",
    finer="a",
    tiles={"tile": (64, 128, 256), "gate_columns": (16, 32, 64, 128)},
)
