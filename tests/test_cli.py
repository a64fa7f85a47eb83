"""The command: each line of arguments with its output, its complaint and its exit code."""

import json
import os
import subprocess
import sys

import pytest

from ledger.cli import main
from ledger.decisions import QUESTIONS
from ledger.machine import machines

REFUSED = [
    (
        ["flips", "split-k", "--over", "splt"],
        "ledger: unknown parameter of split-k 'splt': did you mean 'split'?",
    ),
    (
        ["best", "split-k", "--over", "split=0..4"],
        "ledger: split-k: split must be whole numbers from 1 to 2^53",
    ),
    (["best", "split-k", "--over", "split"], "ledger: --over: must be NAME=VALUES such as split=1..256, got"),
    (["best", "split-k"], "ledger: the following arguments are required: --over"),
    (
        ["best", "split-k", "--over", "split=1..4", "--set", "split=2"],
        "ledger: split-k: split must be either swept",
    ),
    (["retile", "split-q"], "ledger: unknown decision 'split-q'"),
    (
        ["sweep", "split-k", "--over", "split=1..9007199254740992"],
        "ledger: split-k: 9,007,199,254,740,992 verdicts need",
    ),
    (["sweep", "split-k", "--over", "sm_cuont=1..4"], "ledger: unknown parameter of split-k 'sm_cuont'"),
    (["--bandwidth-gbs", "0"], "ledger: bandwidth_gbs must be a positive finite number, got 0"),
    (["--bandwidth-gbs", "nan"], "ledger: bandwidth_gbs must be a positive finite number, got nan"),
    (["--bandwidth-gbs", "inf"], "ledger: bandwidth_gbs must be a positive finite number, got inf"),
    (["--bandwidth-gbs", "-5"], "ledger: bandwidth_gbs must be a positive finite number, got -5"),
    (
        ["--bandwidth-gbs", "fast"],
        "ledger: --bandwidth-gbs: must be a number, got 'fast' (see 'ledger --help')",
    ),
    (["--sm-count", "0"], "ledger: sm_count must be a positive whole number, got 0"),
    (["--sm-count", "1.5"], "ledger: sm_count must be a positive whole number, got 1.5"),
    (["--sm-count"], "ledger: --sm-count: expected one argument (see 'ledger --help')"),
    (["show", "split-kk"], "ledger: unknown decision 'split-kk': did you mean 'split-k'?"),
    (["show"], "ledger: the following arguments are required: SLUG (see 'ledger show --help')"),
    (["show", "split-k", "--machine", "h20"], "ledger: unknown machine 'h20': did you mean 'h200'?"),
    (
        ["show", "split-k", "--machine", "gh200"],
        "ledger: gh200 (GH200 (Hopper GPU, 96GB HBM3)): no public figure for",
    ),
    (
        ["show", "split-k", "--set", "splt=4"],
        "ledger: unknown parameter of split-k 'splt': did you mean 'split'?",
    ),
    (
        ["show", "split-k", "--set", "split"],
        "ledger: --set: must be NAME=VALUE, got 'split' (see 'ledger show --help')",
    ),
    (["show", "split-k", "--set", "split=few"], "ledger: --set: split must be a number, got 'few'"),
    (
        ["show", "split-k", "--set", "split=2.5"],
        "ledger: split-k: split must be a whole number from 1 to 2^53",
    ),
    (["show", "split-k", "--set", "m=0"], "ledger: split-k: m must be a whole number from 1 to 2^53"),
    (["show", "split-k", "--set", "m=1e400"], "ledger: split-k: m must be a whole number from 1 to 2^53"),
    (["show", "split-k", "--budget", "0"], "ledger: split-k: budget must be a finite number above 0, got 0"),
    (["show", "split-k", "--format", "pdf"], "ledger: --format: invalid choice: 'pdf'"),
    (["shwo"], "ledger: COMMAND: invalid choice: 'shwo'"),
    (["check"], "ledger: the following arguments are required: PATH (see 'ledger check --help')"),
    (
        ["check", "nowhere.md"],
        "ledger: nowhere.md: no such file or folder; give Markdown files or folders of them",
    ),
    (["--frobnicate"], "ledger: unrecognized arguments: --frobnicate (see 'ledger --help')"),
]


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_bad_input_gets_one_line_on_standard_error_and_exit_2(arguments, complaint, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(complaint)
    assert captured.err.count("\n") == 1


def test_limits_may_be_given_before_or_behind_show(capsys):
    main(["--sm-count", "64", "show", "split-k"])
    before = capsys.readouterr().out
    main(["show", "split-k", "--sm-count", "64"])
    assert before == capsys.readouterr().out
    assert "winner: no split, 64 blocks -- traffic: 4.2 MB vs 71.3 MB, and both fit" in before


def test_settings_may_be_given_together_or_apart(capsys):
    main(["show", "split-k", "--set", "split=4", "m=2048"])
    together = capsys.readouterr().out
    main(["show", "split-k", "--set", "split=4", "--set", "m=2048"])
    assert together == capsys.readouterr().out
    assert together.startswith("skinny GEMM 2048x1024x16384, split-K=4\n")


def test_show_as_text_is_the_whole_decision(capsys):
    assert main(["show", "elementwise"]) == 0
    assert (
        capsys.readouterr().out
        == """\
elementwise chain, 2 ops
  the textbook case: one read + one write instead of two of each
  machine H200 SXM, 132 SMs, budget 228 KB a block
  n=16777216 element_bytes=2 block=1024

line         A: 2 kernels                                                                  B: 1 fused kernel
traffic      134.2 MB                                                                      67.1 MB
capacity     2.0 KB                                                                        2.0 KB
parallelism  32,768 blocks                                                                 16,384 blocks
epilogue     67.1 MB, 1 launch: a second kernel, and the intermediate out to HBM and back  –

winner: 1 fused kernel -- traffic: 67.1 MB vs 134.2 MB (saves 67.1 MB = 14.91 us)
flips, nearest first:
  from 2,047 bytes of budget down (−99 %): NEITHER
  from n = 134,144 down (−99 %): 2 kernels
  from block = 116,737 up (114 ×): NEITHER
  from 16,385 SMs up (124 ×): 2 kernels
second opinion, estimated, ±20 %: 1 fused kernel, which agrees with the rule: 34.88 us against 17.44 us
  option          kernel  launch, µs  blocks  at once  waves  a full wave, µs  the last, µs  total, µs  bound by
  2 kernels       1       2.43        16,384  1,056    16     0.96             0.60          17.44      bandwidth
  2 kernels       2       2.43        16,384  1,056    16     0.96             0.60          17.44      bandwidth
  2 kernels       all     –           –       –        –      –                –             34.88      –
  1 fused kernel  1       2.43        16,384  1,056    16     0.96             0.60          17.44      bandwidth
how:
  2 kernels: bytes = 4·n·element_bytes = 4 × 16,777,216 × 2 = 134,217,728 bytes
  2 kernels: on_chip = block·element_bytes = 1,024 × 2 = 2,048 bytes
  2 kernels: grid = 2·⌈n / block⌉ = 2 × ⌈16,777,216 / 1,024⌉ = 32,768 blocks
  1 fused kernel: bytes = 2·n·element_bytes = 2 × 16,777,216 × 2 = 67,108,864 bytes
  1 fused kernel: on_chip = block·element_bytes = 1,024 × 2 = 2,048 bytes
  1 fused kernel: grid = ⌈n / block⌉ = ⌈16,777,216 / 1,024⌉ = 16,384 blocks
"""
    )


def test_show_as_json_holds_the_trace_of_each_line(capsys):
    assert main(["show", "split-k", "--format", "json", "--machine", "l40s"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["slug"], shown["machine"], shown["winner"]) == ("split-k", "l40s", "split-K=8")
    assert shown["option_b"]["grid"]["value"] == 512
    assert shown["option_b"]["grid"]["formula"] == "⌈m / tile⌉·⌈n / tile⌉·split"
    assert shown["option_b"]["epilogue"]["bytes"]["value"] == 2 * 8 * 1024 * 1024 * 4
    assert shown["sm_count"]["inputs"] == {"l40s.sm_count": 142}
    assert shown["flips"][0] == {
        "parameter": "SMs",
        "at": 64,
        "winner": "no split, 64 blocks",
        "now": 142,
        "margin": (64 - 142) / 142,
    }
    assert shown["second_opinion"]["says"] == "split-K=8"
    assert shown["second_opinion"]["a_us"]["dimension"] == "µs"


def test_show_says_why_there_is_no_second_opinion(capsys):
    main(["show", "split-k", "--machine", "rtx-pro-6000"])
    assert "second opinion: none: rtx-pro-6000" in capsys.readouterr().out
    main(["show", "split-k", "--machine", "rtx-pro-6000", "--format", "json"])
    assert "no public figure for fp16" in json.loads(capsys.readouterr().out)["second_opinion"]["reason"]


def test_show_as_markdown_is_tables_and_a_verdict_box(capsys):
    assert main(["show", "norm-rope-quant", "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "| line | A&#58; norm+rope &#124; quant as 2 kernels | B&#58; one fused kernel |" in shown
    assert "!!! verdict \"<strong class='decided'>one fused kernel</strong> on H200 SXM\"" in shown
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows[:6]} == {4}


@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_lists_name_every_decision_and_every_machine(style, capsys):
    assert main(["decisions", "--format", style]) == 0
    shown = capsys.readouterr().out
    assert [slug for slug in QUESTIONS if slug not in shown] == []
    assert main(["machines", "--format", style]) == 0
    shown = capsys.readouterr().out
    assert [key for key in machines() if key not in shown] == []


def test_help_says_what_the_rule_is_and_gives_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    for words in ("fewest bytes win", "NEITHER", "ledger show split-k --set split=4", "exit codes: 0"):
        assert words in shown


def test_check_exits_1_where_there_are_findings_and_0_where_there_are_none(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text('{{ decision("split-k").a.grid | reads("64 blocks") }}\n')
    assert main(["check", str(page)]) == 0
    assert capsys.readouterr().out == ""
    page.write_text('# T\n\nOnly {{ decision("split-k").a.grid | reads("65 blocks") }}.\n')
    assert main(["check", str(page)]) == 1
    finding = "drift the page says '65 blocks', the library '64 blocks' — write '64 blocks'"
    assert capsys.readouterr().out == f"{page}:3:44: {finding}\n"
    assert main(["check", str(page), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["column"] == 44
    assert main(["check", str(page), "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith(f"::error file={page},line=3,col=44,title=drift::the page says")


def test_flips_says_what_would_change_the_verdict_and_how_near_it_is(capsys):
    assert main(["flips", "split-k", "--over", "split", "SMs"]) == 0
    assert (
        capsys.readouterr().out
        == """\
skinny GEMM 1024x1024x16384, split-K=8: split-K=8
parameter  today  flips at  away    to
split      8      2         −75 %   NEITHER
SMs        132    64        −52 %   no split, 64 blocks
SMs        132    513       +289 %  NEITHER
"""
    )
    main(["flips", "split-k", "--over", "split", "--format", "json"])
    (flip,) = json.loads(capsys.readouterr().out)["flips"]
    assert flip == {"parameter": "split", "at": 2, "winner": "NEITHER", "now": 8, "margin": -0.75}
    main(["flips", "split-k", "--over", "k"])
    assert capsys.readouterr().out.endswith("no value of these changes the verdict\n")


def test_best_names_the_cheapest_usable_value_and_the_fastest_by_the_estimate(capsys):
    assert (
        main(["best", "split-kv", "--over", "split=1..256", "--machine", "h100", "--set", "batch_heads=8"])
        == 0
    )
    rule, counts, opinion, because = capsys.readouterr().out.splitlines()
    assert rule == "the rule: split-KV=17 at split=17 (537.0 MB, 136 blocks)"
    assert counts == "of 257 options: 240 usable, 17 fit and do not fill, 0 do not fit"
    assert opinion.startswith("the second opinion: split-KV=")
    assert "estimated, ±20 %; fits, does not fill)" in opinion
    assert because.startswith("because: parallelism: ")


def test_best_says_neither_and_what_re_tiling_would_help(capsys):
    assert main(["best", "split-kv", "--over", "split=1..64", "--machine", "l40s"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("the rule: NEITHER\n")
    assert "the second opinion: none" in said
    assert "re-tile, do not choose:" in said
    main(["retile", "split-kv", "--machine", "l40s"])
    assert said.endswith(capsys.readouterr().out)
    main(["best", "split-kv", "--over", "split=1..64", "--machine", "l40s", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["winner"], found["second_opinion"]) == ("NEITHER", None)
    assert found["tilings"][0]["values"] == {"kv_block": 128}


def test_retile_lists_the_tiles_that_fit_and_fill_fewest_bytes_first(capsys):
    assert main(["retile", "split-k", "--set", "split=1", "--over", "tile=64,128"]) == 0
    assert (
        capsys.readouterr().out
        == """\
tiles    option                bytes, MB  blocks  on chip, KB
tile=64  no split, 256 blocks  4.2        256     16.0
tile=64  split-K=1             12.6       256     16.0
"""
    )
    main(["retile", "split-k", "--set", "m=1", "n=1", "split=1"])
    assert capsys.readouterr().out == "no tiling fits and fills\n"


def test_sweep_shows_runs_of_one_parameter_and_a_map_of_two(capsys):
    assert main(["sweep", "split-k", "--over", "split=1..8"]) == 0
    assert (
        capsys.readouterr().out
        == """\
6 B, 2 NEITHER
A: no split, 64 blocks    B: split-K=…    .: NEITHER    -: not a shape

values      verdict
split=1..2  NEITHER
split=3..8  split-K=…
"""
    )
    assert main(["sweep", "split-k", "--over", "split=1..3", "k=1..3"]) == 0
    assert capsys.readouterr().out.endswith(
        """\
   k = 1 to 3
1  ...
2  -..
3  --B
split downwards
"""
    )
    main(["sweep", "split-k", "--over", "split=1..100", "sm_count=1..500"])
    assert "shown: 24 of 100 split, 64 of 500 sm_count\n" in capsys.readouterr().out


def test_sweep_as_csv_and_json_holds_every_combination(capsys):
    main(["sweep", "split-k", "--over", "split=2,3", "sm_count=64,132", "--format", "csv"])
    rows = ["split,sm_count,verdict", "2,64,A", "2,132,NEITHER", "3,64,A", "3,132,B"]
    assert capsys.readouterr().out.splitlines() == rows
    main(["sweep", "split-k", "--over", "split=2,3", "sm_count=64,132", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert found["codes"] == [[0, 2], [0, 1]]
    assert found["axes"] == {"split": [2, 3], "sm_count": [64, 132]}
    main(["sweep", "split-k", "--over", "split=2,3", "--format", "markdown"])
    assert capsys.readouterr().out.endswith("| split=3 | split-K=… |\n".replace("=", "&#61;"))


def test_a_sweep_that_takes_long_tells_how_far_it_is(capsys, monkeypatch):
    seconds = iter(range(100))
    monkeypatch.setattr("ledger.cli.time.monotonic", lambda: next(seconds))
    main(["sweep", "split-k", "--over", "split=1..4096", "sm_count=1..64"])
    told = capsys.readouterr().err.split("\r")
    assert told[-1] == "262,144 of 262,144 verdicts\n"
    assert len(told) > 2


def test_without_numpy_a_sweep_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ledger.sweep", None)
    assert main(["sweep", "split-k", "--over", "split=1..4"]) == 2
    assert "sweep: needs NumPy, found none; install it with" in capsys.readouterr().err


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """A Python process of its own, in a folder of its own."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


def test_importing_the_library_pulls_in_the_standard_library_only(tmp_path):
    code = "import sys; from ledger import *; print(*{m.partition('.')[0] for m in sys.modules})"
    found = set(run("-c", code, cwd=tmp_path).stdout.split())
    ours = {"ledger", "__main__", "sitecustomize", "usercustomize"}
    assert {name for name in found - ours if not name.startswith("_")} <= sys.stdlib_module_names


def test_the_public_functions_are_not_hidden_by_modules_of_their_name(tmp_path):
    code = "import ledger.decision, ledger.machine as m, ledger; print(ledger.decision('split-k').winner, m)"
    shown = run("-c", code, cwd=tmp_path)
    assert shown.stdout.startswith("split-K=8 <function machine")


def test_a_closed_pipe_ends_the_command_quietly(tmp_path):
    shown = subprocess.run(
        f"{sys.executable} -m ledger machines --format json | head -c 10",
        shell=True, capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert (shown.stdout, shown.stderr) == ("[\n  {\n    ", "")


def test_the_wheel_alone_runs_every_command(tmp_path, repository):
    built = run("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=repository)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("fusion_ledger-*.whl")
    page = tmp_path / "page.md"
    page.write_text('{{ decision("split-k").winner | reads("split-K=8") }}\n')
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    for arguments in ([], ["show", "split-k"], ["decisions"], ["machines"], ["check", str(page)]):
        shown = run(
            "-c",
            f"import ledger.cli as c; assert {wheel.name!r} in c.__file__; raise SystemExit(c.main())",
            *arguments,
            cwd=tmp_path,
            env=environment,
        )
        assert (shown.returncode, shown.stderr) == (0, "")
