"""What all tests share: a clean environment, real data where it is given, and an awkward corpus."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import hostile

_VARIABLES = ("NO_COLOR", "COLORTERM", "FORCE_COLOR")
_PREFIXES = ("TEXTUAL", "RARG_", "OPENAI_")
_REAL_DATA = "RARG_TEST_DATA"


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the person who runs the tests, and nothing written outside a temporary directory."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name in _VARIABLES or (name.startswith(_PREFIXES) and name != _REAL_DATA):
                patch.delenv(name)
        for kind in ("CACHE", "DATA", "CONFIG", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public test collections; the test is skipped where there is none."""
    named = os.environ.get(_REAL_DATA, "")
    if not named or not Path(named).is_dir():
        pytest.skip(f"{_REAL_DATA} names no folder of test collections")
    return Path(named)


@pytest.fixture
def hostile_corpus(tmp_path: Path) -> hostile.Hostile:
    """The corpus of :mod:`tests.hostile`, freshly written."""
    root = tmp_path / "hostile"
    root.mkdir()
    return hostile.make(root)
