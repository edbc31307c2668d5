from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rarg_tui import paths
from rarg_tui.errors import MissingPart

DIRECTORIES = [paths.cache_dir, paths.data_dir, paths.config_dir]


@pytest.fixture(autouse=True)
def temporary_files_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    paths._own_temporary_dir.cache_clear()
    yield place
    paths._own_temporary_dir.cache_clear()


def test_xdg_variables_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    found = [directory() for directory in DIRECTORIES]
    assert found == [tmp_path / name / "rarg" for name in ("CACHE", "DATA", "CONFIG")]
    assert not any(place.exists() for place in found), "naming a directory must not make it"


@pytest.mark.parametrize("directory", DIRECTORIES)
@pytest.mark.parametrize(
    "answer", ["~/.cache/rarg", "relative/rarg", RuntimeError("no home"), KeyError("uid")]
)
def test_without_a_known_home_a_private_temporary_place_is_named(
    directory: Callable[[], Path], answer: str | Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locate(*_: object, **__: object) -> str:
        if isinstance(answer, Exception):
            raise answer
        return answer

    for kind in ("cache", "data", "config"):
        monkeypatch.setattr(f"platformdirs.user_{kind}_dir", locate)
    place = directory()
    assert place.is_absolute()
    assert place.is_relative_to(tempfile.gettempdir())
    assert place.parent.stat().st_mode & 0o077 == 0
    assert paths.writable(place) == (place, "")


@pytest.mark.parametrize("home", [None, "", "/nonexistent", "relative", __file__])
def test_no_home_directory_stops_the_import_or_the_functions(home: str | None, tmp_path: Path) -> None:
    code = (
        "from rarg_tui import paths\n"
        "for name in ('cache', 'data', 'config'):\n"
        "    place = getattr(paths, name + '_dir')()\n"
        "    assert place.is_absolute(), place\n"
    )
    root = str(Path(paths.__file__).parent.parent)
    environment = {"PYTHONPATH": root, "TMPDIR": str(tmp_path)} | ({} if home is None else {"HOME": home})
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)


def test_a_writable_directory_is_made_for_this_user_alone(tmp_path: Path) -> None:
    wanted = tmp_path / "a" / "b"
    assert paths.writable(wanted) == (wanted, "")
    assert wanted.stat().st_mode & 0o077 == 0
    assert list(wanted.iterdir()) == [], "the probe must leave nothing behind"


def test_below_a_file_the_temporary_directory_serves_and_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file")
    place, notice = paths.writable(home / ".cache" / "rarg")
    assert place.is_dir()
    assert place.is_relative_to(tempfile.gettempdir())
    assert str(home / ".cache" / "rarg") in notice
    assert str(place) in notice
    assert paths.writable(home / ".cache" / "rarg") == (place, notice), "the same place each time"
    assert paths.writable(home / ".state" / "rarg")[0] != place, "directories of one name do not share it"


def test_a_closed_directory_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    real = tempfile.TemporaryFile

    def refuse(dir: Path) -> object:
        if dir == closed:
            raise PermissionError(13, "Permission denied")
        return real(dir=dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    place, notice = paths.writable(closed)
    assert place != closed
    assert "Permission denied" in notice


def test_dots_in_a_directory_do_not_lead_out_of_the_fallback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place, _ = paths.writable(tmp_path / "file" / ".." / ".." / ".." / "x")
    assert place.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve())


@pytest.mark.parametrize("squatter", ["file", "link", "open directory"])
def test_a_temporary_directory_that_others_may_hold_is_not_trusted(squatter: str, tmp_path: Path) -> None:
    usual = Path(tempfile.gettempdir(), f"rarg-{os.getuid()}")
    if squatter == "file":
        usual.write_text("")
    elif squatter == "link":
        usual.symlink_to(tmp_path)
    else:
        usual.mkdir()
        usual.chmod(0o777)
    place = paths._temporary_dir()
    assert place != usual
    assert place.is_dir()
    assert place.stat().st_mode & 0o077 == 0
    assert paths._temporary_dir() == place


def test_where_nothing_can_be_written_nothing_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "tmp"))
    (tmp_path / "file").write_text("")
    wanted = tmp_path / "file" / "cache"
    place, notice = paths.writable(wanted)
    assert place == wanted
    assert "nor can a temporary directory" in notice


def test_resources_are_found_in_this_checkout_or_installation() -> None:
    assert any(paths.resource_dir("themes").glob("*.toml"))
    assert (paths.resource_dir("sample_corpus") / "questions.jsonl").is_file()


def test_the_copy_in_the_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "rarg_tui" / "paths.py"))
    checkout, package = tmp_path / "themes", tmp_path / "rarg_tui" / "_resources" / "themes"
    checkout.mkdir()
    assert paths.resource_dir("themes") == checkout
    package.mkdir(parents=True)
    assert paths.resource_dir("themes") == package


def test_a_missing_resource_is_a_missing_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "rarg_tui" / "paths.py"))
    with pytest.raises(MissingPart, match="sample_corpus"):
        paths.resource_dir("sample_corpus")
