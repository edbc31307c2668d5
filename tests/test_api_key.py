from __future__ import annotations

import sys
from types import ModuleType

import pytest

from rarg_tui import api_key

KEY = "sk-a-key-that-nobody-may-read"


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A keyring that holds one key."""
    module = ModuleType("keyring")
    kept = {("rarg", "api.example.org"): KEY}
    module.get_password = lambda service, user: kept.get((service, user))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return module


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch, keyring: ModuleType) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-other\n")
    assert api_key.find("https://api.example.org/v1") == ("sk-other", "OPENAI_API_KEY in the environment")


def test_from_the_keyring_for_this_host_alone(keyring: ModuleType) -> None:
    found = api_key.find("https://API.example.org:444/v1")
    assert found.value == KEY
    assert found.origin == "the system keyring (service rarg, user api.example.org)"
    assert api_key.find("https://example.org/v1") == ("", "")


def test_a_keyring_that_fails_is_none(keyring: ModuleType) -> None:
    def locked(service: str, user: str) -> str:
        raise RuntimeError("locked")

    keyring.get_password = locked  # type: ignore[attr-defined]
    assert api_key.find("https://api.example.org/v1").value == ""


def test_no_keyring_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert api_key.find("https://api.example.org/v1").value == ""
