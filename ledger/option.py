"""An option: one way to run the work, as the four lines of the ledger, and the kernels it launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ledger.traced import in_unit
from ledger.units import BLOCKS, BYTES, FLOPS, PLAIN

Count = Any  # a whole number, a traced number, or an array of either: whatever the shape was


@dataclass(frozen=True)
class Epilogue:
    """The fourth line: new work that the finer option brings and the coarser one does not have.

    ``bytes`` is the part of the option's traffic that exists only because the work was cut finer (the
    intermediate that travels, the partial sums); ``launches`` counts kernels beyond the coarse option's.
    """

    bytes: Count = 0
    launches: Count = 0
    work: str = "nothing new"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", in_unit(self.bytes, BYTES))


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One kernel of an option, for the second opinion: all that it moves, alike in both options or not.

    Args:
        grid: blocks launched.
        reads: HBM bytes read, each once however often blocks ask for it.
        writes: HBM bytes written.
        on_chip: shared memory of one block in bytes, buffers in flight included, accumulators not.
        in_flight: bytes of loads that one block has under way at once.
        passed: of its reads and writes, bytes of an intermediate that another launch writes or reads.
        flops: floating-point operations on the tensor cores.
        threads: threads of one block.
    """

    grid: Count
    reads: Count
    writes: Count
    on_chip: Count
    in_flight: Count
    passed: Count = 0
    flops: Count = 0
    threads: Count = 256

    def __post_init__(self) -> None:
        units = {"grid": BLOCKS, "flops": FLOPS, "threads": PLAIN}
        for name in ("grid", "reads", "writes", "on_chip", "in_flight", "passed", "flops", "threads"):
            object.__setattr__(self, name, in_unit(getattr(self, name), units.get(name, BYTES)))


def _no_launches() -> tuple[Launch, ...]:
    return ()


@dataclass(frozen=True)
class Option:
    """One way to run the work.

    Args:
        label: what the option is called in tables and verdicts.
        bytes: traffic: HBM bytes this option moves and the other need not.
        grid: parallelism: blocks launched, over all its kernels.
        on_chip: capacity: bytes one block keeps on chip at once.
        epilogue: the new work it brings when it is the finer option.
        launches: gives its kernels in the order they run, for the second opinion; asked only when one is
            wanted. What they move differs between two options by as much as ``bytes`` does.

    Raises:
        DimensionError: a traced value counts something else than its line does.
    """

    label: str
    bytes: Count
    grid: Count
    on_chip: Count
    epilogue: Epilogue = Epilogue()
    launches: Callable[[], tuple[Launch, ...]] = field(default=_no_launches, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, unit in (("bytes", BYTES), ("grid", BLOCKS), ("on_chip", BYTES)):
            object.__setattr__(self, name, in_unit(getattr(self, name), unit))
