"""An option: one way to run the work, as the four lines of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.traced import in_unit
from ledger.units import BLOCKS, BYTES

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


@dataclass(frozen=True)
class Option:
    """One way to run the work.

    Args:
        label: what the option is called in tables and verdicts.
        bytes: traffic: HBM bytes this option moves and the other need not.
        grid: parallelism: blocks launched, over all its kernels.
        on_chip: capacity: bytes one block keeps on chip at once.
        epilogue: the new work it brings when it is the finer option.

    Raises:
        DimensionError: a traced value counts something else than its line does.
    """

    label: str
    bytes: Count
    grid: Count
    on_chip: Count
    epilogue: Epilogue = Epilogue()

    def __post_init__(self) -> None:
        for name, unit in (("bytes", BYTES), ("grid", BLOCKS), ("on_chip", BYTES)):
            object.__setattr__(self, name, in_unit(getattr(self, name), unit))
