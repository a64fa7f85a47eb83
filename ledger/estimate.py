"""The second opinion: an estimate in µs, from the kernels that an option launches and the machine.

It never changes a verdict. It says where the rule is blunt: what a launch costs, how many waves there are
and how full the last one is, what stays in L2, and what the tensor cores take.

Time of a launch, every term a traced number::

    launch + full waves x wave(slots) + wave(blocks of the last wave)
    wave(n) = max(HBM and L2 at their bandwidths, what the busy SMs can draw, loads in flight, tensor cores)
    slots   = SMs x blocks that one SM holds

A model, not a measurement: ``docs/ledger/estimate.md`` holds it against public figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from statistics import median
from types import MappingProxyType
from typing import Literal, NamedTuple

from ledger.decision import Decision, Standing
from ledger.errors import BadValue
from ledger.machine import BYTES_PER_KIB, BYTES_PER_MIB, FIELDS, Machine, machines
from ledger.option import Count, Launch, Option
from ledger.sources import sources
from ledger.traced import Traced, ceil_div, given, in_unit, largest, named, plain, smallest
from ledger.units import BLOCKS, BYTES, FLOPS, MHZ, PLAIN, SMS, US, Dimension, microseconds, round_to

MODES = ("stream", "graph")
UNCERTAINTY = 0.2
"""Share by which a time may be off; what differs by less is too close to call, since much of it is common."""

BINDING: Mapping[str, str] = MappingProxyType(
    {
        "bandwidth": "bandwidth",
        "draw": "what the busy SMs can draw",
        "flight": "loads in flight",
        "tensor": "tensor cores",
    }
)

CONSTANTS: Mapping[str, tuple[float, Dimension, str, str]] = MappingProxyType(
    {
        "latency": (0.6, US, "from a load to its data, few loads under way", "rrze-stream"),
        "bytes_per_clock": (32, BYTES / SMS, "what one SM draws a clock", "xla-performance-model"),
        "tensor_share": (0.78, PLAIN, "share of the dense peak that products reach", "torchao-roofline"),
        "bandwidth_share": (0.92, PLAIN, "share of the vendor's bandwidth reached", "torchao-roofline"),
        "l2_speed_up": (2.5, PLAIN, "L2 over HBM where it is not published", "xla-performance-model"),
        "l2_share": (0.5, PLAIN, "share of L2 that an intermediate may fill", "rrze-small-kernels"),
    }
)
"""The model's constants: value, what it counts, what it is, and the key of its source."""
_CLOCKS_PER_US = Traced(1, dimension=PLAIN / US / MHZ)


class Bounds(NamedTuple):
    """What one wave would take if only one thing bounded it, in µs."""

    bandwidth: Traced
    draw: Traced
    flight: Traced
    tensor: Traced

    @property
    def longest(self) -> Traced:
        """The wave's time: the longest of them."""
        return reduce(largest, self)

    @property
    def binding(self) -> str:
        """What bounds the wave, in words."""
        return BINDING[max(Bounds._fields, key=lambda name: plain(getattr(self, name)))]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One launch with its time, in µs, and what it is made of.

    Args:
        launch: the kernel.
        cost: of launching it.
        resident: blocks that one SM holds at once.
        slots: blocks that the machine holds at once.
        waves: waves that the grid runs in.
        last: blocks in the last wave.
        wave: what bounds a full wave.
        tail: what bounds the last one.
    """

    launch: Launch
    cost: Traced
    resident: Traced
    slots: Traced
    waves: Traced
    last: Traced
    wave: Bounds
    tail: Bounds

    @property
    def full(self) -> Traced:
        """Time of all waves but the last."""
        return _traced((self.waves - 1) * named("wave", self.wave.longest))

    @property
    def us(self) -> Traced:
        """Time of the launch in all."""
        return _traced(self.cost + self.full + named("tail", self.tail.longest))

    @property
    def binding(self) -> str:
        """What bounds most of its time: a term of its waves, or the launch itself."""
        body = self.tail if self.waves == 1 else self.wave
        return "the launch" if self.cost > self.full + self.tail.longest else body.binding


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An option's kernels, one after the other, with their times."""

    option: Option
    launches: tuple[Timed, ...]

    @property
    def us(self) -> Traced:
        """Time of all its launches, in µs."""
        return _traced(sum(named(f"kernel {n}", each.us) for n, each in enumerate(self.launches, 1)))

    @property
    def why(self) -> str:
        """Its launches, waves and bounds in one line: ``1 launch: 1 wave, 97 % full, bound by bandwidth``."""
        count = len(self.launches)
        kernels = ", then ".join(_describe(each) for each in self.launches)
        return f"{count} launch{'' if count == 1 else 'es'}: {kernels}"


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """The second opinion on a decision: an estimate for each option that fits, and which is the faster.

    Args:
        decision: what it is about.
        mode: how kernels are launched, in a stream or in a graph.
        a: of the first option; None where it does not fit on chip.
        b: of the second option, likewise.
    """

    decision: Decision
    mode: str
    a: Estimate | None
    b: Estimate | None

    @property
    def uncertainty(self) -> Traced:
        """Share by which a time may be off."""
        return Traced(UNCERTAINTY)

    @property
    def faster(self) -> Option | None:
        """The option that is faster beyond the uncertainty; None where it is too close, or none fits."""
        known = [each for each in (self.a, self.b) if each is not None]
        if len(known) < 2 or self.is_close:
            return known[0].option if len(known) == 1 else None
        return min(known, key=lambda each: plain(each.us)).option

    @property
    def is_close(self) -> bool:
        """Whether both options fit and the slower one takes longer by no more than the uncertainty."""
        if self.a is None or self.b is None:
            return False
        quick, slow = sorted((plain(self.a.us), plain(self.b.us)))
        return bool(slow <= quick * (1 + UNCERTAINTY))

    @property
    def agrees(self) -> bool:
        """Whether it picks what the rule picks; where it is too close to call, it does not contradict."""
        return self.is_close or self.faster is self.decision.choice

    @property
    def says(self) -> str:
        """What it picks, in words: a label, ``too close to call``, or ``neither fits``."""
        if self.is_close:
            return "too close to call"
        return "neither fits" if self.faster is None else self.faster.label

    @property
    def reason(self) -> str:
        """Both times; where it does not agree with the rule, why."""
        if self.a is None or self.b is None:
            return "an option that does not fit on chip cannot be launched"
        times = " against ".join(f"{microseconds(each.us)} us" for each in (self.a, self.b))
        if self.agrees:
            return times
        return f"{times}; {_why_not(self)}"


def opinion(decision: Decision, mode: Literal["stream", "graph"] = "stream") -> Opinion:
    """The second opinion on a decision, every number traced.

    Args:
        decision: the decision, on a machine.
        mode: how kernels are launched; a launch from a graph costs less than one in a stream.

    Raises:
        BadValue: the mode is none, or the decision has no machine or does not say what its options launch.
        MissingFigure: the machine lacks a figure that the estimate needs.
    """
    subject = decision.slug or decision.name
    if decision.machine is None:
        raise BadValue(f"{subject}: machine", "one of the catalogue, for a second opinion", None)
    estimates = [
        None if decision.standing(option) is Standing.TOO_BIG else estimate(option, decision.machine, mode)
        for option in (decision.a, decision.b)
    ]
    return Opinion(decision=decision, mode=mode, a=estimates[0], b=estimates[1])


def estimate(option: Option, machine: Machine, mode: str = "stream") -> Estimate:
    """The time of an option's launches on a machine.

    Raises:
        BadValue: the mode is none, or the option does not say what it launches.
        MissingFigure: the machine lacks a figure that the estimate needs.
    """
    launches = tuple(time(each, machine, mode) for each in option.launches())
    if not launches:
        raise BadValue(f"{option.label}: launches", "at least one kernel, for a second opinion", 0)
    return Estimate(option=option, launches=launches)


def time(launch: Launch, machine: Machine, mode: str = "stream") -> Timed:
    """The time of one launch on a machine.

    Raises:
        BadValue: the mode is none.
        MissingFigure: the machine lacks a figure that the estimate needs.

    Examples:
        >>> print(time(streaming(reads=2**27, writes=2**27), machines()["h200"]).us.dimension)
        µs
    """
    if mode not in MODES:
        raise BadValue("estimate: mode", f"one of {', '.join(MODES)}", repr(mode))
    resident = named("resident", _resident(launch, machine))
    slots = named("slots", machine.sm_count * resident)
    grid = named("grid", _traced(launch.grid, BLOCKS))
    waves = named("waves", ceil_div(grid, slots))
    last = named("last", grid - (waves - 1) * slots)
    return Timed(
        launch=launch,
        cost=_figure(machine, f"launch_{mode}_us"),
        resident=resident,
        slots=slots,
        waves=waves,
        last=last,
        wave=_bounds(launch, machine, grid, slots),
        tail=_bounds(launch, machine, grid, last),
    )


def streaming(
    *,
    reads: int = 0,
    writes: int = 0,
    passed: int = 0,
    block: int = 4096,
    threads: int = 256,
    grid: int | None = None,
) -> Launch:
    """A kernel that streams arrays: what a copy, a scale or an elementwise operation launches.

    Args:
        reads: bytes read.
        writes: bytes written.
        passed: of these, bytes that an earlier kernel left in L2, or that a later one reads there.
        block: bytes that one block has under way at once.
        threads: threads of one block.
        grid: blocks; by default one for every ``block`` bytes of what it reads or writes more of.
    """
    return Launch(
        grid=ceil_div(max(reads, writes), block) if grid is None else grid,
        reads=reads,
        writes=writes,
        passed=passed,
        on_chip=block if reads else 0,
        in_flight=block,
        threads=threads,
    )


def sm_draw(machine: Machine) -> Traced:
    """Bytes per µs that one SM draws, from L2 or HBM."""
    return _constant("bytes_per_clock") * machine.boost_mhz * _CLOCKS_PER_US


# the terms ----------------------------------------------------------------------------------------------


def _bounds(launch: Launch, machine: Machine, grid: Traced, blocks: Traced) -> Bounds:
    """What a wave of some of the grid's blocks takes, by each of its bounds alone."""
    moved = named("moved", _traced(launch.reads + launch.writes, BYTES))
    busiest = ceil_div(blocks, machine.sm_count)  # blocks on the SM that has the most
    return Bounds(
        bandwidth=blocks / grid * _memory_us(launch, machine, moved),
        draw=busiest * (moved / grid) / sm_draw(machine),
        flight=_constant("latency")
        * largest(1, _traced(launch.reads, BYTES) / (_count(grid) * _traced(launch.in_flight, BYTES))),
        tensor=_tensor_us(launch, machine, grid, busiest),
    )


def _memory_us(launch: Launch, machine: Machine, moved: Traced) -> Traced:
    """All the launch's bytes at the bandwidth of HBM, and of L2 for an intermediate that fits there."""
    hbm = _achievable(machine)
    if plain(launch.passed) == 0:
        return moved / hbm
    passed = _traced(launch.passed, BYTES)
    room = _figure(machine, "l2_mib") * BYTES_PER_MIB * _constant("l2_share")
    kept = named("kept", passed * smallest(1, room // passed))
    return _traced((moved - kept) / hbm + kept / _l2_rate(machine, hbm))


def _tensor_us(launch: Launch, machine: Machine, grid: Traced, busiest: Traced) -> Traced:
    if plain(launch.flops) == 0:
        return Traced(0, dimension=US)
    peak = machine.fp16_flops_per_us * _constant("tensor_share") / machine.sm_count
    return busiest * _traced(launch.flops, FLOPS) / grid / peak


def _resident(launch: Launch, machine: Machine) -> Traced:
    """Blocks that one SM holds, by shared memory, threads and the cap on blocks; never below one."""
    kept = _figure(machine, "smem_reserved_per_block_kib") * BYTES_PER_KIB + _traced(launch.on_chip, BYTES)
    by_memory = machine.smem_per_sm // largest(kept, 1)
    by_threads = machine.max_threads_per_sm // launch.threads
    fewest = in_unit(largest(1, smallest(by_memory, by_threads)), BLOCKS / SMS)
    return _traced(smallest(_figure(machine, "max_blocks_per_sm"), fewest))


def _achievable(machine: Machine) -> Traced:
    """Bytes per µs that a kernel gets from HBM: the calibrated figure, or a share of the vendor's."""
    if machine.bandwidth_field == "bandwidth_calibrated_gbs":
        return machine.bytes_per_us
    return machine.bytes_per_us * _constant("bandwidth_share")


def _l2_rate(machine: Machine, hbm: Traced) -> Traced:
    """Bytes per µs that all SMs together read from L2."""
    if "l2_read_gbs" in machine.figures:
        return machine.l2_read_bytes_per_us
    return hbm * _constant("l2_speed_up")


def _constant(name: str) -> Traced:
    value, dimension, what, source = CONSTANTS[name]
    said = f"{what}; {sources()[source].title}"
    return given(name, value, scope="estimate", dimension=dimension, source=said)


def _figure(machine: Machine, name: str) -> Traced:
    """A figure of the machine; where nobody has published it, what is assumed in its place."""
    if name in machine.figures:
        return _traced(getattr(machine, name))
    source = "assumed, since nobody has published it"
    return given(name, _assumed(name), scope=machine.key, dimension=FIELDS[name][0], source=source)


def _assumed(name: str) -> float:
    """No L2 and no reserve; of anything else the middle one of the published figures."""
    if name in {"l2_mib", "smem_reserved_per_block_kib"}:
        return 0
    return median(each.figures[name].value for each in machines().values() if name in each.figures)


def _traced(value: Count, dimension: Dimension = PLAIN) -> Traced:
    """The value itself where it is traced; else a constant that counts this."""
    return value if isinstance(value, Traced) else Traced(value, dimension=dimension)


def _count(value: Traced) -> Traced:
    """The number itself, without its unit."""
    return Traced(value.value, value.node)


def _describe(timed: Timed) -> str:
    waves, last, slots = int(timed.waves), int(timed.last), int(timed.slots)
    full = round_to(100 * last / slots, 0)
    shape = f"{full} % of one wave" if waves == 1 else f"{waves} waves, the last {full} % full"
    return f"{shape}, bound by {timed.binding}"


def _why_not(opinion: Opinion) -> str:
    """Why the estimate picks another option: the line the rule decides by, and how the faster one runs."""
    known = [each for each in (opinion.a, opinion.b) if each is not None]
    faster = min(known, key=lambda each: plain(each.us))
    return f"the rule decides by {opinion.decision.line}; {faster.option.label} takes {faster.why}"
