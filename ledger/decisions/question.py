"""A question before its shape is known: what every module of a decision defines once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, get_type_hints

from ledger.errors import BadValue, UnknownName
from ledger.option import Count, Option
from ledger.traced import Input, Traced, given
from ledger.units import BYTES, KIB, PLAIN, Dimension

Items = Annotated[Count, PLAIN]
"""A shape parameter that counts rows, columns, heads, elements or splits."""
Bytes = Annotated[Count, BYTES]
"""A shape parameter that is the size of one element, in bytes."""
KiB = Annotated[Count, KIB]
"""A shape parameter that is a size in units of 1024 bytes."""

MOST = 2**53  # beyond it a page's script could not count exactly


@dataclass(frozen=True, kw_only=True)
class Question:
    """A named question, and the decision function that answers it for a shape.

    Args:
        slug: the short name that commands and pages use.
        options: the decision function: keyword shape parameters with defaults, to the two options.
        name: the question with its shape written in, for tables.
        note: one line on what the decision is about.
        finer: which option cuts the work finer.
        at_most: shape parameters that another one bounds: ``{"split": "k"}``.
        tiles: shape parameters that the kernel's author chooses, with the values worth trying, ascending.
        budget_kib: a budget below the SM's shared memory that the kernel sets itself, in units of 1024 bytes.
    """

    slug: str
    options: Callable[..., tuple[Option, Option]]
    name: Callable[[Mapping[str, Count]], str]
    note: str
    finer: Literal["a", "b"]
    at_most: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    budget_kib: int | None = None

    @property
    def summary(self) -> str:
        """The first line of the decision function's docstring, as plain text."""
        return inspect.cleandoc(self.options.__doc__ or "").partition("\n")[0].replace("``", "")

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The shape parameters with their defaults, which are the reference's."""
        return {name: each.default for name, each in inspect.signature(self.options).parameters.items()}

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """What each shape parameter counts."""
        hints = get_type_hints(self.options, include_extras=True)
        return {name: hints[name].__metadata__[0] for name in self.parameters}

    def shape(self, values: Mapping[str, object]) -> dict[str, Traced]:
        """Every shape parameter as a traced input: the values given, else the defaults.

        Raises:
            UnknownName: no such parameter.
            BadValue: not a whole number from 1 to 2^53, or above the parameter that bounds it.
        """
        shape = self.inputs(values)
        for name, bound in self.at_most.items():
            if shape[name] > shape[bound]:
                raise BadValue(f"{self.slug}: {name}", f"at most {bound} = {shape[bound]}", shape[name])
        return shape

    def inputs(self, values: Mapping[str, object]) -> dict[str, Traced]:
        """Every shape parameter as ``shape`` gives it, whether or not one is above what bounds it.

        Raises:
            UnknownName: no such parameter.
            BadValue: not a whole number from 1 to 2^53.
        """
        for name in values:
            if name not in self.parameters:
                raise UnknownName(f"parameter of {self.slug}", name, self.parameters)
        return {name: self._input(name, values) for name in self.parameters}

    def _input(self, name: str, values: Mapping[str, object]) -> Traced:
        """One shape parameter, traced; only a default gives way to an override."""
        subject, dimension = f"{self.slug}: {name}", self.dimensions[name]
        if name in values:
            value = whole(subject, values[name])
            return Traced(value, Input(name, value, self.slug, dimension), dimension)
        default = given(name, self.parameters[name], scope=self.slug, dimension=dimension)
        whole(subject, default)
        return default


def whole(subject: str, value: Any) -> int:
    """The value, traced or plain, as an ``int``.

    Raises:
        BadValue: it is not a whole number from 1 to 2^53.
    """
    number = value.value if isinstance(value, Traced) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise BadValue(subject, f"a whole number from 1 to 2^53 ({MOST})", repr(value))
    if not 1 <= number <= MOST or number != int(number):
        raise BadValue(subject, f"a whole number from 1 to 2^53 ({MOST})", repr(value))
    return int(number)
