"""Numerals: numbers that stand in a text as such, told from the digits of names.

A numeral is a run of digits with its separators and decimals, or a word that states a ratio ("twice",
"half", "an order of magnitude"). The digits of identifiers are none: ``H200``, ``fp16``, ``sm_90``,
``FlashAttention-2``, ``split-K=8``, ``RTX 4090``, ``#1234``, ``v1.2``, ``Figure 3``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral in a text: where it begins, and its own text."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Where the text behind it begins."""
        return self.start + len(self.text)


_UNITS = (
    "B|kB|KB|KiB|MB|MiB|GB|GiB|TB|TiB|PB|K|k|M|G|T|bits?|bytes?|ns|us|µs|μs|ms|s|sec|min|h|Hz|kHz|MHz|GHz|W|kW|V|A|nm|mm|"
    "cm|km|m|FLOPs?|[kMGTP]FLOPs?|[GT]OPS|SMs?|blocks?|waves?|warps?|threads?|tokens?|x|fold|th|pp|°C"
)
_DIGITS = r"\d+(?:[,\u00a0\u2009\u202f]\d{3})*(?:\.\d+)*"
_NUMBER = re.compile(
    rf"(?<![\w.#@/\\&$])(?:{_DIGITS}(?:[x×]{_DIGITS})*)"
    rf"(?:(?=(?:{_UNITS})(?:/(?:s|SM|µs|block))?(?![\w]))|(?![\w_]))"
    rf"(?!(?:[-.]\d*)+[A-Za-z_])",
)
# Joined to letters by any of these, digits belong to a name: FlashAttention-2, split-K=8, A100-80GB.
_JOINED = re.compile(r"[A-Za-z][\w.:/+=-]*[.:/+=-]\Z")
# Words after which a number is part of a name or a place to look.
_NAMING = re.compile(
    r"(?:\b(?:[A-Z]{2,}[A-Z0-9-]*|v|ver|[Vv]ersions?|[Cc]hapters?|[Ss]ections?|[Ff]igures?|[Ff]igs?\.|"
    r"[Tt]ables?|"
    r"[Pp]ages?|[Pp]arts?|[Ss]teps?|[Ee]quations?|[Ee]qs?\.|[Aa]ppendix|[Ii]ssues?|"
    r"[Pp]ull request|[Ee]xercises?|"
    r"[Ll]ines?|[Ll]istings?|[Aa]lgorithms?|[Nn]otes?|[Vv]olumes?|"
    r"Python|Llama|Qwen|Gemma|Mistral|Mixtral|DeepSeek|Claude|Gemini|Phi|Windows|Ubuntu|Debian|Linux|Triton|"
    r"PyTorch|"
    r"Volta|Turing|Ampere|Hopper|Blackwell|GeForce|Instinct|Ryzen|Xeon|Zen|Tesla|Apple|Stable Diffusion|Node|"
    r"HTTP|Level|Tier|Gen|Type|[Cc]ompute capability)"
    r"|[#§№])[\s\u00a0]?\Z"
)
_RATIOS = re.compile(
    r"\b(?:"
    r"twice|thrice|half(?!-)|halves|halved|halving|doubles|doubled|quadruples?|quadrupled|tripled|triples"
    r"|(?:double|triple|treble)(?=\s+(?:the|its|their|that|what|as)\b)"
    r"|(?:an?\s+)?orders?\s+of\s+magnitude"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|fifty|a\s+(?:hundred|thousand|dozen)|hundreds?\s+of"
    r"|thousands\s+of|several|many|a\s+few)\s+(?:times|-?fold)"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand)-?fold"
    r"|(?:an?|one|two|three|four|five|six|seven)[\s-](?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|sixteenth|hundredth"
    r"|thousandth)s?(?=\s+(?:of|as|the|less|more|fewer)\b|[.,;:)])"
    r"|three[\s-]quarters"
    r")(?![\w-])",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def numerals(text: str) -> Iterator[Numeral]:
    """The numerals of a text, from the left."""
    for match in _NUMBER.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        if not _NAMING.search(before) and not _JOINED.search(before):
            yield Numeral(match.start(), match.group())


def ratios(text: str) -> Iterator[Numeral]:
    """The words of a text that state a ratio, from the left."""
    for match in _RATIOS.finditer(text):
        if not match.group().lower().startswith("half") or _is_quantity(text, match.end()):
            yield Numeral(match.start(), match.group())


def _is_quantity(text: str, end: int) -> bool:
    """Whether "half" counts something, and is no part of a name such as half precision."""
    return not re.match(r"\s+(?:precision|floats?|warps?|duplex|open|way)\b", text[end:])
