"""Occupancy: how many blocks of a kernel one SM holds at once, on NVIDIA's GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

from ledger.errors import BadValue, UnknownName
from ledger.machine import BYTES_PER_KIB, Machine, machines
from ledger.machine import machine as find_machine
from ledger.traced import Choice, Input, Traced, ceil_div, in_unit, named, plain, smallest
from ledger.units import BLOCKS, BYTES, PLAIN, SMS, Dimension

Count = Any  # a whole number or a traced one

WARP = 32  # threads
MOST_THREADS = 1024  # of a block, on every GPU from 7.0 on
MOST_REGISTERS = 255  # of a thread, likewise
PARTITIONS = 4  # of an SM, each with its own registers and its own warps
REGISTER_UNIT = 256  # registers are given to a warp in steps of this
_ONE_SM = Traced(1, dimension=SMS)
_PER_BLOCK = PLAIN / BLOCKS


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one SM has to give, whole numbers or traced ones.

    Args:
        compute_capability: ``9.0``; it decides the step in which shared memory is given out.
        threads: resident threads.
        blocks: resident blocks.
        registers: 32-bit registers.
        shared_bytes: shared memory in bytes, at the largest carve-out.
        shared_bytes_per_block: the most that one block can ask for, in bytes.
        reserved_bytes_per_block: what the driver keeps in each block beside that, in bytes.

    Raises:
        BadValue: the compute capability is not one from 7.0 on.
    """

    compute_capability: str
    threads: Count
    blocks: Count
    registers: Count
    shared_bytes: Count
    shared_bytes_per_block: Count
    reserved_bytes_per_block: Count

    def __post_init__(self) -> None:
        if not re.fullmatch(r"([7-9]|[1-9][0-9]+)\.[0-9]", self.compute_capability):
            allowed = "one of NVIDIA's from 7.0 on, such as 9.0"
            raise BadValue("occupancy: compute capability", allowed, repr(self.compute_capability))

    @property
    def warps(self) -> Count:
        """Resident warps."""
        return self.threads // WARP

    @property
    def shared_unit(self) -> int:
        """The step in which shared memory is given to a block, in bytes."""
        return 128 if int(self.compute_capability.partition(".")[0]) >= 8 else 256


@dataclass(frozen=True)
class Occupancy:
    """What one SM holds of a kernel: blocks, their warps, and the share of its warps that is.

    ``limiters`` names what ran out, in alphabetical order: ``blocks``, ``regs``, ``smem``, ``warps``. There
    are several where several run out at the same number of blocks. With 0 blocks the kernel cannot be
    launched, and they say why.
    """

    blocks: Count
    warps: Count
    share: Count
    limiters: tuple[str, ...]

    @property
    def limiter(self) -> Choice:
        """The limiters in one word, ``regs+warps``, for a page to read."""
        return Choice("+".join(self.limiters))


def occupancy(
    *, threads: Count, registers: Count, shared_bytes: Count = 0, machine: str | Machine
) -> Occupancy:
    """The blocks of a kernel that one SM of a machine holds at once, every number traced.

    Args:
        threads: threads of a block.
        registers: registers of a thread, as the compiler reports them.
        shared_bytes: shared memory of a block in bytes, static and dynamic together.
        machine: a machine of the catalogue by key or name, or one made with ``having``.

    Raises:
        UnknownName: no such machine.
        BadValue: a value that no GPU allows, or a machine that is not NVIDIA's.
        MissingFigure: the machine lacks a figure that the count needs.

    Examples:
        >>> occupancy(threads=256, registers=64, shared_bytes=48 * 1024, machine="h200")
        Occupancy(blocks=4, warps=32, share=0.5, limiters=('regs', 'smem'))
    """
    return resident(
        limits_of(find_machine(machine)),
        threads=_traced("threads", threads),
        registers=_traced("registers", registers),
        shared_bytes=_traced("shared_bytes", shared_bytes, BYTES),
    )


def resident(limits: Limits, *, threads: Count, registers: Count, shared_bytes: Count = 0) -> Occupancy:
    """The blocks that an SM with these limits holds: the fewest that any of its four limits allows.

    Counted: whole warps; registers in steps of 256 a warp, from one of four sub-partitions, which a warp
    cannot straddle; shared memory with the driver's part, in steps of 128 bytes, of 256 before 8.0.
    Not counted: a carve-out smaller than the largest, named barriers, clusters, which need their blocks to
    be resident together. Tensor memory, which 10.0 gives to blocks as well, is not counted either.
    Source: CUDA's ``cuda_occupancy.h``, with which these rules agreed on every launch compared.

    Raises:
        BadValue: a value that no GPU allows: more than 1,024 threads or 255 registers, or less than none.
        DimensionError: a traced value counts something else.
    """
    _check("threads", threads, 1, MOST_THREADS)
    _check("registers", registers, 1, MOST_REGISTERS)
    _check("shared_bytes", shared_bytes, 0, None)
    warps = named("warps_per_block", in_unit(ceil_div(in_unit(threads, PLAIN), WARP), _PER_BLOCK))
    allowed = {
        "blocks": limits.blocks,
        "regs": _by_registers(limits, warps, in_unit(registers, PLAIN)),
        "smem": _by_shared_memory(limits, in_unit(shared_bytes, BYTES)),
        "warps": named("by_warps", limits.warps // warps),
    }
    counts = {name: count for name, count in allowed.items() if count is not None}
    blocks = reduce(smallest, counts.values())
    limiters = tuple(name for name, count in counts.items() if plain(count) == plain(blocks))
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limiters)


def _by_registers(limits: Limits, warps: Count, registers: Count) -> Count:
    """Blocks by registers; a block whose warps the sub-partitions cannot hold four at a time gets 0."""
    per_warp = named("registers_per_warp", _round_up(WARP * registers, REGISTER_UNIT))
    return named("by_registers", PARTITIONS * (limits.registers // PARTITIONS // per_warp) // warps)


def _by_shared_memory(limits: Limits, shared_bytes: Count) -> Count | None:
    """Blocks by shared memory: 0 above the opt-in limit, None where a block takes none."""
    asked = shared_bytes + limits.reserved_bytes_per_block
    if not plain(asked):
        return None
    footprint = named("bytes_per_block", _round_up(asked, limits.shared_unit))
    count = limits.shared_bytes // footprint * (shared_bytes <= limits.shared_bytes_per_block)
    return named("by_shared_memory", in_unit(count, BLOCKS))


def limits_of(machine: Machine) -> Limits:
    """The limits of one SM of a machine, traced to the catalogue's figures.

    Raises:
        BadValue: the machine is not NVIDIA's: AMD's compute units give out registers by other rules.
        MissingFigure: nobody has published one of the figures.
    """
    if machine.vendor != "NVIDIA":
        allowed = "NVIDIA's, since other vendors' GPUs follow other rules"
        raise BadValue("occupancy: machine", allowed, f"{machine.key} ({machine.vendor})")
    return Limits(
        compute_capability=machine.compute_capability,
        threads=machine.max_threads_per_sm,
        blocks=machine.max_blocks_per_sm * _ONE_SM,
        registers=machine.registers_per_sm,
        shared_bytes=machine.smem_per_sm,
        shared_bytes_per_block=machine.smem_per_block,
        reserved_bytes_per_block=machine.smem_reserved_per_block_kib * BYTES_PER_KIB,
    )


def limits(compute_capability: str) -> Limits:
    """The limits of a compute capability, as whole numbers: those of the catalogue's GPUs that have it.

    Raises:
        UnknownName: no GPU of the catalogue has it.

    Examples:
        >>> limits("7.5").threads
        1024
    """
    known: Mapping[str, Machine] = {
        each.compute_capability: each for each in machines().values() if each.vendor == "NVIDIA"
    }
    if compute_capability not in known:
        raise UnknownName("compute capability", str(compute_capability), known)
    found = limits_of(known[compute_capability])
    return replace(found, **{each.name: plain(getattr(found, each.name)) for each in fields(found)})


def _round_up(value: Count, unit: int) -> Count:
    return ceil_div(value, unit) * unit


def _traced(name: str, value: Count, dimension: Dimension = PLAIN) -> Count:
    """A whole number as a named input of the block; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return Traced(value, Input(name, value, "block", dimension), dimension)


def _check(name: str, value: Count, least: int, most: int | None) -> None:
    number = plain(value)
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole or number < least or (most is not None and number > most):
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise BadValue(f"occupancy: {name}", f"a whole number {span}", repr(value))
