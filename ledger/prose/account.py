"""Every numeral, value and fence of a page accounted for: typed, unread and untested."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import TemplateError

from ledger.prose.fences import read
from ledger.prose.finding import Edit, Finding
from ledger.prose.numeral import numerals, stated
from ledger.prose.page import Page
from ledger.prose.rendering import Output, Rendered, Shown
from ledger.prose.sentences import Place, placed
from ledger.prose.sites import Tag
from ledger.traced import dimension_of, plain
from ledger.units import write

_COMPUTE = 'compute it with {{ … | reads("…") }}, cite it, or declare it plain'
# A tag of a page that is no template, or what begins one.
_TAG = re.compile(r"\{\{[^{}]{0,999}\}\}|\{%[^{}]{0,999}%\}|\{\#[^{}]{0,999}\#\}|\{[{%\#]")
_TITLE = re.compile(r'\btitle="([^"\n]*)"')
_CLAIM = 'state it as a claim, {{ (…) | holds("…") }}'


def account(page: Page, rendered: Rendered) -> Iterator[Finding]:
    """The findings of what nobody vouches for, on a page that has been rendered."""
    yield from _fences(page)
    yield from _front_matter(page)
    try:
        found = placed(page.body)
    except TemplateError:  # reported by the rendering
        found = placed(_TAG.sub(lambda tag: re.sub(r"[^\n]", " ", tag[0]), page.body))
    outputs = {output.tag.start: output for output in rendered.outputs}
    for mark, place in found:
        if place is Place.CODE:
            continue
        if not mark.is_output:
            yield _typed(page, page.body_start + mark.start, mark.text)
        elif place is Place.SENTENCE and mark.start in outputs:
            yield from _unread(page, outputs[mark.start])


def _typed(page: Page, offset: int, text: str) -> Finding:
    line, column = page.place(offset)
    mend = _CLAIM if text[0].isalpha() else _COMPUTE
    return Finding(page.path, line, column, "typed", f"nobody vouches for {text!r}", mend)


def _unread(page: Page, output: Output) -> Iterator[Finding]:
    value = next((v for v in output.values if _is_number(v)), None)
    if value is None:
        return
    offset = page.body_start + output.tag.start
    line, column = page.place(offset)
    texts = {_reading(each) for each in output.values}
    edit = _with_reading(page, output.tag, texts.pop()) if len(texts) == 1 and _reading(value) else None
    mend = (
        f"add its reading, | reads({_reading(value)!r})"
        if _reading(value)
        else "give the value itself a reading"
    )
    yield Finding(page.path, line, column, "unread", "a value in a sentence has no reading", mend, edit)


def _is_number(value: object) -> bool:
    if isinstance(value, Shown) or isinstance(plain(value), bool):
        return False
    if isinstance(value, str):
        return "\n" not in value and not set("<|") & set(value) and any(True for _ in numerals(value))
    return isinstance(plain(value), int | float)


def _reading(value: object) -> str:
    number = plain(value)
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return write(number, dimension_of(value)) if is_number else ""


def _with_reading(page: Page, tag: Tag, text: str) -> Edit:
    """The edit that adds a reading behind an output's expression, in parentheses where it needs them."""
    start = page.body_start + tag.tokens[0].start
    end = page.body_start + tag.tokens[-1].end
    expression = page.text[start:end]
    is_one = all(
        t.kind != "operator" or t.text in {".", "(", ")", "[", "]", ",", "|", "="} for t in tag.tokens
    )
    is_one = is_one and not any(t.text in {"if", "and", "or", "not", "in", "is"} for t in tag.tokens)
    whole = expression if is_one else f"({expression})"
    return Edit(start, end, f'{whole} | reads("{text}")')


def _front_matter(page: Page) -> Iterator[Finding]:
    """The numerals of the texts in the front matter that a reader sees: title and description."""
    for offset, text in page.shown_meta():
        for numeral in stated(text):
            yield _typed(page, offset + numeral.start, numeral.text)


def _fences(page: Page) -> Iterator[Finding]:
    for fence in read(page.text):
        for title in _TITLE.finditer(page.text, *page.line_span(fence.first)):
            for numeral in stated(title[1]):
                yield _typed(page, title.start(1) + numeral.start, numeral.text)
        if fence.problem:
            number, message = fence.problem
            yield Finding(page.path, number, 1, "untested", message, "mend the fence")
        elif not fence.is_accounted:
            mend = "run it as python, pycon or console, or say why not: <!-- not run: the reason -->"
            message = f"the {fence.language or 'unnamed'} fence is neither run nor marked"
            yield Finding(page.path, fence.first, 1, "untested", message, mend)
