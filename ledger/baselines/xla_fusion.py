"""XLA on GPUs, priority fusion: kernel times from bytes, blocks and clock, and whether fusing pays.

Source: openxla/xla, ``xla/service/gpu/model/gpu_performance_model*.cc`` and
``transforms/priority_fusion.cc``, read at commits 70d42455, 270c6f8f, 467966a6 and 0c3b8dbf by 2026-12-01;
re-implemented from a description of them, without their text. Times are in µs, bandwidths in bytes per µs.

A freshly written intermediate is written and read at DRAM speed, and a fused kernel's occupancy does not
enter. Not modelled: the dot model, the limit on a tile's registers, collectives.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.baselines.bounds import finite_numbers, whole_numbers
from ledger.errors import BadValue
from ledger.machine import Machine
from ledger.traced import plain
from ledger.units import microseconds

LAUNCH_US = 1
"""Launch of one kernel; 5 in older versions."""
L2_SPEED_UP = 2.5
L1_SPEED_UP = 8
OVERLAP = 0.95
"""Share of the shorter of compute and memory that the longer one hides."""
_SUBJECT = "XLA fusion"


@dataclass(frozen=True, kw_only=True)
class Device:
    """A GPU as the model sees it; the defaults are those of NVIDIA.

    Args:
        bytes_per_us: DRAM bandwidth.
        clock_mhz: clock, which is cycles per µs.
        sm_count: SMs.
        l2_bytes: L2 cache.
        lanes_per_sm: FPUs of one SM.
        bytes_per_clock: bytes that one block moves per clock; 16 on MI300.
        l1_bytes_per_sm: net data per SM that L1 holds; 16 KB on MI100 and MI200, 32 KB on MI300.
        sector_bytes: bytes that DRAM gives to L2 at once; 128 on MI300.

    Raises:
        BadValue: a figure is not finite and positive, or not whole where it counts.
    """

    bytes_per_us: float
    clock_mhz: float
    sm_count: int
    l2_bytes: int
    lanes_per_sm: int = 128
    bytes_per_clock: int = 32
    l1_bytes_per_sm: int = 2 * 1024
    sector_bytes: int = 64

    def __post_init__(self) -> None:
        finite_numbers(self, _SUBJECT, "bytes_per_us", "clock_mhz")
        sizes = ("l2_bytes", "lanes_per_sm", "bytes_per_clock", "l1_bytes_per_sm", "sector_bytes")
        whole_numbers(self, _SUBJECT, "sm_count", *sizes)

    @classmethod
    def of(cls, machine: Machine) -> Device:
        """An NVIDIA machine of the catalogue, at its vendor's bandwidth and boost clock.

        Raises:
            MissingFigure: one of the figures has not been published.
        """
        return cls(
            bytes_per_us=plain(machine.bandwidth_vendor_gbs) * 1000,
            clock_mhz=plain(machine.boost_mhz),
            sm_count=plain(machine.sm_count),
            l2_bytes=plain(machine.l2),
        )


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a kernel reads of one operand.

    Args:
        net_bytes: bytes of the operand.
        total_bytes: bytes read of it, re-reads counted.
        element_bytes: bytes of one element, for reads that do not coalesce.
        coalesced: whether neighbouring threads read neighbouring elements.

    Raises:
        BadValue: a size is not finite and at least 0, or an element not whole and at least 1 byte.
    """

    net_bytes: float
    total_bytes: float
    element_bytes: int = 4
    coalesced: bool = True

    def __post_init__(self) -> None:
        finite_numbers(self, f"{_SUBJECT} read", "net_bytes", "total_bytes", zero=True)
        whole_numbers(self, f"{_SUBJECT} read", "element_bytes")


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One kernel: its blocks, what it reads, what it writes, and its floating-point operations.

    Raises:
        BadValue: a count is not whole and at least 1, or a size not finite and at least 0.
    """

    blocks: int
    reads: tuple[Read, ...] = ()
    written_bytes: float = 0
    flops: float = 0
    threads: int = 128

    def __post_init__(self) -> None:
        whole_numbers(self, f"{_SUBJECT} kernel", "blocks", "threads")
        finite_numbers(self, f"{_SUBJECT} kernel", "written_bytes", "flops", zero=True)


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """A producer, its consumers, and the same consumers with the producer fused into each of them.

    Raises:
        BadValue: there is no consumer, or not one fused kernel for each.
    """

    producer: Kernel
    consumers: tuple[Kernel, ...]
    fused: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        if not self.consumers or len(self.fused) != len(self.consumers):
            allowed = f"one kernel for each of the consumers, {len(self.consumers)}, which must be some"
            raise BadValue(f"{_SUBJECT}: fused", allowed, len(self.fused))


@dataclass(frozen=True, kw_only=True)
class Priority:
    """Time before and after the fusion, in µs, launches counted; the larger the gain, the earlier it is."""

    unfused_us: float
    fused_us: float
    why: str

    @property
    def gain_us(self) -> float:
        """The fusion's priority: the time it saves."""
        return self.unfused_us - self.fused_us

    @property
    def fuse(self) -> bool:
        """Whether the fusion is made: where it costs no time."""
        return self.gain_us >= 0


def bandwidth(device: Device, blocks: int, limit: float | None = None) -> float:
    """Bytes per µs that some blocks draw: what they issue, up to ``limit``, by default DRAM's bandwidth."""
    ceiling = device.bytes_per_us if limit is None else limit
    return min(ceiling, blocks * device.clock_mhz * device.bytes_per_clock)


def saturating_blocks(device: Device) -> float:
    """Blocks that draw all of DRAM's bandwidth."""
    return device.bytes_per_us / (device.clock_mhz * device.bytes_per_clock)


def read_us(device: Device, read: Read, blocks: int) -> float:
    """Time of a read: the operand once from DRAM, the rest from the cache that holds it.

    Data below 2 KB per SM is in L1, at 8 times L2's bandwidth; data below L2's size in L2, at 2.5 times
    DRAM's; larger data is read from DRAM again.
    """
    first = min(read.net_bytes, read.total_bytes)
    spread = 1 if read.coalesced else device.sector_bytes / read.element_bytes
    cache = bandwidth(device, blocks, device.bytes_per_us * _speed_up(device, read.net_bytes))
    return first * spread / bandwidth(device, blocks) + (read.total_bytes - first) / cache


def write_us(device: Device, written_bytes: float) -> float:
    """Time of a write, at DRAM's bandwidth however few the blocks."""
    return written_bytes / device.bytes_per_us


def compute_us(device: Device, kernel: Kernel) -> float:
    """Time of the arithmetic: two operations per clock and lane, on the lanes that the grid occupies."""
    lanes = min(kernel.blocks, device.sm_count) * min(kernel.threads, device.lanes_per_sm)
    return kernel.flops / (lanes * device.clock_mhz * 2)


def kernel_us(device: Device, kernel: Kernel) -> float:
    """Time of a kernel without its launch: compute and memory, the shorter one mostly hidden."""
    memory = sum(read_us(device, read, kernel.blocks) for read in kernel.reads)
    memory += write_us(device, kernel.written_bytes)
    compute = compute_us(device, kernel)
    return compute + memory - OVERLAP * min(compute, memory)


def decide(device: Device, fusion: Fusion) -> Priority:
    """The priority of fusing a producer into all its consumers."""
    count = len(fusion.consumers)
    apart = (fusion.producer, *fusion.consumers)
    unfused = LAUNCH_US * (count + 1) + sum(kernel_us(device, each) for each in apart)
    fused = LAUNCH_US * count + sum(kernel_us(device, each) for each in fusion.fused)
    why = f"{microseconds(unfused)} us apart, {microseconds(fused)} us fused"
    return Priority(unfused_us=unfused, fused_us=fused, why=why)


def elementwise_chain(*, elements: int, blocks: int, element_bytes: int = 4) -> Fusion:
    """Two elementwise kernels in a row and the one that does both; arithmetic is not counted.

    Counted: each kernel reads its one input once and writes its output once.

    Raises:
        BadValue: a count is negative, not finite or not whole.
    """
    size = elements * element_bytes
    read = Read(net_bytes=size, total_bytes=size, element_bytes=element_bytes)
    kernel = Kernel(blocks=blocks, reads=(read,), written_bytes=size)
    return Fusion(producer=kernel, consumers=(kernel,), fused=(kernel,))


def _speed_up(device: Device, net_bytes: float) -> float:
    """How much faster than DRAM the cache is that holds the data."""
    speed_up = L2_SPEED_UP if net_bytes < device.l2_bytes else 1.0
    return speed_up * L1_SPEED_UP if net_bytes < device.l1_bytes_per_sm * device.sm_count else speed_up
