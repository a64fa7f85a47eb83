"""The reference's own figures: 840 verdicts and its report."""

import json
import re
from pathlib import Path

import pytest

from ledger.cli import main
from ledger.decisions import build

DATA = Path(__file__).parent / "data"
ROWS = [json.loads(line) for line in (DATA / "golden.jsonl").read_text().splitlines()]
MACHINES = sorted({(row["bandwidth_gbs"], row["sm_count"]) for row in ROWS})


def test_there_are_all_of_them():
    assert (len(ROWS), len(MACHINES)) == (840, 140)


@pytest.mark.parametrize(("bandwidth", "sms"), MACHINES)
def test_every_verdict_of_the_reference_comes_out_equal(bandwidth, sms):
    expected = [row for row in ROWS if (row["bandwidth_gbs"], row["sm_count"]) == (bandwidth, sms)]
    found = []
    for decision in build(bandwidth, sms):
        options = {
            name: {"label": o.label, "bytes": o.bytes, "grid": o.grid, "on_chip": o.on_chip}
            for name, o in (("option_a", decision.option_a), ("option_b", decision.option_b))
        }
        winner, reason = decision.verdict()
        found.append(
            {
                "bandwidth_gbs": bandwidth,
                "sm_count": decision.sm_count,
                "decision": decision.name,
                "note": decision.note,
                "budget": decision.budget,
                "bytes_per_us": decision.bytes_per_us,
                **options,
                "winner": winner,
                "reason": reason,
            }
        )
    assert found == expected


def test_the_report_equals_the_reference_s_when_runs_of_blanks_count_as_one(capsys):
    assert main([]) == 0
    assert _lines(capsys.readouterr().out) == _lines((DATA / "report.txt").read_text())


def _lines(text: str) -> list[str]:
    return [re.sub(" +", " ", line).strip() for line in text.strip().splitlines()]
