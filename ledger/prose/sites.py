"""Where on a page each call of the page language stands.

Jinja knows the line of a call, not its column, and counts lines from behind the front matter. So the
text that Jinja compiles gets a mark in each call, ``reads(_call(17), "67.1 MB")``, and the list of calls
says where number 17 stands; each output gets one as well, ``{{ _output(3, (…)) }}``. Each token of a tag
gets a line of its own: the lines that Jinja gives for its errors then say which token they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Environment

CALL, OUTPUT = "_call", "_output"  # what the marks are called in the compiled text


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


_LEXER = Environment().lexer


class CallNumber(int):
    """The number of a call, as it receives it ahead of its own arguments."""


@lru_cache(maxsize=4)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a template with their places; white space that Jinja drops is passed over.

    Raises:
        jinja2.TemplateSyntaxError: the text is not a template.
    """
    found = []
    position = 0
    for _, kind, value in _LEXER.tokeniter(text, None):
        position = max(position, text.find(value, position))
        found.append(Token(position, kind, value))
        position += len(value)
    return tuple(found)


@lru_cache(maxsize=4)
def tags(text: str) -> tuple[Tag, ...]:
    """The tags of a template that hold expressions or statements."""
    found = []
    inside: list[Token] = []
    start: Token | None = None
    for token in tokens(text):
        if token.kind in {"variable_begin", "block_begin"}:
            start, inside = token, []
        elif token.kind in {"variable_end", "block_end"} and start is not None:
            found.append(Tag(start.start, token.end, start.kind == "variable_begin", tuple(inside)))
            start = None
        elif start is not None and token.kind != "whitespace":
            inside.append(token)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a watched name: its name token, where its arguments begin, and its first text."""

    name: Token
    arguments: int  # offset just behind "(", or behind the name where there are no parentheses
    bare: bool  # without parentheses
    literal: Token | None  # the first argument, where that is a text

    @property
    def place(self) -> int:
        """Where messages point: at the first text, else at the name."""
        return self.literal.start if self.literal else self.name.start


def calls(tag: Tag, filters: Set[str], functions: Set[str]) -> Iterator[Call]:
    """The calls of watched filters and functions in a tag, from the left."""
    padded = [Token(tag.start, "", ""), *tag.tokens, Token(tag.end, "", ""), Token(tag.end, "", "")]
    for before, name, after, argument in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        is_filter = before.text == "|" and name.text in filters
        is_function = before.text not in {"|", "."} and name.text in functions and after.text == "("
        if name.kind == "name" and (is_filter or is_function):
            bare = after.text != "("
            literal = argument if not bare and argument.kind == "string" else None
            yield Call(name, name.end if bare else after.end, bare, literal)


@dataclass(frozen=True, slots=True)
class Marked:
    """The text that is compiled, its calls and outputs by number, and where each of its lines begins."""

    text: str
    calls: tuple[Call, ...]
    outputs: tuple[Tag, ...]
    lines: tuple[int, ...]


def mark(text: str, filters: Set[str], functions: Set[str], first: tuple[int, int]) -> Marked:
    """The text with each watched call and each output marked, and a line for each token of a tag.

    ``first`` holds the numbers of the first call and of the first output.

    Raises:
        jinja2.TemplateSyntaxError: the text is not a template.
    """
    found = tags(text)
    watched = [each for tag in found for each in calls(tag, filters, functions)]
    outputs = [tag for tag in found if tag.is_output and tag.tokens]
    ahead: dict[int, str] = {}  # what is put in ahead of a token that begins there
    behind: dict[int, str] = {}  # what is put in behind a token that ends there
    for number, call in enumerate(watched, first[0]):
        site = f"{CALL}({number})"
        behind[call.arguments] = f"({site})" if call.bare else f"{site}, "
    for number, tag in enumerate(outputs, first[1]):
        last = tag.tokens[-1].end
        ahead[tag.tokens[0].start] = f"{OUTPUT}({number}, ("
        behind[last] = behind.get(last, "") + "))"
    pieces: list[str] = []
    lines = [0]

    def copy(start: int, end: int) -> None:
        pieces.append(text[start:end])
        lines.extend(start + match.end() for match in re.finditer("\n", text[start:end]))

    done, inside = 0, False
    for token in tokens(text):
        copy(done, token.start)  # white space that Jinja drops
        is_end = token.kind in {"variable_end", "block_end"}
        inside = (inside or token.kind in {"variable_begin", "block_begin"}) and not is_end
        if inside and not token.kind.endswith(("whitespace", "_begin")):
            pieces.append("\n" + ahead.get(token.start, ""))
            lines.append(token.start)
        copy(token.start, token.end)
        if inside:
            pieces.append(behind.get(token.end, ""))
        done = token.end
    copy(done, len(text))
    return Marked("".join(pieces), tuple(watched), tuple(outputs), tuple(lines))
