"""Single precision, in which some libraries compute: the rounding, and how full a wave is."""

from __future__ import annotations

import math
import struct


def single(number: float) -> float:
    """The float32 nearest to a number; of two equally near, the one whose last bit is 0.

    Examples:
        >>> single(0.8)
        0.800000011920929
    """
    (nearest,) = struct.unpack("f", struct.pack("f", number))
    return float(nearest)


def fullness(blocks: int, slots: int) -> float:
    """The share of slots that are busy when blocks run on them in waves, every step in float32.

    Source: x / ceil(x) with x = blocks / slots, in both of FlashAttention's split heuristics.

    Examples:
        >>> fullness(264, 132), fullness(33, 132)
        (1.0, 0.25)
    """
    waves = single(single(blocks) / single(slots))
    return single(waves / math.ceil(waves))


def nearly_fills(blocks: int, slots: int) -> bool:
    """Whether blocks cover at least 0.8 of the slots, the product in float32."""
    return blocks >= single(single(0.8) * single(slots))
