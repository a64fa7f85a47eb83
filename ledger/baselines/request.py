"""A request of decode attention, as the libraries' rules see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from ledger.errors import BadValue
from ledger.traced import plain

_MOST: Mapping[str, int] = {
    "batch": 65_535,  # the last dimension of a CUDA grid
    "sm_count": 2**16,
    "head_dim": 2**16,
    "query_heads": 2**16,
    "kv_heads": 2**16,
    "query_tokens": 2**20,
    "keys": 2**31 - 1,  # the libraries count keys in 32 bits
    "element_bytes": 8,
}


@dataclass(frozen=True, kw_only=True)
class Decode:
    """A batch of equally long requests, each asking a few new tokens about all its keys.

    Args:
        batch: requests.
        query_heads: heads of the queries, a multiple of kv_heads.
        kv_heads: heads of the keys and values.
        head_dim: elements of a key, and of a value.
        keys: keys of each request.
        sm_count: SMs of the GPU.
        query_tokens: new tokens of each request, 1 in plain decoding.
        element_bytes: bytes of a key or value element; 1 is fp8.

    Raises:
        BadValue: a field is not a whole number in its range, or the query heads do not share out evenly.
    """

    batch: int
    query_heads: int
    kv_heads: int
    head_dim: int
    keys: int
    sm_count: int
    query_tokens: int = 1
    element_bytes: int = 2

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _whole(each.name, getattr(self, each.name)))
        if self.query_heads % self.kv_heads:
            allowed = f"a multiple of kv_heads = {self.kv_heads}"
            raise BadValue("decode: query_heads", allowed, self.query_heads)

    @property
    def group(self) -> int:
        """Query heads that share one key-value head."""
        return self.query_heads // self.kv_heads

    @property
    def query_rows(self) -> int:
        """Rows of one key-value head's product when the query heads that share it are packed."""
        return self.query_tokens * self.group

    @property
    def lengths(self) -> tuple[int, ...]:
        """The keys of each request in turn."""
        return (self.keys,) * self.batch


def _whole(name: str, value: object) -> int:
    number = plain(value)
    good = isinstance(number, int | float) and not isinstance(number, bool) and 1 <= number <= _MOST[name]
    if not good or number != int(number):
        raise BadValue(f"decode: {name}", f"a whole number from 1 to {_MOST[name]}", repr(number))
    return int(number)
