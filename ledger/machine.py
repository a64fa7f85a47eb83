"""A GPU as the rule needs it, every figure with its source and its kind, and the catalogue of them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from ledger.errors import BadValue, DataError, MissingFigure, UnknownName
from ledger.sources import data_text, sources
from ledger.traced import Traced, given, plain
from ledger.units import (
    BLOCKS,
    BYTES,
    BYTES_PER_US,
    FLOPS,
    GBS,
    KIB,
    MHZ,
    MIB,
    NS,
    PLAIN,
    SMS,
    TFLOPS,
    US,
    Dimension,
)

DEFAULT = "h200"
KINDS = ("vendor", "measured", "calibrated", "given")

FIELDS: Mapping[str, tuple[Dimension, str]] = MappingProxyType(
    {
        "sm_count": (SMS, "streaming multiprocessors (compute units on AMD)"),
        "smem_per_sm_kib": (KIB, "shared memory of one SM (LDS of one compute unit)"),
        "smem_per_block_optin_kib": (KIB, "most shared memory one block can ask for"),
        "smem_reserved_per_block_kib": (KIB, "shared memory the driver keeps in each block"),
        "registers_per_sm": (PLAIN, "32-bit registers of one SM"),
        "max_threads_per_sm": (PLAIN, "resident threads per SM"),
        "max_warps_per_sm": (PLAIN, "resident warps per SM (wavefronts of 64 on AMD)"),
        "max_blocks_per_sm": (BLOCKS / SMS, "resident blocks per SM"),
        "l2_mib": (MIB, "L2 cache"),
        "bandwidth_vendor_gbs": (GBS, "DRAM bandwidth as specified"),
        "bandwidth_calibrated_gbs": (GBS, "DRAM bandwidth fitted so that a model agrees with runs"),
        "bandwidth_write_gbs": (GBS, "write-only stream"),
        "bandwidth_read8_gbs": (GBS, "read stream, one 8-byte load a thread, full occupancy"),
        "bandwidth_scale_gbs": (GBS, "scale: one array read, one written"),
        "bandwidth_triad_gbs": (GBS, "triad: two arrays read, one written"),
        "bandwidth_best_gbs": (GBS, "best kernel or copy published"),
        "fp16_dense_tflops": (TFLOPS, "tensor-core peak, fp16, dense"),
        "fp8_dense_tflops": (TFLOPS, "tensor-core peak, fp8, dense"),
        "boost_mhz": (MHZ, "boost clock"),
        "l2_read_gbs": (GBS, "L2 read bandwidth"),
        "launch_stream_us": (US, "cost of one more kernel in a stream"),
        "launch_graph_us": (US, "cost of one more kernel in a graph"),
        "latency_l1_ns": (NS, "pointer chase in L1"),
        "latency_l2_ns": (NS, "pointer chase in the near L2"),
        "latency_l2_far_ns": (NS, "pointer chase in the far L2 partition"),
        "latency_dram_ns": (NS, "pointer chase in DRAM"),
    }
)
_WHOLE = {"sm_count", "registers_per_sm", "max_threads_per_sm", "max_warps_per_sm", "max_blocks_per_sm"}
BYTES_PER_KIB = Traced(1024, dimension=BYTES / KIB)
BYTES_PER_MIB = Traced(1024**2, dimension=BYTES / MIB)
_PER_TFLOPS = Traced(10**6, dimension=FLOPS / US / TFLOPS)
_PER_GBS = Traced(1000, dimension=BYTES_PER_US / GBS)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One published value: in the unit that its field's name says, with kind and source."""

    value: int | float
    kind: str
    source: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A GPU: its figures by field name, each read as a traced number (``machine.sm_count``).

    Raises:
        MissingFigure: on reading a field that nobody has published for this machine.
    """

    key: str
    name: str
    vendor: str
    compute_capability: str
    figures: Mapping[str, Figure]
    aliases: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __getattr__(self, name: str) -> Traced:
        if name not in FIELDS:
            raise AttributeError(f"a machine has no field {name!r}; fields: {', '.join(FIELDS)}")
        figure = self.figure(name)
        source = f"{figure.kind} figure, {_title(figure.source)}"
        return given(name, figure.value, scope=self.key, dimension=FIELDS[name][0], source=source)

    def figure(self, name: str) -> Figure:
        """The figure of a field with kind and source.

        Raises:
            MissingFigure: nobody has published it.
            UnknownName: no machine has such a field.
        """
        if name not in FIELDS:
            raise UnknownName("machine field", name, FIELDS)
        if name not in self.figures:
            raise MissingFigure(
                f"{self.key} ({self.name}): no public figure for {name}; known: {', '.join(self.figures)}"
            )
        return self.figures[name]

    @property
    def bandwidth_field(self) -> str:
        """The field that stands for effective bandwidth: the calibrated one where there is one."""
        calibrated = "bandwidth_calibrated_gbs"
        return calibrated if calibrated in self.figures else "bandwidth_vendor_gbs"

    @property
    def bandwidth_gbs(self) -> Traced:
        """Effective DRAM bandwidth in GB/s (10^9 bytes a second): calibrated, else the vendor's."""
        figure = self.__getattr__(self.bandwidth_field)
        (known,) = figure.inputs
        return given("bandwidth_gbs", figure.value, scope=self.key, dimension=GBS, source=known.source)

    @property
    def bytes_per_us(self) -> Traced:
        """Effective DRAM bandwidth in bytes per microsecond."""
        return self.bandwidth_gbs * _PER_GBS

    @property
    def smem_per_sm(self) -> Traced:
        """Shared memory of one SM in bytes: the budget of an option's one block."""
        return self.__getattr__("smem_per_sm_kib") * BYTES_PER_KIB

    @property
    def smem_per_block(self) -> Traced:
        """The most shared memory that one block can ask for, in bytes."""
        return self.__getattr__("smem_per_block_optin_kib") * BYTES_PER_KIB

    @property
    def l2(self) -> Traced:
        """L2 cache in bytes."""
        return self.__getattr__("l2_mib") * BYTES_PER_MIB

    @property
    def l2_read_bytes_per_us(self) -> Traced:
        """What all SMs together read from L2, in bytes per microsecond."""
        return self.__getattr__("l2_read_gbs") * _PER_GBS

    @property
    def fp16_flops_per_us(self) -> Traced:
        """Dense fp16 tensor-core peak in floating-point operations per microsecond."""
        return self.__getattr__("fp16_dense_tflops") * _PER_TFLOPS

    def having(self, **values: object) -> Machine:
        """This machine with some figures replaced: ``having(sm_count=64, bandwidth_gbs=3350)``.

        Raises:
            UnknownName: no such field.
            BadValue: not a positive finite number, or not whole where only whole ones count.
        """
        fields = {name: self.bandwidth_field if name == "bandwidth_gbs" else name for name in values}
        changed = {
            fields[name]: Figure(
                value=_positive(name, value, fields[name]), kind="given", source="the caller"
            )
            for name, value in values.items()
        }
        return replace(self, figures=MappingProxyType({**self.figures, **changed}))


def _title(source: str) -> str:
    return sources()[source].title if source in sources() else source


def machine(key: str | Machine) -> Machine:
    """The machine of the catalogue with this key, name or alias, case ignored.

    Raises:
        UnknownName: there is none; the message names the nearest.

    Examples:
        >>> machine("h200").sm_count
        132
    """
    if isinstance(key, Machine):
        return key
    wanted = str(key).casefold()
    for each in machines().values():
        if wanted in {n.casefold() for n in (each.key, each.name, *each.aliases)}:
            return each
    raise UnknownName("machine", str(key), machines())


@cache
def machines() -> Mapping[str, Machine]:
    """Every machine of the catalogue by key, in the order of ``machines.toml``."""
    return MappingProxyType(read_catalogue(data_text("machines.toml"), "machines.toml"))


def read_catalogue(text: str, name: str) -> dict[str, Machine]:
    """The machines that a TOML text describes.

    Raises:
        DataError: the text is not TOML, or an entry lacks or misuses something; it says which and how.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: not TOML: {error}") from None
    if not tables:
        raise DataError(f"{name}: holds no machine; it must hold at least one table such as [h200]")
    return {key: _read_machine(key, table, f"{name}: {key}") for key, table in tables.items()}


def _read_machine(key: str, table: object, where: str) -> Machine:
    if not isinstance(table, dict):
        raise DataError(f"{where}: must be a table, found {table!r}")
    for name in ("name", "vendor", "compute_capability"):
        if not isinstance(table.get(name), str):
            raise DataError(f"{where}: {name} must be a text, found {table.get(name)!r}")
    lists = ("aliases", "conflicts", "notes")
    for name in lists:
        if not all(isinstance(each, str) for each in table.get(name, [])):
            raise DataError(f"{where}: {name} must be a list of texts, found {table[name]!r}")
    known = {"name", "vendor", "compute_capability", "figures", *lists}
    if extra := sorted(set(table) - known):
        raise DataError(f"{where}: unknown entry {extra[0]!r}; allowed: {', '.join(sorted(known))}")
    figures = dict(_read_figures(table.get("figures"), where))
    if "sm_count" not in figures:
        raise DataError(f"{where}: figures must hold sm_count, found {', '.join(figures) or 'none'}")
    given: dict[str, Any] = {name: tuple(table.get(name, ())) for name in lists}
    given |= {name: table[name] for name in ("name", "vendor", "compute_capability")}
    return Machine(key=key, figures=MappingProxyType(figures), **given)


def _read_figures(table: object, where: str) -> Iterator[tuple[str, Figure]]:
    if not isinstance(table, dict):
        raise DataError(f"{where}: must have a table [….figures], found {table!r}")
    for name, entry in table.items():
        at = f"{where}.{name}"
        if name not in FIELDS:
            raise DataError(f"{where}: {UnknownName('field', name, FIELDS)}")
        if not isinstance(entry, dict) or not {"value", "kind", "source"} <= set(entry):
            raise DataError(f"{at}: must be {{ value = …, kind = …, source = … }}, found {entry!r}")
        if extra := sorted(set(entry) - {"value", "kind", "source", "note"}):
            raise DataError(f"{at}: unknown entry {extra[0]!r}; allowed: kind, note, source, value")
        if entry["kind"] not in KINDS[:3]:
            raise DataError(f"{at}: kind must be one of {', '.join(KINDS[:3])}, found {entry['kind']!r}")
        if entry["source"] not in sources():
            raise DataError(f"{at}: {UnknownName('source', str(entry['source']), sources())}")
        try:
            value = _positive(name, entry["value"])
        except BadValue as error:
            raise DataError(f"{where}: {error}") from None
        yield name, Figure(**{**entry, "value": value})


def _positive(name: str, value: object, field: str | None = None) -> int | float:
    """The value, if it is a number that a figure of this field can have."""
    field = field or name
    if field not in FIELDS:
        raise UnknownName("machine field", field, FIELDS)
    kind = "a positive whole number" if field in _WHOLE else "a positive finite number"
    number: Any = plain(value)
    good = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    good = good and (number > 0 or (number == 0 and field == "smem_reserved_per_block_kib"))
    if not good or (field in _WHOLE and number != int(number)):
        raise BadValue(name, kind, repr(number))
    return int(number) if field in _WHOLE else number
