"""The snapshot plugin hands its directory on in the environment, which tests/conftest.py cleans."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

_NAME = "TEXTUAL_SNAPSHOT_TEMPDIR"
_GIVEN = pytest.StashKey[str]()


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Remember the directory: the plugin has named it by now, and no fixture has run."""
    config.stash[_GIVEN] = os.environ.get(_NAME, "")


@pytest.fixture(scope="session", autouse=True)
def snapshot_directory(clean_environment: None, pytestconfig: pytest.Config) -> Iterator[None]:
    """Put the directory back."""
    with pytest.MonkeyPatch.context() as patch:
        if pytestconfig.stash.get(_GIVEN, ""):
            patch.setenv(_NAME, pytestconfig.stash[_GIVEN])
        yield
