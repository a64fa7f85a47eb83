"""How many verdicts a second: the rule on arrays, and on one shape at a time, of every decision.

``make bench`` prints both on one core in the same run, with their ratio. Of each the best of several rounds
counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import islice, product

from ledger.decision import choose
from ledger.decisions import QUESTIONS, decision
from ledger.sweep import sweep

ROUNDS = 3
SINGLY = 20_000  # shapes tried one at a time
SWEEPS: Mapping[str, Mapping[str, str]] = {
    "elementwise": {"n": "1024..3276800:1024", "block": "1..3200"},
    "norm-rope-quant": {"tokens": "1..3200", "rows_per_block": "1..3200"},
    "gemm-epilogue": {"m": "64..204800:64", "n": "64..204800:64"},
    "split-k": {"split": "1..3200", "m": "64..204800:64"},
    "split-kv": {"split": "1..3200", "batch_heads": "1..3200"},
    "norm-projection": {"tokens": "1..3200", "heads": "1..3200"},
}


def seconds(run: Callable[[], object]) -> float:
    """The least time of several runs."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def singly(slug: str, over: Mapping[str, range]) -> Callable[[], object]:
    """The rule on plain whole numbers, one shape after the other."""
    asked = QUESTIONS[slug]
    limits = int(decision(slug).budget), int(decision(slug).sm_count)
    points = list(islice(product(*over.values()), SINGLY))
    fixed = {name: value for name, value in asked.parameters.items() if name not in over}

    def run() -> None:
        for point in points:
            choose(asked.options(**fixed, **dict(zip(over, point, strict=True))), *limits)

    return run


def main() -> None:
    """Print one line for each decision."""
    print(f"{'decision':<17}{'verdicts':>12}{'a second':>14}{'singly, a second':>18}{'ratio':>8}")
    for slug, over in SWEEPS.items():
        found = sweep(slug, over)
        fast = found.codes.size / seconds(lambda slug=slug, over=over: sweep(slug, over))
        slow = SINGLY / seconds(singly(slug, found.axes))
        print(f"{slug:<17}{found.codes.size:>12,}{fast:>14,.0f}{slow:>18,.0f}{fast / slow:>7,.0f}x")


if __name__ == "__main__":
    main()
