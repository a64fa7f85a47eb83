"""The six decisions of the book: one module each, a function from shape to options, plain arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ledger.decision import Decision, require
from ledger.decisions import (
    elementwise,
    gemm_epilogue,
    norm_projection,
    norm_quant,
    norm_rope_quant,
    split_k,
    split_kv,
    swiglu,
)
from ledger.decisions.question import Question
from ledger.errors import UnknownName
from ledger.machine import BYTES_PER_KIB, DEFAULT, Machine, machine
from ledger.option import Count
from ledger.traced import given, smallest
from ledger.units import BYTES, KIB

# The reference's six, in its order: what ``build`` gives. A decision of the book's own goes behind them.
_REFERENCE = (elementwise, norm_rope_quant, gemm_epilogue, split_k, split_kv, norm_projection)
_MODULES = (*_REFERENCE, norm_quant, swiglu)

QUESTIONS: Mapping[str, Question] = MappingProxyType({m.QUESTION.slug: m.QUESTION for m in _MODULES})


def question(slug: str) -> Question:
    """The question with this slug.

    Raises:
        UnknownName: there is none; the message names the nearest.
    """
    if slug not in QUESTIONS:
        raise UnknownName("decision", str(slug), QUESTIONS)
    return QUESTIONS[slug]


def decision(
    slug: str, *, machine: str | Machine = DEFAULT, budget: int | None = None, **shape: object
) -> Decision:
    """A decision at a shape on a machine, every number traced.

    Args:
        slug: which decision, ``split-k``.
        machine: a machine of the catalogue by key or name, or one made with ``having``.
        budget: bytes one block may keep on chip; by default the machine's shared memory per SM, or what
            the question sets itself where that is less.
        shape: shape parameters by name; those left out keep the reference's value.

    Raises:
        UnknownName: no such decision, machine or parameter.
        BadValue: a parameter or the budget is not what its place allows.
        MissingFigure: the machine lacks a figure that the rule needs.

    Examples:
        >>> decision("split-k", split=1).reason
        'neither option both fits on chip and fills the machine'
    """
    asked = question(slug)
    gpu = _machine(machine)
    traced = asked.shape(shape)
    option_a, option_b = asked.options(**traced)
    return Decision(
        name=asked.name(traced),
        option_a=option_a,
        option_b=option_b,
        budget=budget_of(asked, gpu, budget),
        bytes_per_us=gpu.bytes_per_us,
        sm_count=gpu.sm_count,
        note=asked.note,
        slug=slug,
        finer=asked.finer,
        machine=gpu,
        shape=MappingProxyType(traced),
    )


def build(bandwidth_gbs: float, sm_count: int) -> list[Decision]:
    """The six decisions at the reference's shapes, on an H200 with another bandwidth and SM count.

    Raises:
        BadValue: the bandwidth is not a positive finite number, or the SM count not a positive whole one.
    """
    gpu = machine(DEFAULT).having(bandwidth_gbs=bandwidth_gbs, sm_count=sm_count)
    return [decision(module.QUESTION.slug, machine=gpu) for module in _REFERENCE]


_machine = machine  # ``decision`` has a parameter of that name


def budget_of(asked: Question, gpu: Machine, budget: int | None = None) -> Count:
    """Bytes one block may keep on chip: those given, else the machine's, or the question's own if less.

    Raises:
        BadValue: the budget is not a finite number above 0.
        MissingFigure: the machine's shared memory per SM is not known.
    """
    if budget is not None:
        require(f"{asked.slug}: budget", budget, above=0)
        return given("budget", budget, scope=asked.slug, dimension=BYTES, source="the caller")
    if asked.budget_kib is None:
        return gpu.smem_per_sm
    own = given("budget_kib", asked.budget_kib, scope=asked.slug, dimension=KIB, source="the question")
    return smallest(own * BYTES_PER_KIB, gpu.smem_per_sm)
