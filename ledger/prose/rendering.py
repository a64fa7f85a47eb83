"""Rendering a page with every mistake found, not just the first.

A call that fails is reported and stands for nothing from there on; an unknown name likewise. What Jinja
itself cannot survive is reported, its tag is blanked, and the page is rendered again.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jinja2
from jinja2 import TemplateError, TemplateSyntaxError, Undefined

from ledger.errors import LedgerError, nearest
from ledger.prose.finding import Edit, Finding
from ledger.prose.language import BrokenCall, Outcome
from ledger.prose.markup import escape, marked
from ledger.prose.page import Page
from ledger.prose.sites import CALL, OUTPUT, Call, CallNumber, Tag, mark, tags

MOST_RETRIES = 50


@dataclass(frozen=True, kw_only=True)
class Names:
    """What pages can name: functions, filters and variables, and the names known only to a build."""

    functions: Mapping[str, Callable[..., Any]]
    filters: Mapping[str, Callable[..., Any]]
    variables: Mapping[str, Any] = field(default_factory=dict)
    late: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Use:
    """One use of the page language: where its text stands, what that says and what it has to say."""

    page: Page
    start: int
    kind: str
    said: str
    shows: str
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Output:
    """A ``{{ … }}`` of the page itself, with the values it gave, one for each time it was met."""

    tag: Tag
    values: tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A page's Markdown with its values in place, what was wrong with it, and what it used."""

    page: Page
    markdown: str
    findings: tuple[Finding, ...] = ()
    is_late: bool = False  # it names something that only the site generator knows
    uses: tuple[Use, ...] = ()
    outputs: tuple[Output, ...] = ()


def render(page: Page, names: Names, loader: jinja2.BaseLoader | None = None) -> Rendered:
    """The page rendered, with its findings sorted by place, each once."""
    if page.meta.get("render_macros") is False:
        return Rendered(page=page, markdown=page.body)
    body, lost = page.body, []
    for _ in range(MOST_RETRIES):
        attempt = _Attempt(page, names, loader)
        try:
            markdown = attempt.run(body)
            break
        except Exception as error:  # whatever a page's expression raises is the page's mistake
            finding, blanked = attempt.explain(error, body)
            lost.append(finding)
            markdown = ""
            if blanked is None:
                break
            body = blanked
    findings = tuple(sorted({*attempt.findings, *lost}))
    return Rendered(
        page=page,
        markdown=markdown or _apology(findings),
        findings=findings,
        is_late=attempt.is_late,
        uses=tuple(attempt.uses),
        outputs=attempt.outputs(),
    )


def _apology(findings: tuple[Finding, ...]) -> str:
    lines = "\n".join(f"- {escape(str(finding))}" for finding in findings)
    return f"# This page cannot be shown yet\n\n{lines}\n" if findings else ""


class _Attempt:
    """One rendering of one page: it owns the findings and knows which file each template is."""

    def __init__(self, page: Page, names: Names, loader: jinja2.BaseLoader | None) -> None:
        self.page = page
        self.findings: set[Finding] = set()
        self.is_late = False
        self.uses: list[Use] = []
        self._calls: list[tuple[Page, Call]] = []
        self._outputs: list[tuple[Page, Tag, list[object]]] = []
        self._lines: dict[str | None, tuple[int, ...]] = {}
        self._by_file: dict[str | None, str | None] = {}
        self._pages: dict[str | None, Page] = {None: page}
        self.environment = _Environment(self, loader)
        self.environment.filters |= {n: self._guarded(n, f) for n, f in names.filters.items()}
        functions = {n: self._guarded(n, f) for n, f in names.functions.items()}
        late = {name: _late_for(self)(name=name) for name in names.late}
        self._filters, self._functions = names.filters.keys(), functions.keys()
        marks = {CALL: CallNumber, OUTPUT: self._output}
        self.environment.globals |= {**late, **names.variables, **functions, **marks}
        self._known = {*names.functions, *names.variables, *names.late, *page.meta}

    def run(self, body: str) -> str:
        """The body rendered; raises what Jinja raises."""
        filters = self.environment.filters
        for tag, name in self._unknown_filters(body):
            near = nearest(name, filters)
            self._report(self.page, tag, "broken", f"unknown filter {name!r}", _did_you_mean(near))
            filters[name] = lambda value, *rest, **named: _Missing(name="")
        return self.environment.from_string(body).render(**self.page.meta)

    def marked(self, source: str, name: str | None, filename: str | None) -> str:
        """A template's text as it is compiled, remembering where each site and each line stands."""
        page = self._pages.setdefault(name, Page(name or "", source))
        self._by_file[filename] = name
        first = len(self._calls), len(self._outputs)
        text = mark(source, self._filters, self._functions, first)
        self._calls += [(page, call) for call in text.calls]
        self._outputs += [(page, tag, []) for tag in text.outputs]
        self._lines[name] = text.lines
        return text.text

    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the page itself, in order."""
        return tuple(Output(tag=t, values=tuple(values)) for p, t, values in self._outputs if p is self.page)

    def explain(self, error: Exception, body: str) -> tuple[Finding, str | None]:
        """The finding for what stopped the rendering, and the body without the tag to blame."""
        page, offset = self._place_of(error)
        finding = self._finding(page, offset, "broken", _message(error), _mend(error))
        tag = self._tag_at(offset - page.body_start, body) if page is self.page else None
        if tag is None or not tag.is_output:
            return finding, None
        blank = "".join(c if c == "\n" else " " for c in body[tag.start : tag.end])
        return finding, body[: tag.start] + blank + body[tag.end :]

    def unknown(self, name: str, owner: object) -> None:
        """Report an unknown name, or attribute of its owner, where the running template uses it."""
        if owner is jinja2.utils.missing:
            message, known = f"unknown name {name!r}", self._known
        else:
            message, known = f"{type(owner).__name__} has no {name!r}", {*_known_of(owner)}
        page, offset = self._running_place()
        self._report(
            page, self._word_at(page, offset, name), "broken", message, _did_you_mean(nearest(name, known))
        )

    def _guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its mistakes turned into findings at the place of the call."""

        def call(*given: Any, **named: Any) -> Any:
            number = next((a for a in given if isinstance(a, CallNumber)), None)
            arguments = [a for a in given if not isinstance(a, CallNumber)]
            missing = [value for value in (*arguments, *named.values()) if isinstance(value, _Missing)]
            for value in missing:
                value.used()
            if missing:
                return missing[0]
            try:
                result = function(*arguments, **named)
            except BrokenCall as error:
                return self._broken(number, str(error), error.mend)
            except LedgerError as error:
                return self._broken(number, str(error), f"correct the call of {name}")
            except Exception as error:
                return self._broken(number, f"{name}: {_message(error)}", f"correct the call of {name}")
            if isinstance(result, Outcome):
                return self._outcome(number, result)
            return result

        return call

    def _output(self, number: int, value: object) -> object:
        """Note what an output gives; the mark around each output calls this."""
        self._outputs[number][2].append(value)
        return value

    def _outcome(self, number: CallNumber | None, outcome: Outcome) -> str:
        page, start = self._place(number)
        use = Use(
            page=page,
            start=start,
            kind=outcome.kind,
            said=outcome.said,
            shows=outcome.shows,
            code=outcome.code,
        )
        self.uses.append(use)
        if outcome.code:
            edit = None if number is None else _rewritten(self._calls[number], outcome)
            self._report(page, start, outcome.code, outcome.message, outcome.mend, edit)
        return Shown(outcome.markup)

    def _broken(self, number: CallNumber | None, message: str, mend: str) -> _Missing:
        self._report(*self._place(number), "broken", message, mend)
        return _Missing(name=message)

    def _place(self, number: CallNumber | None) -> tuple[Page, int]:
        if number is None:
            return self._running_place()
        page, call = self._calls[number]
        return page, page.body_start + call.place

    def _report(
        self, page: Page, offset: int, code: str, message: str, mend: str, edit: Edit | None = None
    ) -> None:
        self.findings.add(self._finding(page, offset, code, message, mend, edit))

    def _finding(
        self, page: Page, offset: int, code: str, message: str, mend: str, edit: Edit | None = None
    ) -> Finding:
        line, column = page.place(offset)
        return Finding(page.path, line, column, code, message, mend, edit)

    def _running_place(self) -> tuple[Page, int]:
        """Where the template that runs just now stands."""
        frame = sys._getframe(1)
        while frame is not None:
            template = frame.f_globals.get("__jinja_template__")
            if template is not None:
                return self._compiled_place(template.name, template.get_corresponding_lineno(frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]  # None ends the walk
        return self.page, self.page.body_start

    def _place_of(self, error: Exception) -> tuple[Page, int]:
        """Where the template that raised an error stands."""
        if isinstance(error, TemplateSyntaxError):
            return self._compiled_place(error.name, error.lineno)
        found = (self.page, self.page.body_start)
        traceback = error.__traceback__
        while traceback is not None:
            # Jinja puts a frame in place of a template's: its file, and the line in the compiled text.
            if "__jinja_exception__" in traceback.tb_frame.f_globals:
                name = self._by_file.get(traceback.tb_frame.f_globals["__file__"])
                found = self._compiled_place(name, traceback.tb_lineno)
            traceback = traceback.tb_next
        return found

    def _compiled_place(self, name: str | None, line: int) -> tuple[Page, int]:
        """The place of a line of a template's compiled text; of its source, if it could not be marked."""
        page = self._pages.get(name, self.page)
        lines = self._lines.get(name)
        if lines is None:
            return page, page.line_span(line + page.text.count("\n", 0, page.body_start))[0]
        return page, page.body_start + lines[min(line, len(lines)) - 1]

    def _tag_at(self, offset: int, body: str) -> Tag | None:
        try:
            found = tags(body)
        except TemplateError:
            return None
        index = bisect_right(found, offset, key=lambda tag: tag.start) - 1
        return found[index] if index >= 0 and offset < found[index].end else None

    def _word_at(self, page: Page, offset: int, name: str) -> int:
        """Where a name stands in the tag at an offset, or that offset."""
        tag = self._tag_at(offset - page.body_start, page.body)
        words = [token.start + page.body_start for token in tag.tokens if token.text == name] if tag else []
        return words[0] if words else offset

    def _unknown_filters(self, body: str) -> Iterator[tuple[int, str]]:
        for tag in tags(body):
            for before, name in zip(tag.tokens, tag.tokens[1:], strict=False):
                if before.text == "|" and name.text not in self.environment.filters:
                    yield name.start + self.page.body_start, name.text


class _Environment(jinja2.Environment):
    """Jinja as the site generator sets it up, with sites marked and unknown names reported."""

    def __init__(self, attempt: _Attempt, loader: jinja2.BaseLoader | None) -> None:
        self.attempt = attempt
        # A page is compiled to be rendered once: nothing is worth its optimising.
        super().__init__(loader=loader, undefined=_undefined_for(attempt), optimized=False)

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        """The text that is compiled in place of the source."""
        return self.attempt.marked(str(source), name, filename)


class _Missing(Undefined):
    """Stands for what could not be had; its absence is reported already, so that every use is silent."""

    __slots__ = ()

    def used(self) -> None:
        """Called whenever the page makes anything of it."""

    def _nothing(self, *_: object, **__: object) -> Any:
        self.used()
        return _Missing(name=self._undefined_name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._nothing()

    def __str__(self) -> str:
        self.used()
        return marked("", self._undefined_name) if self._undefined_name else ""

    def __iter__(self) -> Iterator[Any]:
        self.used()
        return iter(())

    def __len__(self) -> int:
        self.used()
        return 0

    def __bool__(self) -> bool:
        self.used()
        return False

    def __hash__(self) -> int:
        return id(type(self))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _nothing
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = _nothing
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __call__ = __getitem__ = _nothing


def _undefined_for(attempt: _Attempt) -> type[_Missing]:
    """The class of unknown names: each use is reported where it stands."""

    class Unknown(_Missing):
        __slots__ = ()

        def used(self) -> None:
            attempt.unknown(str(self._undefined_name), self._undefined_obj)

    return Unknown


def _late_for(attempt: _Attempt) -> type[_Missing]:
    """The class of names that only the site generator knows: a use makes the page late."""

    class Late(_Missing):
        __slots__ = ()

        def used(self) -> None:
            attempt.is_late = True

    return Late


class Shown(str):
    """The markup of a use of the page language, told from any other text that a page puts out."""

    __slots__ = ()


def _rewritten(found: tuple[Page, Call], outcome: Outcome) -> Edit | None:
    """The edit that makes a reading's text say what it has to; None where that is for the author."""
    page, call = found
    if not outcome.shows or outcome.code not in {"drift", "flip"} or call.literal is None:
        return None
    quote = call.literal.text[0]
    text = outcome.shows.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    start = page.body_start + call.literal.start
    return Edit(start, start + len(call.literal.text), f"{quote}{text}{quote}")


def _message(error: Exception) -> str:
    text = (error.message if isinstance(error, TemplateSyntaxError) else str(error)) or type(error).__name__
    return text if isinstance(error, TemplateError | LedgerError) else f"{text} ({type(error).__name__})"


def _mend(error: Exception) -> str:
    if "comment tag" in str(error):
        return "{# begins a comment of Jinja's: write a heading's id with a blank, { #id }"
    return "mend this tag"


def _did_you_mean(near: str | None) -> str:
    return f"did you mean {near!r}?" if near else "define it, or write another name"


def _known_of(owner: object) -> list[str]:
    names = owner.keys() if isinstance(owner, Mapping) else dir(owner)
    return [name for name in names if isinstance(name, str) and not name.startswith("_")]
