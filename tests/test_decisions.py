"""The six decision functions: figures worked by hand, on whole numbers and traced ones."""

import pytest

from ledger.decisions import QUESTIONS, build, decision
from ledger.errors import BadValue, MissingFigure, UnknownName
from ledger.machine import machine
from ledger.traced import Traced, plain

WORKED = [
    # slug, shape, then (bytes, grid, on chip) of A and of B, and bytes of the epilogue, each worked by hand
    ("elementwise", {"n": 1000, "element_bytes": 4, "block": 256}, (16000, 8, 1024), (8000, 4, 1024), 8000),
    (
        "norm-rope-quant",
        {"tokens": 2, "q_heads": 3, "kv_heads": 1, "head_dim": 10, "row": 100, "rows_per_block": 3},
        # 8 rows, 80 elements: 160 in, 80 out, 320 between, 160 of tables, 32 of scales
        (752, 8, 200),
        (432, 3, 1300),
        320,
    ),
    (
        "gemm-epilogue",
        {"m": 130, "n": 100, "k": 7, "tile": 64, "element_bytes": 2, "accumulator_bytes": 4},
        (78000, 6, 16384),
        (26000, 6, 16512),
        52000,
    ),
    (
        "split-k",
        {"m": 130, "n": 100, "k": 7, "tile": 64, "split": 3},
        (52000, 6, 16384),
        (364000, 18, 16384),
        312000,
    ),
    (
        "split-kv",
        {"batch_heads": 3, "sq": 2, "skv": 100, "head_dim": 10, "split": 5, "kv_block": 16},
        (12000, 3, 640),
        (14400, 15, 640),
        2400,
    ),
    (
        "norm-projection",
        {"tokens": 100, "heads": 3, "head_dim": 60, "row": 500, "rows_per_block": 7, "tile": 64},
        (72000, 43, 1000),
        (0, 6, 24576),
        72000,
    ),
]


@pytest.mark.parametrize(("slug", "shape", "a", "b", "new"), WORKED, ids=[r[0] for r in WORKED])
def test_figures_worked_by_hand_come_out_on_whole_and_on_traced_numbers(slug, shape, a, b, new):
    question = QUESTIONS[slug]
    for options in (question.options(**shape), question.options(**question.shape(shape))):
        lines = [tuple(plain(x) for x in (o.bytes, o.grid, o.on_chip)) for o in options]
        assert lines == [a, b]
        fine = options[0] if question.finer == "a" else options[1]
        assert (plain(fine.epilogue.bytes), fine.epilogue.launches) == (new, 1)


@pytest.mark.parametrize("slug", QUESTIONS)
def test_every_line_is_traced_and_names_its_inputs(slug):
    asked = decision(slug)
    for option in (asked.a, asked.b):
        for value in (option.bytes, option.grid, option.on_chip, option.epilogue.bytes):
            assert isinstance(value, Traced) or value == 0
    used = {i.name for o in (asked.a, asked.b) for v in (o.bytes, o.grid, o.on_chip) for i in v.inputs}
    assert used <= set(asked.shape)
    # in no line: both options read the operands alike
    assert set(asked.shape) - used <= {"k", "hidden", "element_bytes"}


@pytest.mark.parametrize("shape", [{}, {"tile": 256}, {"block": 999, "n": 12345}])
@pytest.mark.parametrize("slug", QUESTIONS)
def test_what_the_launches_move_differs_by_what_the_lines_say(slug, shape):
    asked = decision(slug, **{n: v for n, v in shape.items() if n in QUESTIONS[slug].parameters})
    a, b = asked.a.launches(), asked.b.launches()
    moved = [sum(each.reads + each.writes for each in launches) for launches in (a, b)]
    assert moved[0] - moved[1] == asked.a.bytes - asked.b.bytes
    fine, coarse = (a, b) if asked.finer == "a" else (b, a)
    assert len(fine) - len(coarse) == asked.fine.epilogue.launches


@pytest.mark.parametrize("slug", QUESTIONS)
def test_a_decision_s_docstring_says_what_is_counted_and_what_is_not(slug):
    text = QUESTIONS[slug].options.__doc__
    assert "Counted: " in text
    assert "Not counted: " in text
    assert all(f"        {name}: " in text for name in QUESTIONS[slug].parameters)


def test_a_question_s_summary_is_the_first_line_of_that_docstring_as_plain_text():
    summary = "One block per tile of C against split blocks per tile, each over its share of K."
    assert QUESTIONS["split-k"].summary == summary


def test_the_reference_s_gemm_is_square():
    shape = decision("gemm-epilogue").shape
    assert shape["m"] == shape["n"] == shape["k"]


BUDGETS = [
    ("split-k", "h200", None, 228 * 1024),
    ("norm-rope-quant", "h200", None, 192 * 1024),
    ("norm-rope-quant", "l40s", None, 100 * 1024),
    ("split-kv", "t4", None, 64 * 1024),
    ("split-kv", "h200", 1000, 1000),
    ("split-kv", "h200", 1, 1),
]


@pytest.mark.parametrize(("slug", "key", "budget", "expected"), BUDGETS)
def test_the_budget_is_the_sm_s_shared_memory_or_what_is_set_below_it(slug, key, budget, expected):
    assert decision(slug, machine=key, budget=budget).budget == expected


NAMES = [
    ("split-k", {"m": 64, "split": 2}, "skinny GEMM 64x1024x16384, split-K=2"),
    ("split-kv", {"skv": 4096, "split": 3}, "decode attention, sq=1, skv=4k, split-KV=3"),
    ("split-kv", {"skv": 1000}, "decode attention, sq=1, skv=1000, split-KV=64"),
]


@pytest.mark.parametrize(("slug", "shape", "name"), NAMES)
def test_a_decision_s_name_says_its_shape(slug, shape, name):
    assert decision(slug, **shape).name == name


def test_labels_follow_the_shape():
    asked = decision("split-k", m=256, n=256, split=5)
    assert (asked.a.label, asked.b.label) == ("no split, 4 blocks", "split-K=5")


BAD = [
    (
        lambda: decision("split-kk"),
        UnknownName,
        "unknown decision 'split-kk': did you mean 'split-k'? known: elem",
    ),
    (
        lambda: decision("split-k", splt=4),
        UnknownName,
        "unknown parameter of split-k 'splt': did you mean 'split'?",
    ),
    (lambda: decision("split-k", machine="h20"), UnknownName, "unknown machine 'h20': did you mean 'h200'?"),
    (lambda: decision("split-k", split=0), BadValue, "split-k: split must be a whole number from 1 to 2^53"),
    (lambda: decision("split-k", split=2.5), BadValue, "got 2.5"),
    (lambda: decision("split-k", split=True), BadValue, "got True"),
    (lambda: decision("split-k", split="4"), BadValue, "got '4'"),
    (lambda: decision("split-k", m=2**53 + 1), BadValue, "split-k: m must be a whole number from 1 to 2^53"),
    (lambda: decision("split-k", m=float("inf")), BadValue, "got inf"),
    (lambda: decision("split-k", k=4, split=5), BadValue, "split-k: split must be at most k = 4, got 5"),
    (lambda: decision("split-kv", skv=8), BadValue, "split-kv: split must be at most skv = 8, got 64"),
    (
        lambda: decision("norm-projection", head_dim=256),
        BadValue,
        "head_dim must be at most tile = 128, got 256",
    ),
    (
        lambda: decision("split-k", budget=0),
        BadValue,
        "split-k: budget must be a finite number above 0, got 0",
    ),
    (lambda: decision("split-k", machine="gh200"), MissingFigure, "gh200 (GH200"),
    (lambda: build(0, 132), BadValue, "bandwidth_gbs must be a positive finite number, got 0"),
    (lambda: build(float("nan"), 132), BadValue, "bandwidth_gbs must be a positive finite number, got nan"),
    (lambda: build(4502.4, -1), BadValue, "sm_count must be a positive whole number, got -1"),
    (lambda: build(4502.4, 1.5), BadValue, "sm_count must be a positive whole number, got 1.5"),
]


@pytest.mark.parametrize(("ask", "error", "message"), BAD, ids=[r[2] for r in BAD])
def test_bad_input_names_the_subject_what_is_allowed_and_what_was_found(ask, error, message):
    with pytest.raises(error) as raised:
        ask()
    assert message in str(raised.value)


@pytest.mark.parametrize("edge", [1, 2**53])
def test_a_parameter_reaches_from_1_to_2_to_the_53(edge):
    assert decision("split-k", m=edge).shape["m"] == edge


@pytest.mark.parametrize("whole", [4, 4.0, machine("h200").having(sm_count=4).sm_count])
def test_a_whole_number_may_come_as_a_float_or_traced(whole):
    assert decision("split-k", split=whole).b.label == "split-K=4"
