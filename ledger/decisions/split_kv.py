"""Decode attention: one block for each head, or split the keys and values and combine?"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Count, Epilogue, Launch, Option


def options(
    *,
    batch_heads: Items = 32,
    sq: Items = 1,
    skv: Items = 128 * 1024,
    head_dim: Items = 128,
    split: Items = 64,
    kv_block: Items = 256,
    element_bytes: Bytes = 2,
    accumulator_bytes: Bytes = 4,
) -> tuple[Option, Option]:
    """One block walking all keys of a head against ``split`` blocks that each walk a share.

    Counted: keys and values read once by either option; with the split, every partial output written and
    read once in fp32.
    Not counted: the queries and the final output (alike in both), the log-sum-exp of each split (one
    fp32 for each partial row), the launch of the combining kernel.

    Args:
        batch_heads: sequences times key-value heads; each has its own keys and values.
        sq: query tokens per sequence, few enough for one block.
        skv: keys per sequence.
        head_dim: elements of a key, and of a value.
        split: how many shares the keys are cut into, at most skv.
        kv_block: keys and values that one block keeps on chip at once.
        element_bytes: bytes of a key or value element, 2 for fp16.
        accumulator_bytes: bytes of a partial output's element, 4 for fp32.
    """
    keys_and_values = 2 * batch_heads * skv * head_dim * element_bytes
    partials = 2 * batch_heads * split * sq * head_dim * accumulator_bytes
    on_chip = 2 * kv_block * head_dim * element_bytes
    walk = {
        "reads": keys_and_values,
        "on_chip": on_chip,
        "in_flight": on_chip,
        "flops": 4 * batch_heads * sq * skv * head_dim,
    }
    written = batch_heads * split * sq * head_dim * accumulator_bytes
    return (
        Option(
            "one block per head",
            bytes=keys_and_values,
            grid=batch_heads,
            on_chip=on_chip,
            launches=lambda: (Launch(**walk, grid=batch_heads, writes=0),),
        ),
        Option(
            f"split-KV={split}",
            bytes=keys_and_values + partials,
            grid=batch_heads * split,
            on_chip=on_chip,
            epilogue=Epilogue(partials, 1, "the partial outputs out to HBM and back, and their combination"),
            launches=lambda: (
                Launch(**walk, grid=batch_heads * split, writes=written, passed=written),
                Launch(
                    grid=batch_heads,
                    reads=written,
                    writes=0,
                    on_chip=split * sq * head_dim * accumulator_bytes,
                    in_flight=split * sq * head_dim * accumulator_bytes,
                    passed=written,
                ),
            ),
        ),
    )


def _name(shape: Mapping[str, Count]) -> str:
    keys = int(shape["skv"])
    length = f"{keys // 1024}k" if keys % 1024 == 0 else str(keys)
    return f"decode attention, sq={shape['sq']}, skv={length}, split-KV={shape['split']}"


QUESTION = Question(
    slug="split-kv",
    options=options,
    name=_name,
    note="splitting does not cut traffic here at all; it buys occupancy",
    finer="b",
    at_most={"split": "skv"},
    tiles={"kv_block": (16, 32, 64, 128, 256, 512)},
)
