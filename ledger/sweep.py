"""The decision functions on arrays: a verdict for every combination of many shapes and limits.

Needs NumPy. Numbers are 64-bit whole numbers where no step of any line can be larger than that, and
Python's own where one can, so that each verdict is the scalar rule's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from ledger.decision import NONE_WINS, fills, fits
from ledger.decisions import budget_of, question
from ledger.decisions.question import Question
from ledger.errors import BadValue, LedgerError
from ledger.machine import DEFAULT, Machine
from ledger.machine import machine as find_machine
from ledger.option import Option
from ledger.span import Values, span, swept
from ledger.traced import Constant, Input, Named, Node, Scalar, Traced, plain

try:
    import numpy
    from numpy.typing import NDArray
except ModuleNotFoundError:
    raise LedgerError("a sweep needs NumPy: pip install 'fusion-ledger[sweep]'") from None

NO_SHAPE = NONE_WINS + 1
WORDS = ("A", "B", "NEITHER", "not a shape")  # by code
LIMITS = ("sm_count", "budget")

CELLS = 1 << 16  # of a block: its arrays stay in the cache, and what a block costs beside them is little
_WORKING = 64 * 8 * CELLS  # bytes for a block's arrays, and to spare
_LARGEST = 2**63 - 1


class Run(NamedTuple):
    """Neighbouring values of the first axis with the same verdict, the other axes at one value each."""

    first: int
    last: int
    code: int
    others: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep:
    """A verdict for each combination of swept values.

    Args:
        slug: which decision.
        axes: the swept parameters with their values, in the order of the array's axes.
        codes: verdicts, unsigned bytes: 0 where A wins, 1 where B does, 2 for NEITHER, 3 where the
            combination is not a shape, since one parameter is above what bounds it.
        labels: what each code stands for; of a label with the shape in it, what is swept reads ``…``.
    """

    slug: str
    axes: Mapping[str, Sequence[int]]
    codes: NDArray[numpy.uint8]
    labels: tuple[str, str, str, str]

    @property
    def counts(self) -> dict[str, int]:
        """How many combinations have each verdict: by ``A``, ``B``, ``NEITHER``, ``not a shape``."""
        flat = self.codes.reshape(-1)
        totals = numpy.zeros(len(WORDS), numpy.int64)
        for start in range(0, len(flat), CELLS):
            totals += numpy.bincount(flat[start : start + CELLS], minlength=len(WORDS))
        return dict(zip(WORDS, totals.tolist(), strict=True))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Each combination in order, the last axis fastest: its values, and the word of its verdict."""
        for values, code in zip(product(*self.axes.values()), self.codes.reshape(-1).data, strict=True):
            yield (*values, WORDS[code])

    def changes(self) -> Iterator[Run]:
        """Where the verdict changes along the first axis: its runs, for each combination of the others."""
        (_, values), *others = self.axes.items()
        for at in product(*(range(len(each)) for _, each in others)):
            index: tuple[Any, ...] = (slice(None), *at)
            line = self.codes[index]
            starts = [0, *(numpy.flatnonzero(line[1:] != line[:-1]) + 1).tolist(), len(line)]
            fixed = {name: each[i] for (name, each), i in zip(others, at, strict=True)}
            for start, stop in pairwise(starts):
                yield Run(values[start], values[stop - 1], int(line[start]), fixed)


def sweep(
    slug: str,
    over: Mapping[str, Values],
    *,
    machine: str | Machine = DEFAULT,
    budget: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    memory: int | None = None,
    **shape: object,
) -> Sweep:
    """The rule over every combination of the swept values.

    Args:
        slug: which decision.
        over: what to sweep, each with its values, a text for ``span`` or whole numbers: shape parameters,
            ``"sm_count"`` and ``"budget"`` in bytes.
        machine: as for ``decision``.
        budget: as for ``decision``.
        progress: called with the combinations done and their number, after each block.
        memory: bytes it may take; by default what the machine has free.
        shape: the shape parameters that are not swept; those left out keep the reference's value.

    Raises:
        UnknownName: no such decision, machine or parameter.
        BadValue: nothing to sweep, a value is not what its place allows, or one is both swept and given.
        MissingFigure: the machine lacks a figure that the rule needs.
        LedgerError: the verdicts would not fit the memory; nothing has been computed then.

    Examples:
        >>> found = sweep("split-k", {"split": "1..8", "sm_count": [64, 132]})
        >>> found.codes.tolist()
        [[0, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]
        >>> found.counts
        {'A': 8, 'B': 6, 'NEITHER': 2, 'not a shape': 0}
    """
    asked, gpu = question(slug), find_machine(machine)
    if not over:
        raise BadValue(f"{slug}: over", "at least one parameter", "none")
    if "budget" in over and budget is not None:
        raise BadValue(f"{slug}: budget", "either swept or given", "both")
    shapes, fixed = swept(asked, {name: over[name] for name in over if name not in LIMITS}, shape)
    limits = {name: span(f"{slug}: {name}", over[name]) for name in over if name in LIMITS}
    axes = {name: limits[name] if name in limits else shapes[name] for name in over}
    _require_memory(slug, axes, memory)
    given: dict[str, Any] = {**fixed}
    if "sm_count" not in over:
        given["sm_count"] = int(gpu.sm_count)
    if "budget" not in over:
        given["budget"] = math.floor(plain(budget_of(asked, gpu, budget)))
    codes = numpy.empty([len(values) for values in axes.values()], numpy.uint8)
    _fill(codes, asked, axes, given, progress or (lambda done, total: None))
    return Sweep(slug=slug, axes=axes, codes=codes, labels=_labels(asked, axes, given))


def rule(a: Option, b: Option, budget: Any, sm_count: Any) -> Any:
    """The rule on options of arrays, NumPy's or Dask's: 0 where A wins, 1 where B does, 2 for NEITHER."""
    a_usable = numpy.logical_and(fits(a, budget), fills(a, sm_count))
    b_usable = numpy.logical_and(fits(b, budget), fills(b, sm_count))
    a_wins = numpy.logical_and(a_usable, numpy.logical_or(numpy.logical_not(b_usable), a.bytes <= b.bytes))
    b_wins = numpy.logical_and(b_usable, numpy.logical_not(a_wins))
    none_wins = numpy.logical_not(numpy.logical_or(a_usable, b_usable))
    return b_wins + none_wins * numpy.uint8(NONE_WINS)


def available_memory() -> int | None:
    """Bytes of memory that are free to use, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (found,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return int(found) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _require_memory(slug: str, axes: Mapping[str, Sequence[int]], memory: int | None) -> None:
    cells = math.prod(len(values) for values in axes.values())
    needed = cells + 16 * sum(len(values) for values in axes.values()) + _WORKING
    free = available_memory() if memory is None else memory
    if free is not None and needed > free:
        raise LedgerError(
            f"{slug}: {cells:,} verdicts need {needed:,} bytes of memory and {free:,} are free;"
            " take larger steps, or sweep a part at a time"
        )


class _Values(numpy.ndarray[Any, Any]):
    """An array that a label shows as ``…``: to write its numbers out would cost more than the rule does."""

    def __format__(self, spec: str) -> str:
        return "…"


def _fill(
    codes: NDArray[numpy.uint8],
    asked: Question,
    axes: Mapping[str, Sequence[int]],
    given: Mapping[str, Any],
    progress: Callable[[int, int], None],
) -> None:
    """Write every verdict, block by block."""
    arrays = [_along(values, i, len(axes)) for i, values in enumerate(axes.values())]
    exact = _fits_64_bits(asked, dict(zip(axes, arrays, strict=True)), given)
    done = 0
    for block in _blocks(codes.shape):
        parts = {name: _part(values, block) for name, values in zip(axes, arrays, strict=True)}
        try:
            if not exact and not _fits_64_bits(asked, parts, given):
                raise OverflowError
            _judge(codes[block], asked, {**given, **parts})
        except OverflowError:  # NumPy raises it too, of a large number that no line has
            parts = {name: part.astype(object) for name, part in parts.items()}
            _judge(codes[block], asked, {**given, **parts})
        done += codes[block].size
        progress(done, codes.size)


def _part(values: _Values, block: tuple[slice, ...]) -> Any:
    """The part of an axis that lies in a block."""
    index: tuple[Any, ...] = tuple(
        part if length > 1 else slice(None) for part, length in zip(block, values.shape, strict=True)
    )
    return values[index]


def _judge(codes: NDArray[numpy.uint8], asked: Question, values: Mapping[str, Any]) -> None:
    """Write the verdicts of one block."""
    shape = {name: values[name] for name in asked.parameters}
    codes[...] = rule(*asked.options(**shape), values["budget"], values["sm_count"])
    for name, bound in asked.at_most.items():
        numpy.copyto(codes, NO_SHAPE, where=numpy.asarray(shape[name] > shape[bound], bool))


def _along(values: Sequence[int], axis: int, axes: int) -> _Values:
    """The values as an array that runs along one axis of several."""
    if isinstance(values, range):
        array = numpy.arange(values.start, values.stop, values.step, dtype=numpy.int64)
    else:
        array = numpy.array(values, dtype=numpy.int64)
    return array.reshape([-1 if i == axis else 1 for i in range(axes)]).view(_Values)


def _blocks(shape: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """The array cut into blocks of at most CELLS: the last axes whole, a part of one, the first singly."""
    room, steps = CELLS, []
    for length in reversed(shape):
        steps.append(min(length, max(room, 1)))
        room //= steps[-1]
    cuts = [
        [slice(start, min(start + step, length)) for start in range(0, length, step)]
        for length, step in zip(shape, reversed(steps), strict=True)
    ]
    return product(*cuts)


def _labels(
    asked: Question, axes: Mapping[str, Sequence[int]], given: Mapping[str, Any]
) -> tuple[str, str, str, str]:
    first = {name: _along(values[:1], 0, 1).astype(object) for name, values in axes.items()}
    a, b = asked.options(**{name: {**given, **first}[name] for name in asked.parameters})
    return a.label, b.label, WORDS[NONE_WINS], WORDS[NO_SHAPE]


# how large a number can become ------------------------------------------------------------------------


def _fits_64_bits(asked: Question, swept: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether no step of any line is beyond a 64-bit whole number, or none, at any of the values."""
    most = {name: int(values.max()) for name, values in swept.items()}
    traced = asked.inputs({name: {**given, **most}[name] for name in asked.parameters})
    found: dict[int, Scalar] = {}
    for option in asked.options(**traced):
        for line in (option.bytes, option.grid, option.on_chip, option.epilogue.bytes):
            if isinstance(line, Traced):
                _bound(line.node, found)
    return max(found.values(), default=0) <= _LARGEST


def _bound(node: Node, found: dict[int, Scalar]) -> Scalar:
    """The largest magnitude of a step while every input is at most its value, noted for each step in turn."""
    if id(node) not in found:
        found[id(node)] = _bound_of(node, found)
    return found[id(node)]


def _bound_of(node: Node, found: dict[int, Scalar]) -> Scalar:
    if isinstance(node, Constant | Input):
        return abs(node.value) if isinstance(node.value, int) else math.inf
    if isinstance(node, Named):
        return _bound(node.of, found)
    bounds = [_bound(each, found) for each in node.operands]
    if node.operator in {"+", "-"}:
        return sum(bounds)
    if node.operator == "*":
        return math.prod(bounds)
    if node.operator in {"//", "ceildiv", "neg", "abs"}:  # a divisor is a whole number
        return bounds[0]
    if node.operator in {"max", "min"}:
        return max(bounds)
    return 1 if node.operator in {"<", "<=", ">", ">=", "==", "!="} else math.inf
