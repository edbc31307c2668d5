from __future__ import annotations

import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.evaluation import unpack
from tests.evaluation.forms import archive


def files(directory: Path) -> dict[str, str]:
    return {str(f.relative_to(directory)): f.read_text() for f in directory.rglob("*") if f.is_file()}


def test_regular_files_are_unpacked(tmp_path: Path) -> None:
    packed = archive(tmp_path / "a.tar.gz", {"./x/a.txt": "one", "b.txt": "two"})
    assert unpack.unpack(packed, tmp_path / "out") == 2
    assert files(tmp_path / "out") == {"x/a.txt": "one", "b.txt": "two"}


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "."])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RargError, match="outside of its folder"):
        unpack.unpack(archive(tmp_path / "a.tar.gz", {name: "x"}), tmp_path / "in" / "out")
    assert [f for f in tmp_path.rglob("*") if f.is_file()] == [tmp_path / "a.tar.gz"]


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as out:
        for name, kind in (
            ("s", tarfile.SYMTYPE),
            ("h", tarfile.LNKTYPE),
            ("p", tarfile.FIFOTYPE),
            ("d", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc"
            out.addfile(member)
        inside = tarfile.TarInfo("s/passwd")  # through the link, had it been made
        out.addfile(inside)
    assert unpack.unpack(tmp_path / "a.tar", tmp_path / "out") == 1
    assert files(tmp_path / "out") == {"s/passwd": ""}
    assert not (tmp_path / "out" / "s").is_symlink()


def test_a_zip_is_unpacked_without_its_links(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        out.writestr("x/a.txt", "one")
        link = zipfile.ZipInfo("l")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(link, "/etc/passwd")
    assert unpack.unpack(tmp_path / "a.zip", tmp_path / "out") == 1
    assert files(tmp_path / "out") == {"x/a.txt": "one"}


def test_an_archive_that_holds_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(tmp_path / "a.tar.gz", {"a": "0" * 10_000, "b": "x"})
    monkeypatch.setattr(unpack, "MOST_BYTES", 9_999)
    with pytest.raises(RargError, match="holds more than"):
        unpack.unpack(packed, tmp_path / "out")
    monkeypatch.setattr(unpack, "MOST_BYTES", 10_001)
    monkeypatch.setattr(unpack, "MOST_FILES", 1)
    with pytest.raises(RargError, match="holds more than"):
        unpack.unpack(packed, tmp_path / "out2")


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip"])
def test_a_damaged_archive_is_named(tmp_path: Path, name: str) -> None:
    whole = archive(tmp_path / "whole.tar.gz", {str(n): str(n) * 500 for n in range(200)}).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RargError, match=f"{name} is damaged after"):
        unpack.unpack(tmp_path / name, tmp_path / "out")
