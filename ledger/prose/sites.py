"""Where on a page each call of the page language stands.

Jinja knows the line of a call, not its column, and counts lines from behind the front matter. So the
text that Jinja compiles gets a mark in each call, ``reads(_site(17), "67.1 MB")``, and the list of sites
says where number 17 stands. Each token of a tag gets a line of its own as well: the lines that Jinja
gives for its errors then say which token they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from jinja2 import Environment

MARK = "_site"


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a template with its place in the text."""

    start: int
    kind: str
    text: str

    @property
    def end(self) -> int:
        """Where the text behind the token begins."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Tag:
    """One ``{{ … }}`` or ``{% … %}``: where it begins and ends, and the tokens inside."""

    start: int
    end: int
    is_output: bool
    tokens: tuple[Token, ...]


class SiteNumber(int):
    """The number of a site, as calls receive it ahead of their own arguments."""


def tokens(text: str, environment: Environment) -> Iterator[Token]:
    """The tokens of a template with their places; white space that Jinja drops is passed over.

    Raises:
        jinja2.TemplateSyntaxError: the text is not a template.
    """
    position = 0
    for _, kind, value in environment.lexer.tokeniter(text, None):
        while not text.startswith(value, position):
            position += 1
        yield Token(position, kind, value)
        position += len(value)


def tags(text: str, environment: Environment) -> Iterator[Tag]:
    """The tags of a template that hold expressions or statements."""
    inside: list[Token] = []
    start: Token | None = None
    for token in tokens(text, environment):
        if token.kind in {"variable_begin", "block_begin"}:
            start, inside = token, []
        elif token.kind in {"variable_end", "block_end"} and start is not None:
            yield Tag(start.start, token.end, start.kind == "variable_begin", tuple(inside))
            start = None
        elif start is not None and token.kind != "whitespace":
            inside.append(token)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a watched name: its name token, where its arguments begin, and its place for messages."""

    name: Token
    arguments: int  # offset just behind "(", or behind the name where there are no parentheses
    bare: bool  # without parentheses
    place: int  # of the first argument where that is a text, else of the name


def calls(tag: Tag, filters: Set[str], functions: Set[str]) -> Iterator[Call]:
    """The calls of watched filters and functions in a tag, from the left."""
    padded = [Token(tag.start, "", ""), *tag.tokens, Token(tag.end, "", ""), Token(tag.end, "", "")]
    for before, name, after, argument in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        is_filter = before.text == "|" and name.text in filters
        is_function = before.text not in {"|", "."} and name.text in functions and after.text == "("
        if name.kind == "name" and (is_filter or is_function):
            bare = after.text != "("
            place = argument.start if not bare and argument.kind == "string" else name.start
            yield Call(name, name.end if bare else after.end, bare, place)


@dataclass(frozen=True, slots=True)
class Marked:
    """The text that is compiled, the place of each site, and the place where each of its lines begins."""

    text: str
    sites: tuple[int, ...]
    lines: tuple[int, ...]


def mark(text: str, environment: Environment, filters: Set[str], functions: Set[str], first: int) -> Marked:
    """The text with a mark in each watched call, numbered from ``first``, and a line for each token of a tag.

    Raises:
        jinja2.TemplateSyntaxError: the text is not a template.
    """
    found = [each for tag in tags(text, environment) for each in calls(tag, filters, functions)]
    marks = {}
    for number, call in enumerate(found, first):
        site = f"{MARK}({number})"
        marks[call.arguments] = f"({site})" if call.bare else f"{site}, "
    pieces: list[str] = []
    lines = [0]

    def copy(start: int, end: int) -> None:
        pieces.append(text[start:end])
        lines.extend(start + match.end() for match in re.finditer("\n", text[start:end]))

    done, inside = 0, False
    for token in tokens(text, environment):
        copy(done, token.start)  # white space that Jinja drops
        inside = inside and token.kind not in {"variable_end", "block_end"}
        if inside and token.kind != "whitespace":
            pieces.append("\n")
            lines.append(token.start)
        copy(token.start, token.end)
        if inside:
            pieces.append(marks.get(token.end, ""))
        inside = inside or token.kind in {"variable_begin", "block_begin"}
        done = token.end
    copy(done, len(text))
    return Marked("".join(pieces), tuple(call.place for call in found), tuple(lines))
