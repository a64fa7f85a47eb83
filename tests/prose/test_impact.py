"""What would change if an input had another value, and how many numbers of each kind there are."""

import json

import pytest

from ledger.cli import main

TEXT = """\
---
title: x
---
{% set d = decision("split-k") %}
It launches {{ d.a.grid | reads("64 blocks") }} on {{ d.machine.sm_count | reads("132 SMs") }}.
{{ d.winner | reads("split-K=8") }} wins, {{ (d.a.grid < d.sm_count) | holds("with SMs idle") }},
as {{ "others" | plain("a word") }} and {{ "1.8×" | cited("xla-specs") }} say.

| SMs | blocks |
| --- | --- |
| {{ d.sm_count }} | {{ d.a.grid }} |

{{ lines(d) }}
"""


@pytest.fixture
def page(tmp_path):
    """A page on split-K."""
    page = tmp_path / "p.md"
    page.write_text(TEXT)
    return page


def run(capsys, *arguments: str) -> tuple[int, list[str]]:
    """Exit code and lines of a command."""
    code = main(list(arguments))
    return code, capsys.readouterr().out.splitlines()


def test_every_change_is_listed_flips_first_with_a_count(page, capsys):
    code, lines = run(capsys, "impact", "h200.sm_count=64", "--in", str(page))
    assert code == 0
    assert lines == [
        f"{page}:6:21: flip: split-K=8 → no split, 64 blocks",
        f"{page}:6:78: claim: 'with SMs idle' holds → does not hold",
        f"{page}:5:82: reading: 132 SMs → 64 SMs",
        f"{page}:11:3: cell: 132 → 64",
        "4 changes: 1 flip, 1 claim, 1 reading, 1 cell",
    ]
    assert page.read_text() == TEXT


def test_a_shape_parameter_changes_where_the_page_leaves_it_at_its_default(page, capsys):
    _, lines = run(capsys, "impact", "split-k.split=4", "--in", str(page))
    assert lines[0] == f"{page}:6:21: flip: split-K=8 → split-K=4"
    assert lines[-1] == "5 changes: 1 flip, 0 claims, 0 readings, 4 cells"
    assert f"{page}:13:1: cell: " in lines[1]


def test_a_value_as_it_is_changes_nothing(page, capsys):
    assert run(capsys, "impact", "h200.sm_count=132", "--in", str(page)) == (
        0, ["0 changes: 0 flips, 0 claims, 0 readings, 0 cells"])  # fmt: skip


def test_changes_come_as_json_and_as_markdown_too(page, capsys):
    _, lines = run(capsys, "impact", "h200.sm_count=64", "--in", str(page), "--format", "json")
    assert json.loads("\n".join(lines))[0] == {
        "kind": "flip", "path": str(page), "line": 6, "column": 21, "old": "split-K=8", "new": "no split, 64 blocks",
    }  # fmt: skip
    _, lines = run(capsys, "impact", "h200.sm_count=64", "--in", str(page), "--format", "markdown")
    assert lines[2] == f"| flip | `{page}:6` | split-K&#61;8 | no split, 64 blocks |"
    assert lines[-1] == "4 changes: 1 flip, 1 claim, 1 reading, 1 cell"


REFUSED = [
    ("h200.sm_cuont=3", "ledger: unknown input 'h200.sm_cuont': did you mean 'h200.sm_count'?"),
    ("split-k.split=0", "ledger: split-k.split=0: split-k: split must be a whole number from 1 to 2^53"),
    (
        "h200.sm_count=0.5",
        "ledger: h200.sm_count=0.5: split-k: sm_count must be a whole number of at least 1, got 0.5",
    ),
    ("h200.sm_count", "ledger: NAME=VALUE: must be NAME=VALUE, got 'h200.sm_count'"),
]


@pytest.mark.parametrize(("setting", "complaint"), REFUSED)
def test_a_name_or_value_that_makes_no_sense_is_refused(page, capsys, setting, complaint):
    assert main(["impact", setting, "--in", str(page)]) == 2
    assert capsys.readouterr().err.startswith(complaint)


def test_the_census_counts_each_kind_and_none_may_be_unknown(page, capsys):
    code, lines = run(capsys, "census", str(page), "--format", "json")
    assert code == 0
    assert json.loads("\n".join(lines)) == {
        str(page): {"read": 3, "claimed": 1, "plain": 1, "cited": 1, "in tables": 3, "unknown": 0}
    }
    page.write_text(TEXT + "\nIt is 12, {{ d.a.grid }}.\n\n```sh\nls\n```\n\n```python\n1\n```\n")
    code, lines = run(capsys, "census", str(page))
    assert code == 1
    head, row = lines[0].split("  "), lines[1].split()
    assert [h.strip() for h in head if h.strip()][-1] == "unknown"
    assert row[-1] == "3"
    assert lines[-1].startswith("all ")
    assert "**all**" in run(capsys, "census", str(page), "--format", "markdown")[1][-1]


@pytest.mark.parametrize("code", ["drift", "typed"])
def test_a_code_is_explained_without_a_check(code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["check", "--explain", code])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"{code}: ")
