"""A number that remembers how it was computed.

A traced number behaves as its value; its expression tree gives the formula in symbols, the formula with
the numbers filled in, the named inputs, and JSON for the page's script. Decision functions never name
this module's class: plain arithmetic and the four functions below run on ``int``, traced numbers and
arrays alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ledger.errors import BadValue, DimensionError
from ledger.units import BLOCKS, PLAIN, SMS, Dimension, show

Scalar = int | float


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that the formula itself holds."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Input:
    """A named number that somebody gave: a shape parameter or a machine's figure."""

    name: str  # as formulas show it: "split"
    value: Scalar
    scope: str = ""  # whose it is: "split-k", "h200"
    dimension: Dimension = PLAIN
    source: str = ""  # where the value comes from, for the reader

    @property
    def key(self) -> str:
        """The input's name in full, ``split-k.split``."""
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of arithmetic on one or more earlier nodes."""

    operator: str
    operands: tuple[Node, ...]
    value: Scalar


@dataclass(frozen=True, slots=True)
class Named:
    """A step with a name of its own, so that long formulas can be read: ``rows``."""

    name: str
    value: Scalar
    of: Node
    dimension: Dimension = PLAIN


Node = Constant | Input | Operation | Named

_COMPARISONS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


class Traced:
    """A value with its expression tree and its dimension; immutable."""

    __slots__ = ("dimension", "node", "value")

    value: Scalar
    node: Node
    dimension: Dimension

    def __init__(self, value: Scalar, node: Node | None = None, dimension: Dimension = PLAIN) -> None:
        for name, given in (("value", value), ("node", node or Constant(value)), ("dimension", dimension)):
            object.__setattr__(self, name, given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a traced number cannot be changed: {name}")

    # how it was computed -------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The named inputs the value depends on, each once, in the order they are met."""
        return tuple(dict.fromkeys(n for n in walk(self.node) if isinstance(n, Input)))

    def formula(self) -> str:
        """The formula in symbols: ``2·split·m·n``."""
        return _write(self.node, lambda n: n.name if isinstance(n, Input | Named) else show(n.value), "·")

    def filled(self) -> str:
        """The formula with numbers filled in, ``2 × 8 × 1,024``; of a comparison, what its sides come to."""
        return _write(self.node, lambda n: show(n.value), " × ", folds=True)

    def parts(self) -> dict[str, Traced]:
        """The named steps that the formula shows by name, each as a traced number of its own."""
        steps = (n for n in walk(self.node) if isinstance(n, Named) and n is not self.node)
        return {step.name: Traced(step.value, step, step.dimension) for step in steps}

    def derivation(self) -> str:
        """Formula, numbers and value with its unit in one line.

        Examples:
            >>> (4 * given("n", 16, dimension=BLOCKS)).derivation()
            '4·n = 4 × 16 = 64 blocks'
        """
        steps = " = ".join(dict.fromkeys([self.formula(), self.filled(), show(self.value)]))
        return steps if self.dimension == PLAIN else f"{steps} {self.dimension}"

    def to_json(self) -> dict[str, Any]:
        """The expression for the page's script: value, dimension, inputs by key, and the tree."""
        return {
            "value": self.value,
            "dimension": str(self.dimension),
            "inputs": {i.key: i.value for i in self.inputs},
            "expression": _tree(self.node),
        }

    # behaves as its value ------------------------------------------------------------------------

    def __reduce__(self) -> tuple[object, ...]:
        return Traced, (self.value, self.node, self.dimension)

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"{self.value!r} is not a whole number")
        return self.value

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __add__(self, other: object) -> Traced:
        return _combine("+", self, other, _same)

    def __radd__(self, other: object) -> Traced:
        return _combine("+", other, self, _same)

    def __sub__(self, other: object) -> Traced:
        return _combine("-", self, other, _same)

    def __rsub__(self, other: object) -> Traced:
        return _combine("-", other, self, _same)

    def __mul__(self, other: object) -> Traced:
        return _combine("*", self, other, Dimension.__mul__)

    def __rmul__(self, other: object) -> Traced:
        return _combine("*", other, self, Dimension.__mul__)

    def __truediv__(self, other: object) -> Traced:
        return _combine("/", self, other, Dimension.__truediv__)

    def __rtruediv__(self, other: object) -> Traced:
        return _combine("/", other, self, Dimension.__truediv__)

    def __floordiv__(self, other: object) -> Traced:
        return _combine("//", self, other, Dimension.__truediv__)

    def __rfloordiv__(self, other: object) -> Traced:
        return _combine("//", other, self, Dimension.__truediv__)

    def __neg__(self) -> Traced:
        return self._step("neg")

    def __abs__(self) -> Traced:
        return self._step("abs")

    def __ceil__(self) -> Traced:
        return self._step("ceil")

    def __lt__(self, other: object) -> Traced:
        return _combine("<", self, other, _compared)

    def __le__(self, other: object) -> Traced:
        return _combine("<=", self, other, _compared)

    def __gt__(self, other: object) -> Traced:
        return _combine(">", self, other, _compared)

    def __ge__(self, other: object) -> Traced:
        return _combine(">=", self, other, _compared)

    def __eq__(self, other: object) -> Traced:  # type: ignore[override]  # a claim is a traced truth
        return _combine("==", self, other, _compared)

    def __ne__(self, other: object) -> Traced:  # type: ignore[override]  # as above
        return _combine("!=", self, other, _compared)

    def __and__(self, other: object) -> Traced:
        return _combine("and", self, other, _same)

    def __or__(self, other: object) -> Traced:
        return _combine("or", self, other, _same)

    def __invert__(self) -> Traced:
        return self._step("not")

    def _step(self, operator: str) -> Traced:
        value = APPLY[operator](self.value)
        return Traced(value, Operation(operator, (self.node,), value), self.dimension)


class Choice(str):
    """A word that numbers decided: a verdict. A reading that is off here is a flip."""

    __slots__ = ()


# what a decision function may use beside + - * / // and comparisons ----------------------------------


def ceil_div(a: Any, b: Any) -> Any:
    """``a / b`` rounded up, for whole numbers, traced numbers and arrays: blocks for ``a`` items.

    Examples:
        >>> ceil_div(1000, 128)
        8
    """
    if isinstance(a, Traced) or isinstance(b, Traced):
        return _combine("ceildiv", a, b, Dimension.__truediv__)
    return -(-a // b)


def largest(a: Any, b: Any) -> Any:
    """The larger of two values, for whole numbers, traced numbers and arrays."""
    return _pick("max", a, b)


def smallest(a: Any, b: Any) -> Any:
    """The smaller of two values, for whole numbers, traced numbers and arrays."""
    return _pick("min", a, b)


def named(name: str, value: Any) -> Any:
    """The value itself; where it is traced, formulas show it by this name."""
    if isinstance(value, Traced):
        return Traced(value.value, Named(name, value.value, value.node, value.dimension), value.dimension)
    return value


# building ---------------------------------------------------------------------------------------------


def given(
    name: str, value: Scalar, *, scope: str = "", dimension: Dimension = PLAIN, source: str = ""
) -> Traced:
    """A traced number for a named input; where ``overriding`` names it, with the value given there."""
    given = Input(name, value, scope, dimension, source)
    override = _OVERRIDES.get()
    if override is not None:
        override.met.add(given.key)
        if given.key in override.values:
            given = replace(given, value=override.values[given.key])
    return Traced(given.value, given, dimension)


@dataclass(frozen=True)
class Override:
    """Values that stand in for inputs, by the inputs' full names, and the names that were asked for."""

    values: Mapping[str, Scalar]
    met: set[str] = field(default_factory=set)


_OVERRIDES: ContextVar[Override | None] = ContextVar("overrides", default=None)


@contextmanager
def overriding(values: Mapping[str, Scalar]) -> Iterator[Override]:
    """Within it, each input named in full (``split-k.split``) has the value given here.

    >>> with overriding({"made.n": 7}):
    ...     print(given("n", 3, scope="made") * 2)
    14
    """
    override = Override(values)
    token = _OVERRIDES.set(override)
    try:
        yield override
    finally:
        _OVERRIDES.reset(token)


def in_unit(value: Any, dimension: Dimension) -> Any:
    """The value as a count of a unit: a plain number takes the dimension, another one must have it.

    Raises:
        DimensionError: the value is traced and counts something else.
    """
    if not isinstance(value, Traced) or value.dimension == dimension:
        return value
    if value.dimension == PLAIN:
        return Traced(value.value, value.node, dimension)
    raise DimensionError(f"{value.formula()} counts {value.dimension}, not {dimension}")


def plain(value: Any) -> Any:
    """The value without its trace."""
    return value.value if isinstance(value, Traced) else value


def dimension_of(value: object) -> Dimension:
    """The dimension of a value; an untraced one is a plain number."""
    return value.dimension if isinstance(value, Traced) else PLAIN


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, parents first, operands from the left."""
    yield node
    operands = node.operands if isinstance(node, Operation) else (node.of,) if isinstance(node, Named) else ()
    for operand in operands:
        yield from walk(operand)


# arithmetic -------------------------------------------------------------------------------------------

APPLY: Mapping[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "max": max,
    "min": min,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "neg": lambda a: -a,
    "abs": abs,
    "ceil": math.ceil,
    "not": lambda a: not a,
}
_DIVISIONS = {"/", "//", "ceildiv"}


def _combine(
    operator: str, a: object, b: object, dimensions: Callable[[Dimension, Dimension], Dimension]
) -> Traced:
    left, right = _traced(a), _traced(b)
    if left is None or right is None:
        return NotImplemented  # type: ignore[no-any-return]  # Python asks the other side
    if operator == "+" and left.node == Constant(0):
        return right  # sum() starts from zero
    try:
        dimension = dimensions(left.dimension, right.dimension)
    except DimensionError:
        dimension = _literal_dimension(operator, left, right)
    if operator in _DIVISIONS and right.value == 0:
        raise BadValue(f"the divisor {right.formula()}", "other than zero", 0)
    value = APPLY[operator](left.value, right.value)
    return Traced(value, Operation(operator, (left.node, right.node), value), dimension)


def _traced(value: object) -> Traced | None:
    if isinstance(value, Traced):
        return value
    if isinstance(value, Fraction):
        return Traced(float(value))
    return Traced(value) if isinstance(value, int | float) else None


def _same(a: Dimension, b: Dimension) -> Dimension:
    if a != b:
        raise DimensionError
    return a


def _compared(a: Dimension, b: Dimension) -> Dimension:
    # Blocks against SMs is the rule's own question: one block for each SM.
    if a != b and {a, b} != {BLOCKS, SMS}:
        raise DimensionError
    return PLAIN


def _literal_dimension(operator: str, left: Traced, right: Traced) -> Dimension:
    """The dimension where one side is a bare literal: it may be compared with anything, or be zero."""
    bare = [side for side in (left, right) if isinstance(side.node, Constant) and side.dimension == PLAIN]
    other = right.dimension if bare and bare[0] is left else left.dimension
    if bare and operator in _COMPARISONS:
        return PLAIN
    if bare and (operator in {"max", "min"} or bare[0].value == 0):
        return other
    words = {"+": "add", "-": "subtract", "max": "take the larger of", "min": "take the smaller of"}
    raise DimensionError(
        f"cannot {words.get(operator, 'compare')} {left.formula()} ({left.dimension})"
        f" and {right.formula()} ({right.dimension})"
    )


def _pick(operator: str, a: Any, b: Any) -> Any:
    if isinstance(a, Traced) or isinstance(b, Traced):
        return _combine(operator, a, b, _same)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return APPLY[operator](a, b)
    import numpy  # only a caller that hands arrays in gets here

    return numpy.maximum(a, b) if operator == "max" else numpy.minimum(a, b)


# writing ----------------------------------------------------------------------------------------------

_BINDING = {"or": 1, "and": 2, **dict.fromkeys(_COMPARISONS, 3), "+": 4, "-": 4, "*": 5, "/": 5}
_AROUND = {"//": ("⌊", "⌋"), "ceildiv": ("⌈", "⌉"), "ceil": ("⌈", "⌉"), "abs": ("|", "|")}


def _write(node: Node, leaf: Callable[[Any], str], times: str, binding: int = 0, folds: bool = False) -> str:
    """The tree as text.

    ``leaf`` writes what is not an operation, ``times`` is the product sign, ``binding`` says how tightly
    the operator around it holds, ``folds`` writes a comparison's sides as the values they come to.
    """
    if isinstance(node, Named) and binding == 0:
        node = node.of  # the named step itself is being explained
    if not isinstance(node, Operation):
        return leaf(node)

    def write(each: Node, binding: int) -> str:
        folded = folds and node.operator in _COMPARISONS
        return leaf(each) if folded else _write(each, leaf, times, binding, folds)

    operator, operands = node.operator, node.operands
    if operator in _AROUND:
        opening, closing = _AROUND[operator]
        return opening + " / ".join(write(each, 5 if len(operands) > 1 else 1) for each in operands) + closing
    if operator in {"max", "min"}:
        return f"{operator}({', '.join(write(each, 1) for each in operands)})"
    if operator in {"neg", "not"}:
        return {"neg": "−", "not": "not "}[operator] + write(operands[0], 6)
    own = _BINDING[operator]
    sign = {"*": times, "-": " − ", **{k: f" {v} " for k, v in _COMPARISONS.items()}}
    left, right = write(operands[0], own), write(operands[1], own + (operator in {"-", "/"}))
    text = left + sign.get(operator, f" {operator} ") + right
    return f"({text})" if own < binding else text


def _tree(node: Node) -> Any:
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Input):
        return node.key
    if isinstance(node, Named):
        return {"name": node.name, "of": _tree(node.of)}
    return {"op": node.operator, "of": [_tree(each) for each in node.operands]}
