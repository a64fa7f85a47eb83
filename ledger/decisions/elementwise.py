"""Two elementwise operations in a row: two kernels, or one?"""

from __future__ import annotations

from ledger.decisions.question import Bytes, Items, Question
from ledger.option import Epilogue, Launch, Option
from ledger.traced import ceil_div


def options(
    *, n: Items = 16 * 1024 * 1024, element_bytes: Bytes = 2, block: Items = 1024
) -> tuple[Option, Option]:
    """Two elementwise kernels in a row against one that applies both operations.

    Counted: each kernel reads its input and writes its output once; the two grids of the unfused pair are
    added, although the launches run one after the other.
    Not counted: the launch itself, and an intermediate that the second kernel finds in L2.

    Args:
        n: elements of the tensor.
        element_bytes: bytes of one element, 2 for fp16.
        block: elements one block handles.
    """
    tensor = n * element_bytes
    grid = ceil_div(n, block)
    on_chip = block * element_bytes
    ends = {"grid": grid, "reads": tensor, "writes": tensor, "on_chip": on_chip, "in_flight": on_chip}
    return (
        Option(
            "2 kernels",
            bytes=4 * tensor,
            grid=2 * grid,
            on_chip=on_chip,
            epilogue=Epilogue(2 * tensor, 1, "a second kernel, and the intermediate out to HBM and back"),
            launches=lambda: (Launch(**ends, passed=tensor), Launch(**ends, passed=tensor)),
        ),
        Option(
            "1 fused kernel",
            bytes=2 * tensor,
            grid=grid,
            on_chip=on_chip,
            launches=lambda: (Launch(**ends),),
        ),
    )


QUESTION = Question(
    slug="elementwise",
    options=options,
    name=lambda shape: "elementwise chain, 2 ops",
    note="the textbook case: one read + one write instead of two of each",
    finer="a",
    tiles={"block": (256, 512, 1024, 2048, 4096, 8192)},
)
