from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rarg_tui

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENTS = [
    Requirement(text) for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
]
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(target)], cwd=ROOT, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


def names_below(directory: Path) -> set[str]:
    return {file.relative_to(directory).as_posix() for file in directory.rglob("*") if file.is_file()}


def test_the_wheel_holds_the_package_and_its_resources_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {f"rarg_tui/{name}" for name in names_below(ROOT / "rarg_tui") if "__pycache__" not in name}
    for resource in ("themes", "sample_corpus"):
        files = names_below(ROOT / resource)
        assert files
        expected |= {f"rarg_tui/_resources/{resource}/{name}" for name in files}
    assert held == expected


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = message_from_string(archive.read(f"{info}/METADATA").decode())
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert metadata["Name"] == "rarg"
    assert metadata["Version"] == rarg_tui.__version__
    assert metadata["License-Expression"] == "MIT"
    assert "rarg = rarg_tui.cli:main" in entry_points


def test_an_unpacked_wheel_finds_its_own_resources(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = "from rarg_tui.paths import resource_dir as d; print(d('themes'), d('sample_corpus'), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    resources = tmp_path.resolve() / "rarg_tui" / "_resources"
    assert done.stdout.splitlines() == [str(resources / "themes"), str(resources / "sample_corpus")]


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_what_is_asked_for_is_pinned_within_its_range(requirement: Requirement) -> None:
    pin = PINS[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin)


def test_textual_is_taken_without_its_grammars() -> None:
    assert not any(requirement.extras for requirement in REQUIREMENTS)


def test_python_m_is_the_same_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rarg_tui", "--version"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout == f"rarg {rarg_tui.__version__}\n"
