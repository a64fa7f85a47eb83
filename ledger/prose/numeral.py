"""Numerals: numbers that stand in a text as such, told from the digits of names.

A numeral is a run of digits with its separators, decimals and power, a date or a time, or words that state
a ratio ("twice", "half", "an order of magnitude"). The digits of names are none: ``H200``, ``fp16``,
``sm_90``, ``FlashAttention-2``, ``split-K=8``, ``RTX 4090``, ``#1234``, ``v1.2``, ``Figure 3``, ``0x1F``.
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


_DIGITS = r"\d+(?:[,'’_\u00a0\u2009\u202f]\d{3}(?!\d))*(?:\.\d+)*"
_POWER = r"(?:[eE][+-]?\d{1,3}(?!\w)|\^\{?[-+]?\d+\}?|[⁺⁻]?[⁰¹²³⁴-⁹]+)"
_NUMBER = re.compile(
    r"(?P<address>\b(?:[a-z][a-z0-9+]{1,9}://|www\.)[^\s<>()\[\]\"'|]+)"
    r"|(?:19|20)\d\d-(?:0\d|1[0-2])(?:-[0-3]\d)?(?!\d)"  # a date
    r"|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?!\d)"  # a time
    rf"|(?:(?<![\w.)\]}}])\.)?{_DIGITS}{_POWER}?(?:[x×]{_DIGITS})*+(?:/\d+)*+[½⅓⅔¼¾⅕-⅞]?"
    r"|[½⅓⅔¼¾⅕-⅞]"
)
# Units that are written right behind a number, and those that tell a quantity from a name ahead of it.
_PREFIXED = r"(?:[kKMGTPE]i?|[munpµμ])(?:[Bb](?:it|yte)?s?|[Bb]ps|Hz|[WJVAgmsl]|FL?OP[Ss]?|toks?|tokens?)"
_WORDS = (
    r"[Bb]its?|[Bb]ytes?|FLOPs?|FLOPS|Hz|SMs?|CTAs?|GPUs?|CPUs?|cores?|lanes?|blocks?|waves?|warps?|threads?"
    r"|tokens?|times|fold|percent|per\scent|secs?|mins?|hrs?|hours?|days?|years?|cycles?|clk|LOC|dB|fps|rpm"
    r"|px|pt|pp|ppm|bps|°C"
)
_GLUED = re.compile(rf"(?:{_PREFIXED}|{_WORDS}|[BKkMGTsmhWJVxXl]|bn|mn|cm)(?!\w)|[x×](?=[A-Z])|×")
_COUNTED = re.compile(rf"\s?(?:%|×|(?:{_PREFIXED}|{_WORDS})(?![\w.]*\d)(?!\w))")
_LETTER = re.compile(r"[^\W_\u2e80-\uffef]")  # one that joins digits to a name; scripts without blanks do not
# Joined to letters by any of these, digits belong to a name: FlashAttention-2, split-K=8, A100-80GB.
_JOINED = re.compile(r"[A-Za-z][\w.:/+=-]*[.:/+=-]\Z|[A-Za-z]\w*[<>~!=]=\Z|[\w)]\.\Z|[#@/\\]\Z")
_INDEXED = re.compile(r"\w\[\Z")
_JOINING = re.compile(r"(?:(?<![\w-])(?:sub|pre|post|mid|under|over|near)|\d-(?:by|to|or|and|in|of))-\Z")
# Behind a number: a version, the name of a file, a path, a dimension, a key of a keypad, an address.
_NAMES_IT = re.compile(
    r"-[A-Za-z](?![A-Za-z])|-(?:rc|alpha|beta|dev|slim|post)\b|-[A-Za-z]+\d|[\w-]*\.[a-z]{1,5}(?![\w.])|\.[xX]\b"
    r"|/[A-Za-z][\w-]*/|/[\w-]+\.[a-z]|\ufe0f|\u20e3|@\w|::"
)
# Words ahead of a number that make it a name or a place to look: Figure 3, Python 3.11, thread 0.
_PLACES = frozenset(
    "chapter section figure table page part step equation exercise issue line listing algorithm note"
    " volume question example theorem lemma definition lecture lesson lab slide stage phase option rule"
    " footnote level appendix version thread block warp lane bank row column index device port commit"
    " code status request capability v ver fig. figs. eq. eqs. sec. ch. app. vol. ver. p. pp. §".split()
)
_PRODUCTS = frozenset(
    "Python Llama Qwen Gemma Mistral Mixtral DeepSeek Claude Gemini Phi Falcon Grok Diffusion Windows"
    " Ubuntu Debian Fedora Linux macOS iOS Android Triton PyTorch TensorFlow TensorRT NumPy SciPy pandas"
    " Jinja Django Material MkDocs mkdocs pytest Rust Java Node Clang Vulkan DirectX OpenGL OpenCL"
    " OpenMP ROCm cuDNN cuBLAS CUTLASS vLLM cuda Cuda C++ PCIe NVLink NVSwitch Wi-Fi Kepler Maxwell"
    " Pascal Volta Turing Ampere Ada Hopper Blackwell Rubin GeForce Titan Quadro Jetson Orin Instinct"
    " Radeon Ryzen Core Xeon Zen Tesla Apple iPhone Pixel Tier Gen Type No. Nos. Nr. №".split()
)
_CAPITALS = re.compile(r"[A-Z]{2,}[A-Z0-9-]*\Z")
_NOT_NAMING = frozenset(
    "HBM DRAM SRAM RAM VRAM GEMM GEMMS B KB MB GB TB FLOP FLOPS GFLOPS TFLOPS AND OR NOT ONLY THE OF IN"
    " IS TO AT BY HAS ALL ABOUT".split()
)
# Numbers ahead of one that share its name: Figures 3 and 4, lines 10–20; and in a row, Sections 2, 3 and 4.
_SHARED = re.compile(
    r"(?:\s\(?\d[\w.]*\)?(?:\s?[-–]|,?\s(?:and|or|to|through|vs\.?)(?=\s)))+\s?\(?\Z"
    r"|(?<=[§№])\Z|\s\(?\Z"
)
_ROW = re.compile(r"(?:\s\d[\w.]*,)+\Z")
_LAST_WORD = re.compile(r"[^\s(\[*\"'“‘|~>]+\Z")

_GAP = r"(?:[*_]{0,3}(?:[ \t\u00a0]+|[ \t]*\n[ \t>]*)[*_]{0,3})"  # between two words; not between paragraphs
_ONES = "two|three|four|five|six|seven|eight|nine|ten"
_COUNT = (
    rf"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|{_ONES}))?|{_ONES}|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:(?:an?|one)[ ])?(?:hundred|thousand|million|dozen))"
)
_PART = "third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twelfth|sixteenth|hundredth|thousandth"
_RATIOS = re.compile(
    rf"""(?<![\w./:@\#-])(?:
    twice|thrice|(?:one[\s-])?half(?!-)|halves|halved|halving|quartered|fifty-fifty
    |(?:doubl|tripl|trebl|quadrupl)(?:es|ed|ing)|quadruple
    |(?:(?<=than[ ])|(?<=nearly[ ])|(?<=almost[ ])|(?<=roughly[ ])|(?<=about[ ]))
     (?:double|triple)(?!{_GAP}(?:precision|buffer))
    |(?:double|triple|treble)(?={_GAP}(?:the|its|their|that|what|as|this|those)\b)
    |(?:(?:an?|one|{_COUNT}|several|many|some|few){_GAP})?orders?(?:{_GAP}|-)of(?:{_GAP}|-)magnitude
    |(?:one|{_COUNT}|(?:dozens|hundreds|thousands|millions)[ ]of|several|many|a{_GAP}few)
     (?:{_GAP}|-)(?:times|fold)
    |(?:{_ONES}|hundred|thousand|many)fold
    |{_COUNT}{_GAP}per[ ]?cent
    |(?:an?{_GAP})?factors?{_GAP}of{_GAP}{_COUNT}
    |(?:one|{_COUNT}){_GAP}out{_GAP}of{_GAP}{_COUNT}|one{_GAP}in{_GAP}{_COUNT}|{_COUNT}[\s-]to[\s-]one
    |(?:an?|one)(?:{_GAP}|-)(?:{_PART})
     (?={_GAP}(?:of|as|the|less|more|fewer|that)\b|[*_]*[.,;:)!?]|[*_\s]*\Z|\n\n)
    |{_COUNT}(?:{_GAP}|-)(?:{_PART})s
    )(?![\w-])""",
    re.IGNORECASE | re.VERBOSE,
)
_HALF_OF_A_NAME = re.compile(
    r"\s+(?:precision|floats?|warps?|duplex|open|way|adder|planes?|spaces?|type|dtype)\b"
)
_SIDE = re.compile(r"\b(?:first|second|former|latter|left|right|upper|lower|top|bottom)\s\Z", re.IGNORECASE)


def stated(text: str) -> Iterator[Numeral]:
    """The numerals and the ratios of a text; what is part of a ratio is reported with it."""
    words = list(ratios(text))
    taken = {position for each in words for position in range(each.start, each.end)}
    yield from words
    yield from (each for each in numerals(text) if each.start not in taken)


def numerals(text: str) -> Iterator[Numeral]:
    """The numerals of a text, from the left."""
    for match in _NUMBER.finditer(text):
        if match["address"] is None and _is_quantity(text, match.start(), match.end()):
            yield Numeral(match.start(), match.group())


def ratios(text: str) -> Iterator[Numeral]:
    """The words of a text that state a ratio, from the left."""
    for match in _RATIOS.finditer(text):
        is_half = match.group().lower() == "half"
        before = text[max(0, match.start() - 10) : match.start()]
        if not is_half or not (_HALF_OF_A_NAME.match(text, match.end()) or _SIDE.search(before)):
            yield Numeral(match.start(), match.group())


def _is_quantity(text: str, start: int, end: int) -> bool:
    """Whether a number stands for itself, and is no part of a name."""
    number, before, after = text[start:end], text[max(0, start - 48) : start], text[end : end + 32]
    if (
        number.count(".") > 1
        or number.startswith(("0x", "0X"))
        or (number == "0" and after[:1] in set("xXbo"))
    ):
        return False  # 1.2.3, 192.168.0.1, 0x1F
    before, after = before.rstrip("_"), after.lstrip("_")  # emphasis, or an underscore of a name
    if _LETTER.match(before[-1:]) or _NAMES_IT.match(after):
        return False
    if after[:1] == "]" and _INDEXED.search(before):
        return False
    if _LETTER.match(after[:1]) and (text[end] == "_" or not _GLUED.match(after)):
        return False
    if _JOINED.search(before) and not _JOINING.search(before) and not before.endswith(".."):
        return False
    return not _is_named(before) or bool(_COUNTED.match(after))


def _is_named(before: str) -> bool:
    """Whether the words ahead of a number make it part of a name."""
    shared = _SHARED.search(before)
    if not shared:
        return False
    before = before[: shared.start()]
    row = _ROW.search(before)
    word = _LAST_WORD.search(before[: row.start()] if row else before)
    if word is None:
        return False
    lower = word[0].lower()
    if row:
        return lower.endswith("s") and lower[:-1] in _PLACES
    if word[0][0].isdigit() and (behind := before[: word.start()].split()):
        return behind[-1] in _PRODUCTS  # Llama 3 70B
    is_capital = _CAPITALS.match(word[0]) and word[0] not in _NOT_NAMING
    return bool(is_capital) or word[0] in _PRODUCTS or lower in _PLACES or lower.removesuffix("s") in _PLACES
