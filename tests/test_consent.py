from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rarg_tui import consent


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    consent._given.clear()
    yield
    consent._given.clear()


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8080/v1",
        "http://LOCALHOST./v1",
        "http://llm.localhost/v1",
        "http://127.0.0.1:1",
        "http://127.9.9.9/v1",
        "http://[::1]:8080/v1",
        "unix:///run/llm.sock",
    ],
)
def test_a_server_on_this_machine_needs_no_consent(address: str, tmp_path: Path) -> None:
    assert consent.is_local(address)
    assert not consent.needed(tmp_path, address)


@pytest.mark.parametrize(
    "address",
    [
        "https://api.openai.com/v1",
        "http://192.168.0.2:8080/v1",
        "http://localhost.example.org/v1",
        "http://127.0.0.1.example.org/v1",
        "http://notlocalhost/v1",
        "http://0.0.0.0/v1",
        "http://[fe80::1]/v1",
        "localhost:8080",
    ],
)
def test_any_other_server_does(address: str, tmp_path: Path) -> None:
    assert not consent.is_local(address)
    assert consent.needed(tmp_path, address)


def test_consent_is_for_one_corpus_and_one_host_and_lasts(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    consent.give(one, "https://API.example.org/v1")
    consent._given.clear()
    assert not consent.needed(one, "https://api.example.org:444/v2")
    assert consent.needed(one, "https://example.org/v1")
    assert consent.needed(other, "https://api.example.org/v1")


def test_the_same_directory_by_another_name(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    consent.give(tmp_path / "link", "https://example.org/v1")
    assert not consent.needed(tmp_path / "one", "https://example.org/v1")


def test_where_nothing_can_be_written_consent_lasts_as_long_as_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file" / "below"))
    consent.give(tmp_path, "https://example.org/v1")
    assert not consent.needed(tmp_path, "https://example.org/v1")


def test_the_sentence_says_what_goes_where_and_how_to_agree(tmp_path: Path) -> None:
    told = str(consent.ConsentNeeded(tmp_path, "https://example.org/v1"))
    for part in (str(tmp_path), "example.org", "not this machine", "--yes"):
        assert part in told
