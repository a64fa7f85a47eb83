"""Where the verdict changes: for each parameter the nearest value at which another option wins, exactly.

Nothing is sampled. The lines of a decision carry their expression trees, and decision functions have no
branches, so a tree holds for every value of its inputs. A whole range of values is settled at once where
the ranges of the lines settle every comparison of the rule that matters; a range that they leave open is
halved, the half nearer to today first. A single value is always settled, in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ledger.decision import A_WINS, B_WINS, NEITHER, NONE_WINS, Decision
from ledger.decisions import QUESTIONS
from ledger.decisions.question import MOST
from ledger.errors import UnknownName
from ledger.option import Count
from ledger.traced import APPLY, Choice, Constant, Input, Named, Node, Scalar, Traced, plain

UNDECIDED = Choice("undecided")
LIMITS = ("SMs", "budget")
PATIENCE = 20_000  # ranges looked at for one side of one parameter


class Flip(NamedTuple):
    """The first value, seen from today's, at which the verdict is another one.

    Where the search gave up, ``winner`` is UNDECIDED and ``at`` the first value that it did not settle: at
    every value nearer than that the verdict is today's.

    Attributes:
        parameter: ``"SMs"``, ``"budget"`` in bytes, or a shape parameter's name.
        at: the value.
        winner: the label of the option that wins there, as it reads there, or NEITHER.
        now: today's value.
    """

    parameter: str
    at: int
    winner: str
    now: Scalar

    @property
    def margin(self) -> float:
        """How far off it is as a share of today's value: -0.5 at half of it, 1.0 at twice."""
        return (self.at - self.now) / self.now


def flips(decision: Decision, over: Iterable[str] | None = None) -> tuple[Flip, ...]:
    """Where the verdict changes while every other value stays: for each parameter at most two, below first.

    At ``at`` the verdict is the new one, one step back towards today it is still the old one, and no
    nearer value has another. Options count as the same by their place, whatever their labels say. Shape
    parameters are whole numbers from 1 to 2^53 that keep the question's ``at_most``; limits are whole
    numbers from 1.

    Args:
        decision: the decision as it is today.
        over: which parameters: ``"SMs"``, ``"budget"``, shape parameters; by default all that it has. One
            made by hand from plain numbers has the two limits alone.

    Raises:
        UnknownName: the decision has no such parameter.

    Examples:
        >>> from ledger.decisions import decision
        >>> flips(decision("split-k"), ["split"])
        (Flip(parameter='split', at=2, winner='NEITHER', now=8),)
    """
    known = (*LIMITS, *(name for name, value in decision.shape.items() if _is_input(value)))
    found: list[Flip] = []
    for name in known if over is None else over:
        if name not in known:
            raise UnknownName(f"parameter of {decision.slug or decision.name}", name, known)
        found += _flips_in(decision, name)
    return tuple(found)


def nearest(found: Iterable[Flip]) -> Flip | None:
    """The flip with the least change as a share of today's value, None where there is none."""
    return min(found, key=lambda flip: abs(flip.margin), default=None)


# the search -------------------------------------------------------------------------------------------


def _is_input(value: Count) -> bool:
    return isinstance(value, Traced) and isinstance(value.node, Input)


def _flips_in(decision: Decision, name: str) -> Iterator[Flip]:
    limits = {"SMs": decision.sm_count, "budget": decision.budget}
    now = plain(limits[name] if name in LIMITS else decision.shape[name])
    lowest, highest = _domain(decision, name)
    winner_within = _settled(decision, name, lowest, highest)
    today = _place(decision)
    for sign, start, steps in (
        (-1, math.ceil(now), math.ceil(now) - lowest),
        (1, int(now), highest - int(now)),
    ):
        found = _first_change(winner_within, today, start, sign, steps)
        if found is not None:
            at, place = found
            yield Flip(name, at, _label(decision, name, at, place), now)


def _domain(decision: Decision, name: str) -> tuple[int, int]:
    """The least and the largest value that the parameter may have; of a limit, past which nothing changes."""
    options = (decision.option_a, decision.option_b)
    if name in LIMITS:
        lines = [plain(each.grid if name == "SMs" else each.on_chip) for each in options]
        return 1, math.ceil(max(lines)) + 1
    at_most = QUESTIONS[decision.slug].at_most if decision.slug in QUESTIONS else {}
    below = [plain(decision.shape[small]) for small, large in at_most.items() if large == name]
    above = [plain(decision.shape[large]) for small, large in at_most.items() if small == name]
    return max([1, *below]), min([MOST, *above])


def _place(decision: Decision) -> int:
    choice = decision.choice
    return NONE_WINS if choice is None else A_WINS if choice is decision.option_a else B_WINS


def _label(decision: Decision, name: str, at: int, place: int | None) -> Choice:
    """What the winner is called at that value: labels may have the shape in them."""
    if place is None:
        return UNDECIDED
    if place == NONE_WINS:
        return NEITHER
    options = (decision.option_a, decision.option_b)
    if name not in LIMITS and decision.slug in QUESTIONS:
        shape = {each: plain(value) for each, value in decision.shape.items()}
        options = QUESTIONS[decision.slug].options(**{**shape, name: at})
    return Choice(options[place].label)


def _first_change(
    winner_within: Callable[[int, int], int | None], today: int, start: int, sign: int, steps: int
) -> tuple[int, int | None] | None:
    """The nearest value with another winner, and that winner; None for the winner if patience ends there.

    Ranges are counted in steps away from ``start``. A single value with no winner is no shape: it is
    passed over.
    """
    open_ranges = [(1, steps)] if steps > 0 else []
    for _ in range(PATIENCE):
        if not open_ranges:
            return None
        near, far = open_ranges.pop()
        ends = (start + sign * near, start + sign * far)
        winner = winner_within(min(ends), max(ends))
        if winner is not None and winner != today:
            return ends[0], winner
        if winner is None and near < far:
            middle = math.isqrt(near * far) if far > 4 * near else (near + far) // 2
            open_ranges += [(middle + 1, far), (near, middle)]
    return (start + sign * open_ranges[-1][0], None) if open_ranges else None


def _settled(decision: Decision, name: str, lowest: int, highest: int) -> Callable[[int, int], int | None]:
    """The rule over a range of the parameter: which place wins all along it, None where that is open."""
    a, b = decision.option_a, decision.option_b
    forms = _Forms("" if name in LIMITS else decision.shape[name].node.key, lowest, highest)
    budget = forms.variable if name == "budget" else forms.of(decision.budget)
    sm_count = forms.variable if name == "SMs" else forms.of(decision.sm_count)
    a_fits, b_fits = (forms.at_most(forms.of(each.on_chip), budget) for each in (a, b))
    a_fills, b_fills = (forms.at_most(sm_count, forms.of(each.grid)) for each in (a, b))
    a_moves_less = forms.at_most(forms.of(a.bytes), forms.of(b.bytes))

    def winner_within(low: int, high: int) -> int | None:
        try:
            within = forms.steps_within(low, high)
            a_usable = _both(a_fits(within), a_fills(within))
            b_usable = _both(b_fits(within), b_fills(within))
            if a_usable is False or b_usable is False:
                known = {(True, False): A_WINS, (False, True): B_WINS, (False, False): NONE_WINS}
                return known.get((a_usable, b_usable))  # type: ignore[arg-type]  # an open one has no entry
            first = a_moves_less(within)
        except _Open:
            return None
        winner, usable = (A_WINS, a_usable) if first else (B_WINS, b_usable)
        return winner if first is not None and usable else None

    return winner_within


def _both(one: bool | None, other: bool | None) -> bool | None:
    """Whether both hold, None where that is open."""
    if one is False or other is False:
        return False
    return True if one and other else None


# ranges of expression trees ---------------------------------------------------------------------------

Range = tuple[Scalar, Scalar]
Form = Mapping[tuple[int, ...], Scalar]  # a sum: for each product of steps, by their numbers, its factor

_MONOTONE = {"+", "-", "*", "/", "//", "ceildiv", "max", "min", "<", "<=", ">", ">=", "ceil", "neg"}
_LONGEST = 64  # products in a sum that is multiplied out


class _Open(Exception):
    """A range within which something is not defined, or not bounded."""


class _Forms:
    """Trees as functions of one input, every other input at its value.

    A form is a sum of products of *steps*, with whole factors: the input itself is step 0, and whatever is
    not ``+ - *`` on whole numbers is a further step, equal ones once. So what two sides of a comparison
    have in common cancels, and a number that does not depend on the input is a form without steps.

    Args:
        key: the input's full name.
        lowest: the least value it may have, at least 1.
        highest: the largest.
    """

    def __init__(self, key: str, lowest: int, highest: int) -> None:
        self.variable: Form = {(0,): 1}
        self._key = key
        self._steps: list[tuple[str, tuple[Form, ...]]] = [("", ())]
        self._numbers: dict[object, int] = {}
        self._whole: list[bool] = [True]
        self._of_node: dict[int, Form] = {}
        self._domain = (lowest, highest)

    def of(self, value: Count) -> Form:
        """The form of a number, traced or plain."""
        return self._of(value.node) if isinstance(value, Traced) else _constant(value)

    def at_most(self, left: Form, right: Form) -> Callable[[list[Range]], bool | None]:
        """Whether one form is at most the other wherever its steps stay in the given ranges, None if open."""
        if self._is_whole(left) and self._is_whole(right):
            left, right = self._reduced(_plus(left, _times(right, {(): -1}))), {}

        def compare(steps: list[Range]) -> bool | None:
            low, high = _range(left, steps)
            least, most = _range(right, steps)
            return True if high <= least else False if low > most else None

        if _is_constant(left) and _is_constant(right):
            answer = compare([])
            return lambda steps: answer
        return compare

    def steps_within(self, low: int, high: int) -> list[Range]:
        """The range of every step while the input runs from low to high."""
        ranges: list[Range] = [(low, high)]
        for operator, operands in self._steps[1:]:
            ranges.append(_applied(operator, [_range(each, ranges) for each in operands]))
        return ranges

    def _of(self, node: Node) -> Form:
        if id(node) not in self._of_node:
            self._of_node[id(node)] = self._made(node)
        return self._of_node[id(node)]

    def _made(self, node: Node) -> Form:
        if isinstance(node, Named):
            return self._of(node.of)
        if isinstance(node, Input) and node.key == self._key:
            return self.variable
        if isinstance(node, Constant | Input):
            return _constant(node.value)
        operands = [self._of(each) for each in node.operands]
        if all(_is_constant(each) for each in operands):
            return _constant(node.value)
        if all(self._is_whole(each) for each in operands):
            if node.operator in {"+", "-"}:
                sign = 1 if node.operator == "+" else -1
                return _plus(operands[0], _times(operands[1], {(): sign}))
            if node.operator == "neg":
                return _times(operands[0], {(): -1})
            if node.operator == "*" and len(operands[0]) * len(operands[1]) <= _LONGEST:
                return _times(*operands)
        return self._step(node.operator, operands)

    def _step(self, operator: str, operands: list[Form]) -> Form:
        same = (operator, *(frozenset(each.items()) for each in operands))
        if same not in self._numbers:
            self._numbers[same] = len(self._steps)
            self._steps.append((operator, tuple(operands)))
            kept = operator != "/" and all(self._is_whole(each) for each in operands)
            self._whole.append(kept or operator == "ceil")
        return {(self._numbers[same],): 1}

    def _is_whole(self, form: Form) -> bool:
        """Whether it is a whole number for every value, so that sums may be taken apart exactly."""
        return all(
            isinstance(factor, int) and all(self._whole[step] for step in steps)
            for steps, factor in form.items()
        )

    def _reduced(self, form: Form) -> Form:
        """The form without the steps that all its products share, where they are positive throughout."""
        try:
            ranges = self.steps_within(*self._domain)
        except _Open:
            return form
        shared = [step for step in next(iter(form), ()) if ranges[step][0] > 0]
        for step in shared:
            if all(step in steps for steps in form):
                form = {_without(step, steps): factor for steps, factor in form.items()}
        return form


def _constant(value: Scalar) -> Form:
    return {(): value} if value or isinstance(value, float) else {}


def _is_constant(form: Form) -> bool:
    return not form or form.keys() == {()}


def _plus(one: Form, other: Form) -> Form:
    total = dict(one)
    for steps, factor in other.items():
        total[steps] = total.get(steps, 0) + factor
    return {steps: factor for steps, factor in total.items() if factor}


def _times(one: Form, other: Form) -> Form:
    total: dict[tuple[int, ...], Scalar] = {}
    for (steps, factor), (further, times) in product(one.items(), other.items()):
        key = tuple(sorted(steps + further))
        total[key] = total.get(key, 0) + factor * times
    return {steps: factor for steps, factor in total.items() if factor}


def _without(step: int, steps: tuple[int, ...]) -> tuple[int, ...]:
    at = steps.index(step)
    return steps[:at] + steps[at + 1 :]


def _range(form: Form, steps: list[Range]) -> Range:
    """Bounds of a form while each of its steps stays in its range."""
    least: Scalar = 0
    most: Scalar = 0
    for product_of, factor in form.items():
        low, high = factor, factor
        for step in product_of:
            below, above = steps[step]
            if low >= 0 and below >= 0:
                low, high = low * below, high * above
            else:
                corners = (low * below, low * above, high * below, high * above)
                low, high = min(corners), max(corners)
        least, most = least + low, most + high
    return least, most


def _applied(operator: str, operands: list[Range]) -> Range:
    """The range of one operation. Of a monotone one the corners bound it, rounded outward if not whole.

    Raises:
        _Open: a divisor may be zero, a number is too large for a float, or the corners bound nothing.
    """
    is_point = all(low == high for low, high in operands)
    divides = operator in {"/", "//", "ceildiv"}
    if (divides and operands[1][0] <= 0 <= operands[1][1]) or not (is_point or operator in _MONOTONE):
        raise _Open
    try:
        corners = [APPLY[operator](*corner) for corner in product(*operands)]
    except OverflowError:
        raise _Open from None
    if any(isinstance(corner, float) and not math.isfinite(corner) for corner in corners):
        raise _Open
    low, high = min(corners), max(corners)
    return (low, high) if is_point else (_outward(low, -1), _outward(high, 1))


def _outward(value: Scalar, sign: int) -> Scalar:
    """A bound past the value by more than any rounding of it; a whole number is its own bound."""
    return value + sign * abs(value) * 2.0**-50 if isinstance(value, float) else value
