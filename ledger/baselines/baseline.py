"""A baseline: the rule by which a shipping library makes a choice, and the answer it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Request = TypeVar("Request")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a library's rule says for one request.

    Args:
        splits: shares that the longest walk is cut into; 1 where it stays whole.
        why: the numbers that decided, in one line.
        mode: the kernel chosen where the rule chooses among kernels, ``3D``; empty for a count alone.
    """

    splits: int
    why: str
    mode: str = ""

    def __str__(self) -> str:
        """The answer as tables write it: ``7``, ``2D``, ``v2:4``."""
        if not self.mode:
            return str(self.splits)
        return self.mode if self.splits == 1 else f"{self.mode}:{self.splits}"


@dataclass(frozen=True, kw_only=True)
class Baseline(Generic[Request]):
    """A shipping library's rule, re-implemented from a description of it.

    Args:
        name: the short name that commands and pages use.
        version: the state of the library that was read.
        source: the key of that text among the book's sources.
        answer: the rule.
    """

    name: str
    version: str
    source: str
    answer: Callable[[Request], Answer]
