"""The rules by which shipping libraries choose, each re-implemented from a description in its own module.

None of them can say NEITHER: every one always gives a count or a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ledger.baselines import (
    flash_attention_2,
    flash_attention_3,
    flash_attention_4,
    flash_mla,
    flashinfer,
    sglang,
    vllm,
)
from ledger.baselines.baseline import Baseline
from ledger.baselines.request import Decode
from ledger.errors import UnknownName

ATTENTION: tuple[Baseline[Decode], ...] = (
    flash_attention_2.BASELINE,
    flash_attention_3.BASELINE,
    flash_attention_4.BASELINE,
    flashinfer.DECODE,
    flashinfer.TENSOR_CORES,
    flash_mla.BASELINE,
    vllm.PAGED,
    vllm.UNIFIED,
    sglang.BASELINE,
)

BASELINES: Mapping[str, Baseline[Any]] = MappingProxyType({each.name: each for each in (*ATTENTION,)})


def baseline(name: str) -> Baseline[Any]:
    """The baseline of a name.

    Raises:
        UnknownName: there is none; the message names the nearest.

    Examples:
        >>> asked = Decode(batch=4, query_heads=32, kv_heads=8, head_dim=128, keys=2048, sm_count=132)
        >>> print(baseline("flash-attention-2").answer(asked))
        8
    """
    if name not in BASELINES:
        raise UnknownName("baseline", name, BASELINES)
    return BASELINES[name]
