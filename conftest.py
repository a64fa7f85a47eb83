"""Runs the examples in the book and in README.md along with the tests."""

from sybil import Sybil

from tests.fences import PARSERS

pages = Sybil(PARSERS, path="docs", patterns=["*.md"])
# `*/NAME` matches below the root only: a page in docs/ is taken once.
beside = Sybil(
    PARSERS,
    patterns=["README.md", "CONTRIBUTING.md"],
    excludes=["*/README.md", "*/CONTRIBUTING.md"],
)

pytest_collect_file = (pages + beside).pytest()
