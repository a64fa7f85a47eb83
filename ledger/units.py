"""Dimensions, readings and rounding: what a number counts, and how it is written.

The only module that rounds. Prefixes follow the field: ``KB`` (capital K) is 1024 bytes, as in every
vendor's figure for shared memory, and so are ``KiB``, ``MiB``, ``GiB``, ``TiB`` powers of 1024; ``kB``,
``MB``, ``GB`` and ``TB`` are powers of 1000, as in every vendor's figure for bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsFloat

from ledger.errors import BadValue, DimensionError


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a number counts: base units with whole powers, ``bytes/µs`` or a plain number."""

    powers: tuple[tuple[str, int], ...] = ()

    def __mul__(self, other: Dimension) -> Dimension:
        return self._combine(other, 1)

    def __truediv__(self, other: Dimension) -> Dimension:
        return self._combine(other, -1)

    def _combine(self, other: Dimension, sign: int) -> Dimension:
        powers = dict(self.powers)
        for base, power in other.powers:
            powers[base] = powers.get(base, 0) + sign * power
        return Dimension(tuple(sorted((b, p) for b, p in powers.items() if p)))

    def __str__(self) -> str:
        if self == WAVES:
            return "waves"
        over = "·".join(b if p == 1 else f"{b}^{p}" for b, p in self.powers if p > 0)
        under = "·".join(b if p == -1 else f"{b}^{-p}" for b, p in self.powers if p < 0)
        return f"{over or '1'}/{under}" if under else over or "plain number"


def _base(name: str) -> Dimension:
    return Dimension(((name, 1),))


PLAIN = Dimension()
BYTES, BLOCKS, SMS, US, FLOPS = (_base(n) for n in ("bytes", "blocks", "SMs", "µs", "FLOPs"))
BYTES_PER_US = BYTES / US
WAVES = BLOCKS / SMS
# Units in which machines are described; arithmetic keeps them apart from the base units above.
KIB, MIB, GBS, TFLOPS, MHZ, NS = (_base(n) for n in ("KiB", "MiB", "GB/s", "TFLOP/s", "MHz", "ns"))

_SCALED: Mapping[Dimension, tuple[Dimension, Fraction]] = {
    KIB: (BYTES, Fraction(1024)),
    MIB: (BYTES, Fraction(1024**2)),
    GBS: (BYTES_PER_US, Fraction(1000)),
    TFLOPS: (FLOPS / US, Fraction(10**6)),
    MHZ: (PLAIN / US, Fraction(1)),
    NS: (US, Fraction(1, 1000)),
}

_PREFIXES = {
    "B": 1,
    "kB": 10**3, "KB": 2**10, "KiB": 2**10,
    "MB": 10**6, "MiB": 2**20,
    "GB": 10**9, "GiB": 2**30,
    "TB": 10**12, "TiB": 2**40,
}  # fmt: skip
_FLOP_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_PER_SECOND = Fraction(1, 10**6)

UNITS: Mapping[str, tuple[Dimension, Fraction]] = {
    **{name: (BYTES, Fraction(factor)) for name, factor in _PREFIXES.items()},
    **{f"{n}/s": (BYTES_PER_US, f * _PER_SECOND) for n, f in _PREFIXES.items()},
    **{f"{p}FLOP": (FLOPS, Fraction(f)) for p, f in _FLOP_PREFIXES.items()},
    **{f"{p}FLOP/s": (FLOPS / US, f * _PER_SECOND) for p, f in _FLOP_PREFIXES.items()},
    "byte": (BYTES, Fraction(1)),
    "bytes": (BYTES, Fraction(1)),
    "bytes/µs": (BYTES_PER_US, Fraction(1)),
    "ns": (US, Fraction(1, 1000)),
    "µs": (US, Fraction(1)),
    "us": (US, Fraction(1)),
    "ms": (US, Fraction(1000)),
    "s": (US, Fraction(10**6)),
    "MHz": (PLAIN / US, Fraction(1)),
    "GHz": (PLAIN / US, Fraction(1000)),
    "block": (BLOCKS, Fraction(1)),
    "blocks": (BLOCKS, Fraction(1)),
    "SM": (SMS, Fraction(1)),
    "SMs": (SMS, Fraction(1)),
    "wave": (WAVES, Fraction(1)),
    "waves": (WAVES, Fraction(1)),
    "FLOPs": (FLOPS, Fraction(1)),
    "%": (PLAIN, Fraction(1, 100)),
    "per cent": (PLAIN, Fraction(1, 100)),
    "×": (PLAIN, Fraction(1)),
    "x": (PLAIN, Fraction(1)),
    "times": (PLAIN, Fraction(1)),
}

Number = int | float | Fraction

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_ABOUT = {"about", "around", "roughly", "approximately", "nearly", "almost", "some", "~", "≈"}
_SPACES = "\u0020\u00a0\u2009\u202f"
_READING = re.compile(
    rf"(?P<lead>[^\d]*?)(?P<sign>[+\-−]?)"
    rf"(?P<digits>\d+(?:[,{_SPACES}]\d{{3}})*)(?P<decimals>\.\d+)?"
    rf"(?P<gap>[{_SPACES}]*)(?P<unit>\D*)"
)
_WORD = re.compile(rf"(?P<lead>.*?)\b(?P<word>{'|'.join(_WORDS)})\b(?P<unit>.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence says a value is: a number at the precision that was written, and its unit."""

    text: str
    before: str  # all text before the digits, sign left out
    after: str  # all text behind them: gap, unit, noun
    stated: Fraction  # in the unit as written
    half_step: Fraction  # half a unit of the last digit that counts, in the unit as written
    decimals: int
    grouping: str  # the thousands separator, "" for none
    signed: bool
    word: str  # the number word as written, "" where digits were used
    dimension: Dimension
    factor: Fraction  # base units in one written unit

    def accepts(self, value: Number, dimension: Dimension = PLAIN) -> bool:
        """Whether the value, in its own dimension, is what was written, at the precision written."""
        found = self._in_written_unit(value, dimension)
        return abs(found - self.stated) <= self.half_step

    def show(self, value: Number, dimension: Dimension = PLAIN) -> str:
        """The value written as this reading writes it: same unit, decimals, separator and words.

        Examples:
            >>> read("67.1 MB", BYTES).show(71_303_168, BYTES)
            '71.3 MB'
        """
        found = self._in_written_unit(value, dimension)
        if found == self.stated or abs(found - self.stated) <= self.half_step:
            return self.text
        if self.word and found.denominator == 1 and 0 <= found < len(_WORDS):
            return self.before + _capitalised_like(self.word, _WORDS[int(found)]) + self.after
        digits = round_to(abs(found), self.decimals, self.grouping)
        sign = "-" if found < 0 else "+" if self.signed else ""
        return f"{self.before}{sign}{digits}{self.after}"

    def _in_written_unit(self, value: Number, dimension: Dimension) -> Fraction:
        base, scale = base_of(dimension)
        if base != self.dimension:
            raise DimensionError(
                f"{self.text!r} reads {_article(self.dimension)}, but the value is {_article(base)}"
            )
        return Fraction(value) * scale / self.factor


def read(text: str, dimension: Dimension = PLAIN) -> Reading:
    """The reading that a text states, for a value of a dimension.

    A plain value may be read with any noun ("8 splits"); every other needs a unit of its dimension.
    "About" lets trailing zeros beyond two digits go uncounted: "about 4,500 GB/s" is 4,450 to 4,550.

    Raises:
        BadValue: the text holds no number, or more than one.
        DimensionError: its unit is not one of the value's dimension.

    Examples:
        >>> read("67.1 MB", BYTES).accepts(67_108_864, BYTES)
        True
        >>> read("about 67 MB", BYTES).accepts(67_600_000, BYTES)
        False
    """
    if match := _READING.fullmatch(text):
        return _from_digits(text, match, dimension)
    if match := _WORD.fullmatch(text):
        return _from_word(text, match, dimension)
    raise BadValue(f"reading {text!r}", 'one number with its unit, such as "67.1 MB"', "that text")


def _from_digits(text: str, match: re.Match[str], dimension: Dimension) -> Reading:
    digits, decimals = match["digits"], match["decimals"] or ""
    plain = re.sub(rf"[,{_SPACES}]", "", digits)
    about = any(word in _ABOUT for word in match["lead"].lower().split())
    uncounted = _uncounted_zeros(plain) if about and not decimals else 0
    places = max(len(decimals) - 1, 0)
    base, factor = _unit(text, match["unit"].strip(), dimension)
    grouping = re.search(rf"[,{_SPACES}]", digits)
    return Reading(
        text=text,
        before=match["lead"],
        after=match["gap"] + match["unit"],
        stated=Fraction(plain + decimals) * (-1 if match["sign"] in {"-", "−"} else 1),
        half_step=Fraction(10) ** (uncounted - places) / 2,
        decimals=places,
        grouping=grouping.group() if grouping else "," if len(plain) < 4 else "",
        signed=match["sign"] == "+",
        word="",
        dimension=base,
        factor=factor,
    )


def _from_word(text: str, match: re.Match[str], dimension: Dimension) -> Reading:
    base, factor = _unit(text, match["unit"].strip(), dimension)
    return Reading(
        text=text,
        before=match["lead"],
        after=match["unit"],
        stated=Fraction(_WORDS.index(match["word"].lower())),
        half_step=Fraction(1, 2),
        decimals=0,
        grouping=",",
        signed=False,
        word=match["word"],
        dimension=base,
        factor=factor,
    )


def _unit(text: str, unit: str, dimension: Dimension) -> tuple[Dimension, Fraction]:
    base = base_of(dimension)[0]
    if unit in UNITS:
        found = UNITS[unit]
        if found[0] != base:
            raise DimensionError(f"{text!r} reads {_article(found[0])}, but the value is {_article(base)}")
        return found
    if base == PLAIN:
        return PLAIN, Fraction(1)
    units = ", ".join(name for name, (each, _) in UNITS.items() if each == base)
    raise DimensionError(f"{text!r} has no unit of {_article(base)}; known: {units}")


def _article(dimension: Dimension) -> str:
    return "a plain number" if dimension == PLAIN else f"a value in {dimension}"


def _uncounted_zeros(digits: str) -> int:
    """How many trailing zeros do not count when two leading digits always do: 4500 has two."""
    return min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0))


def _capitalised_like(example: str, word: str) -> str:
    return word.capitalize() if example[:1].isupper() else word


def base_of(dimension: Dimension) -> tuple[Dimension, Fraction]:
    """The base dimension of a dimension, and how many base units one of its units holds."""
    return _SCALED.get(dimension, (dimension, Fraction(1)))


def round_to(value: Number, decimals: int, grouping: str = "") -> str:
    """The value in decimal digits, exact ties to even, thousands separated by ``grouping``.

    Examples:
        >>> round_to(Fraction(1, 4), 1), round_to(16_777_216, 0, ",")
        ('0.2', '16,777,216')
    """
    scaled = round(Fraction(value) * 10**decimals)
    whole, rest = divmod(abs(scaled), 10**decimals)
    tail = f".{rest:0{decimals}d}" if decimals else ""
    head = f"{whole:,}".replace(",", grouping)
    return f"{'-' if scaled < 0 else ''}{head}{tail}"


def show(value: Number) -> str:
    """A number in full, for derivations: thousands separated, a fraction to six significant digits.

    Examples:
        >>> show(16777216), show(4502.4), show(0.128)
        ('16,777,216', '4,502.4', '0.128')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or Fraction(value).denominator == 1:
        return round_to(value, 0, ",")
    text = f"{float(value):,.6f}".rstrip("0")
    return text if abs(float(value)) >= 0.001 else f"{float(value):.6g}"


def write(value: int | float, dimension: Dimension = PLAIN) -> str:
    """A reading for a value, as an author would write it: a prefix, and about three digits.

    >>> write(71_303_168, BYTES), write(106_496, BYTES), write(512, BLOCKS), write(0.125)
    ('71.3 MB', '104.0 KB', '512 blocks', '0.125')
    """
    base, scale = base_of(dimension)
    found = Fraction(value) * scale
    if base == BYTES:
        sizes = ((10**9, "GB", 10**9), (10**6, "MB", 10**6), (1024, "KB", 1024))
        prefix, divisor = next(((p, d) for least, p, d in sizes if abs(found) >= least), ("B", 1))
        return f"{round_to(found / divisor, int(divisor > 1), ',')} {prefix}"
    if base == BYTES_PER_US:
        return f"{_three_digits(found / 1000)} GB/s"
    unit = "" if base == PLAIN else f" {base}"
    return _three_digits(found) + unit


def _three_digits(value: Fraction) -> str:
    """A whole number in full, any other with decimals enough for three digits."""
    if value.denominator == 1:
        return round_to(value, 0, ",")
    decimals = 0
    while abs(value) * 10**decimals < 100 and decimals < 12:
        decimals += 1
    text = round_to(value, decimals, ",")
    return text.rstrip("0").rstrip(".") if "." in text else text


def megabytes(value: SupportsFloat, sign: str = "") -> str:
    """Bytes as millions of bytes, one decimal: ``67.1``; ``sign="+"`` writes the plus as well."""
    return f"{float(value) / 1e6:{sign}.1f}"


def kibibytes(value: SupportsFloat, decimals: int = 0) -> str:
    """Bytes as units of 1024 bytes, the field's KB."""
    return f"{float(value) / 1024:.{decimals}f}"


def microseconds(value: SupportsFloat) -> str:
    """Microseconds to a hundredth: ``14.91``."""
    return f"{float(value):.2f}"
