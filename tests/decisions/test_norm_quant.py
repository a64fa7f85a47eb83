"""Add, RMSNorm and fp8 per token: the lines and the launches, worked by hand."""

from ledger.decisions import QUESTIONS, decision
from ledger.traced import plain

QUESTION = QUESTIONS["norm-quant"]
# 3 rows of 10: 30 elements, 60 bytes as bf16, 30 as fp8, and 3 scales of 4 bytes; a share is 3 of the 10
SHAPE = {"tokens": 3, "hidden": 10, "blocks_per_row": 4}


def launched(option):
    names = ("grid", "reads", "writes", "on_chip", "in_flight", "passed", "flops", "threads")
    return [tuple(plain(getattr(each, name)) for name in names) for each in option.launches()]


def lines(option):
    return tuple(plain(x) for x in (option.bytes, option.grid, option.on_chip))


def test_the_lines_worked_by_hand():
    for shape in (SHAPE, QUESTION.shape(SHAPE)):
        pair, fused = QUESTION.options(**shape)
        assert lines(pair) == (60 + 60 + 60 + 30 + 12 + 2 * 60, 12, 12)
        assert lines(fused) == (60 + 60 + 60 + 30 + 12, 12, 12)
        assert (plain(pair.epilogue.bytes), pair.epilogue.launches) == (120, 1)


def test_the_launches_worked_by_hand():
    pair, fused = QUESTION.options(**QUESTION.shape(SHAPE))
    # input and residual in, their sum and the normed rows out; a share of each under way
    norm = (12, 120, 120, 12, 12, 60, 0, 256)
    quant = (12, 60, 42, 6, 6, 60, 0, 256)
    assert launched(pair) == [norm, quant]
    assert launched(fused) == [(12, 120, 102, 12, 12, 0, 0, 256)]


def test_the_reference_shape_and_its_verdict():
    asked = decision("norm-quant")
    assert lines(asked.a) == (11 * 2048 * 16384 + 8192, 2048, 65536)
    assert lines(asked.b) == (7 * 2048 * 16384 + 8192, 2048, 65536)
    assert asked.winner == "1 fused kernel"
    assert asked.name == "add + RMSNorm, then fp8 quant per token, 2048x16384"


def test_the_result_type_moves_no_line_but_traffic():
    wide, narrow = decision("norm-quant", quantized_bytes=2), decision("norm-quant")
    assert wide.b.bytes - narrow.b.bytes == 2048 * 16384
    assert wide.a.bytes - wide.b.bytes == narrow.a.bytes - narrow.b.bytes
    assert lines(wide.b)[1:] == lines(narrow.b)[1:]


def test_the_values_worth_trying():
    assert dict(QUESTION.tiles) == {"blocks_per_row": (1, 2, 4, 8)}
