"""What several tests stand on."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds the book and the library."""
    return Path(__file__).parents[1]
