"""HTML for values: what scripts, search, print and assistive technology find in the page."""

from __future__ import annotations

from ledger.traced import Traced, plain

# All else becomes an entity: Markdown reads some characters before it sees that they stand in a tag.
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;/()+-%'")


def number(text: str, value: object) -> str:
    """A number as ``<data>``: its exact value, and how it was computed where that is known."""
    how = _how(value)
    return f'<data class="value" value="{escape(str(plain(value)))}"{how}>{escape(text)}</data>'


def claim(text: str, value: object) -> str:
    """A claim in words, with the comparison behind it where that is known."""
    how = _how(value)
    return f'<span class="claim"{how}>{escape(text)}</span>'


def decided(text: str) -> str:
    """A word that numbers decided, a verdict, where it stands in a table or a box."""
    return f"<strong class='decided'>{escape(text)}</strong>"


def word(text: str, *, title: str = "", url: str = "") -> str:
    """A name or a foreign number, as a link where there is a place to go."""
    hint = f' title="{escape(title)}"' if title else ""
    if url:
        return f'<a class="cited" href="{escape(url)}"{hint}>{escape(text)}</a>'
    return f'<span class="word"{hint}>{escape(text)}</span>'


def marked(markup: str, note: str) -> str:
    """Markup that is wrong, with a visible note that says in what way."""
    return f'<mark class="finding">{markup} <small>{escape(note)}</small></mark>'


def escape(text: str) -> str:
    """Text as HTML, for an element or an attribute in double quotes, in which Markdown finds nothing."""
    return "".join(c if c in _SAFE or ord(c) > 127 else f"&#{ord(c)};" for c in text)


def _how(value: object) -> str:
    if not isinstance(value, Traced) or not value.inputs:
        return ""
    found = {each.name: each.source for each in value.inputs if each.source}
    sources = "".join(f"; {name}: {source}" for name, source in found.items())
    return f' title="{escape(value.derivation() + sources)}"'
