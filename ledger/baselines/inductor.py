"""PyTorch Inductor: splits of a reduction, splits of K for ``decompose_k``, and an epilogue's registers.

Source: PyTorch 2.14.1 (git 5c488690), ``torch/_inductor``: ``choices.py``, ``ir.py``, ``scheduler.py``,
``utils.py`` and ``config.py``, read by 2026-12-01; re-implemented from a description of them, without their
text. Sizes are whole numbers of elements.

Not modelled: cooperative and persistent reductions, the score that orders fusions and the vetoes before it,
mix-order reductions, and the autotuning that picks among the splits offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Literal

from ledger.baselines.bounds import finite_numbers, whole_numbers
from ledger.errors import UnknownName
from ledger.traced import ceil_div
from ledger.units import round_to

LEAST_ELEMENTS, MOST_ELEMENTS = 32, 512
"""Elements that one thread reduces, at least and at most."""
UNSPLIT_OPERATIONS = ("argmin", "argmax", "dot")
"""Reductions that are never split."""
DIRECTIONS = ("inner", "outer")
INNER_THREADS = 256  # of a block that reduces along the contiguous dimension
OUTER_ROWS, OUTER_COLUMNS = 4, 128  # rows per thread and columns per block across it
NEAR_INNER, NEAR_OUTER, NEAR_MOST = 30, 20, 50  # a divisor closer than this to the target replaces it

K_RATIO = 32
"""K is this many times M and N or more where ``decompose_k`` is offered, unless the user sets another."""
LEAST_K = 128
"""The least share of K that a split keeps."""
MOST_CANDIDATES = 10
SPILLED_REGISTERS = 8
"""Spilled registers at which an epilogue is not fused."""
ENOUGH_BLOCKS = 4
"""Blocks per SM at which registers veto no epilogue."""


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """A reduction and the GPU it runs on.

    Args:
        reduced: elements reduced into one output.
        outputs: outputs.
        sm_count: SMs.
        threads_per_sm: resident threads of one SM.
        capability: major compute capability, 9 for Hopper.
        direction: inner along the contiguous dimension, outer across it.
        operation: sum, max, argmax and so on.

    Raises:
        BadValue: a number is not whole and at least 1.
        UnknownName: the direction is neither inner nor outer.
    """

    reduced: int
    outputs: int
    sm_count: int
    threads_per_sm: int = 2048
    capability: int = 9
    direction: Literal["inner", "outer"] = "inner"
    operation: str = "sum"

    def __post_init__(self) -> None:
        names = ("reduced", "outputs", "sm_count", "threads_per_sm", "capability")
        whole_numbers(self, "Inductor reduction", *names)
        if self.direction not in DIRECTIONS:
            raise UnknownName("reduction direction", str(self.direction), DIRECTIONS)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Into how many parts each output's reduction is cut; elements per thread where it may be cut."""

    splits: int
    elements_per_thread: int | None
    why: str


def split_reduction(reduction: Reduction) -> Split:
    """The split of a reduction: none, or such that every thread has between 32 and about 512 elements."""
    if reason := _unsplit(reduction):
        return Split(splits=1, elements_per_thread=None, why=f"no split: {reason}")
    inner = reduction.direction == "inner"
    elements = _elements_per_thread(reduction)
    rows = INNER_THREADS if inner else OUTER_ROWS
    splits: int = ceil_div(reduction.reduced, rows * elements)
    why = f"{reduction.reduced} elements in parts of {rows} x {elements}"
    return Split(splits=splits, elements_per_thread=elements, why=why)


def _unsplit(reduction: Reduction) -> str:
    """Why a reduction is left whole, or nothing."""
    sms, outputs = reduction.sm_count, reduction.outputs
    if reduction.operation in UNSPLIT_OPERATIONS:
        return f"{reduction.operation} is never split"
    if reduction.reduced <= LEAST_ELEMENTS:
        return f"{reduction.reduced} elements, no more than one thread's {LEAST_ELEMENTS}"
    if outputs >= 64 * sms:
        return f"{outputs} outputs for {sms} SMs, 64 times as many or more"
    if reduction.direction == "outer":
        return ""
    if outputs >= 2 * sms:
        return f"{outputs} outputs for {sms} SMs, twice as many or more"
    if reduction.reduced <= (threshold := _inner_threshold(reduction)):
        return f"{reduction.reduced} elements, no more than {threshold}"
    return ""


def _inner_threshold(reduction: Reduction) -> int:
    """Elements up to which an inner reduction is left whole."""
    if reduction.capability < 10:
        return 8192
    return 32768 if reduction.outputs < reduction.sm_count else 40960


def _elements_per_thread(reduction: Reduction) -> int:
    inner = reduction.direction == "inner"
    threads = reduction.sm_count * reduction.threads_per_sm
    total = reduction.reduced * reduction.outputs
    least, most = LEAST_ELEMENTS * threads, MOST_ELEMENTS * threads
    if total < least or (inner and total == least):
        return LEAST_ELEMENTS
    if total >= most:
        return _divisor_near(reduction.reduced, MOST_ELEMENTS, NEAR_MOST) or MOST_ELEMENTS
    target = _inner_target(reduction, threads) if inner else _outer_target(reduction, threads)
    divisor = _divisor_near(reduction.reduced, target, NEAR_INNER if inner else NEAR_OUTER)
    return target if divisor is None else max(divisor, LEAST_ELEMENTS)


def _inner_target(reduction: Reduction, threads: int) -> int:
    """Elements per thread at which blocks of 256 threads fill half of the resident threads."""
    blocks = ceil_div(threads, 512 * reduction.outputs)
    target: int = ceil_div(reduction.reduced, INNER_THREADS * blocks)
    return target


def _outer_target(reduction: Reduction, threads: int) -> int:
    """Elements per thread at which blocks of 256 threads fill the resident threads."""
    blocks = ceil_div(threads, 256 * ceil_div(reduction.outputs, OUTER_COLUMNS))
    target: int = ceil_div(reduction.reduced, OUTER_ROWS * blocks)
    return target


def _divisor_near(number: int, target: int, near: int) -> int | None:
    """The divisor of a number nearest to the target, the smaller on a tie; None where none is that near."""
    for distance in range(near):
        for divisor in (target - distance, target + distance):
            if divisor >= 1 and number % divisor == 0:
                return divisor
    return None


@dataclass(frozen=True, kw_only=True)
class Product:
    """An m x k by k x n product, with the ratio that the user may set, and whether it runs on ROCm.

    Raises:
        BadValue: a number is not whole and at least 1.
    """

    m: int
    n: int
    k: int
    ratio: int = K_RATIO
    rocm: bool = False

    def __post_init__(self) -> None:
        whole_numbers(self, "Inductor decompose_k", "m", "n", "k", "ratio")


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The splits of K that are offered to autotuning, in its order; none where the method is not offered."""

    splits: tuple[int, ...]
    why: str


def decompose_k(product: Product) -> Candidates:
    """The splits offered: divisors of K that keep each share at 128 or more, powers of two first."""
    m, n, k = product.m, product.n, product.k
    if k < product.ratio * max(m, n):
        return Candidates(splits=(), why=f"not offered: K = {k} is below {product.ratio} x {max(m, n)}")
    if product.rocm:
        return Candidates(splits=(), why="no candidate on ROCm")
    most = min(k // m, k // n)
    allowed = [split for split in _divisors(k) if 2 <= split <= most and k // split >= LEAST_K]
    ordered = sorted(allowed, key=lambda split: _evenness(k // split))  # stable: rising within a kind
    why = f"{len(allowed)} divisors of {k} from 2 to {most} keep {LEAST_K} or more"
    return Candidates(splits=tuple(ordered[:MOST_CANDIDATES]), why=why)


def _divisors(number: int) -> list[int]:
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return sorted({*small, *(number // each for each in small)})


def _evenness(share: int) -> int:
    """0 for a power of two, 1 for a multiple of 32, 2 for the rest."""
    if share & (share - 1) == 0:
        return 0
    return 1 if share % 32 == 0 else 2


@dataclass(frozen=True, kw_only=True)
class EpilogueBuild:
    """A matrix product compiled without and with its epilogue.

    Args:
        registers: registers per thread without the epilogue.
        fused_registers: registers per thread with it.
        threads: threads of a block.
        spilled: registers that the fused kernel spills.
        registers_per_sm: 32-bit registers of one SM.
        epilogue_us: time of the epilogue by itself, in µs; 0 where it is not known.
        product_us: time of the product by itself, in µs; 0 where it is not known.

    Raises:
        BadValue: a count is not whole and in its range, or a time not finite and at least 0.
    """

    registers: int
    fused_registers: int
    threads: int
    spilled: int = 0
    registers_per_sm: int = 65536
    epilogue_us: float = 0
    product_us: float = 0

    def __post_init__(self) -> None:
        subject = "Inductor epilogue"
        whole_numbers(self, subject, "registers", "fused_registers", "threads", "registers_per_sm")
        whole_numbers(self, subject, "spilled", least=0)
        finite_numbers(self, subject, "epilogue_us", "product_us", zero=True)

    @property
    def blocks(self) -> int:
        """Blocks per SM by registers alone, without granularity, before the fusion."""
        return self.registers_per_sm // (self.registers * self.threads)

    @property
    def fused_blocks(self) -> int:
        """Blocks per SM by registers alone, without granularity, after the fusion."""
        return self.registers_per_sm // (self.fused_registers * self.threads)


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """Whether the epilogue stays fused."""

    fuse: bool
    why: str


def fuse_epilogue(build: EpilogueBuild) -> Fusion:
    """Whether an epilogue stays fused into its product, once both kernels are compiled."""
    before, after = build.blocks, build.fused_blocks
    if build.spilled >= SPILLED_REGISTERS:
        return Fusion(fuse=False, why=f"{build.spilled} registers spilled, {SPILLED_REGISTERS} or more")
    if after >= ENOUGH_BLOCKS:
        return Fusion(fuse=True, why=f"{after} blocks per SM, {ENOUGH_BLOCKS} or more")
    if 2 * after > before:
        return Fusion(fuse=True, why=f"{after} of {before} blocks per SM are left, more than half")
    if build.epilogue_us > 2 * build.product_us and after > 1:
        times = f"{round_to(build.epilogue_us, 2)} us against {round_to(build.product_us, 2)} us"
        return Fusion(fuse=True, why=f"the epilogue dominates, {times}")
    return Fusion(fuse=False, why=f"{after} of {before} blocks per SM are left, half or less")
