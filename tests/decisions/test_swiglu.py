"""SwiGLU in the epilogue: the lines and the launches, worked by hand."""

from ledger.decisions import QUESTIONS, decision
from ledger.traced import plain

QUESTION = QUESTIONS["swiglu"]
# 5 rows of 100 results, 1000 bytes: 2 rows of tiles, 200 columns in tiles of 4, or 100 of gate in shares of 3
SHAPE = {"tokens": 5, "hidden": 7, "ffn": 100, "tile": 4, "gate_columns": 3}


def launched(option):
    names = ("grid", "reads", "writes", "on_chip", "in_flight", "passed", "flops", "threads")
    return [tuple(plain(getattr(each, name)) for name in names) for each in option.launches()]


def lines(option):
    return tuple(plain(x) for x in (option.bytes, option.grid, option.on_chip))


def test_the_lines_worked_by_hand():
    for shape in (SHAPE, QUESTION.shape(SHAPE)):
        pair, fused = QUESTION.options(**shape)
        assert lines(pair) == (2000 + 2000 + 1000, 2 * 50, 4 * 4 * 4)
        assert lines(fused) == (1000, 2 * 34, 4 * 6 * 4)
        assert (plain(pair.epilogue.bytes), pair.epilogue.launches) == (4000, 1)


def test_the_launches_worked_by_hand():
    pair, fused = QUESTION.options(**QUESTION.shape(SHAPE))
    # 35 activations and 1400 weights of 2 bytes; 4 stages of 64 along hidden; 2·5·200·7 operations
    product = (100, 2870, 2000, 4 * 64 * 8 * 2, 4 * 64 * 8 * 2, 2000, 14000, 256)
    # 500 results in one block, which has gate and up of 1024 under way
    pointwise = (1, 2000, 1000, 4096, 4096, 2000, 0, 256)
    assert launched(pair) == [product, pointwise]
    # its tile has 4 rows and 6 columns
    assert launched(fused) == [(68, 2870, 1000, 4 * 64 * 10 * 2, 4 * 64 * 10 * 2, 0, 14000, 256)]


def test_a_block_of_the_pointwise_kernel_computes_1024_results():
    one, two = (QUESTION.options(tokens=1, ffn=n)[0].launches()[1] for n in (1024, 1025))
    assert (one.grid, two.grid) == (1, 2)


def test_the_reference_shape_and_its_verdict():
    asked = decision("swiglu")
    result = 4096 * 14336 * 2
    assert lines(asked.a) == (5 * result, 32 * 224, 65536)
    assert lines(asked.b) == (result, 32 * 224, 65536)
    assert asked.winner == "gate-up GEMM with SwiGLU epilogue"
    assert asked.name == "SwiGLU, 4096 tokens, 4096 to 14336"


def test_the_wide_tile_keeps_twice_as_much_on_half_the_grid():
    wide = decision("swiglu", gate_columns=128)
    assert lines(wide.b)[1:] == (3584, 131072)
    assert lines(wide.a) == lines(decision("swiglu").a)


def test_the_values_worth_trying():
    assert dict(QUESTION.tiles) == {"tile": (64, 128, 256), "gate_columns": (16, 32, 64, 128)}
