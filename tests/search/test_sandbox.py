from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from rarg_tui.errors import MissingPart
from rarg_tui.search import sandbox
from rarg_tui.search.context import ShellContext, ShellLimits, ShellResult
from rarg_tui.search.sandbox import Sandbox, arguments, find_sandbox, possible
from rarg_tui.search.shell import run
from tests.search import fake_bwrap
from tests.search.scene import Backwards, context, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a part of Linux")

SCOPE = ["sub/c.txt", "b.txt", "a file.txt"]
LOOP = "for word in one; do {}; done"
#: Seconds after which a test has failed: what it waits for is not coming.
PATIENCE = 20.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    write(
        root,
        {
            "b.txt": "green bird\nred bird\n",
            "a file.txt": "a bird\n",
            "sub/c.txt": "bird one\n",
            "scope_1.txt": "of the corpus\n",
            "scope_7.txt": "of the corpus\n",
            ".env": "hidden\n",
            "sub/.git/config": "hidden\n",
        },
    )
    return root


@pytest.fixture
def plain(root: Path, tmp_path: Path) -> ShellContext:
    return context(root, tmp_path / "run", SCOPE, ["b.txt"])


@pytest.fixture
def faked(plain: ShellContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShellContext:
    return replace(plain, sandbox=fake_bwrap.put(monkeypatch, tmp_path / "bin"))


@pytest.fixture(scope="session")
def bwrap() -> Sandbox:
    try:
        return possible()
    except MissingPart as missing:
        pytest.skip(str(missing))


@pytest.fixture
def real(plain: ShellContext, bwrap: Sandbox) -> ShellContext:
    return replace(plain, sandbox=bwrap)


def printed(result: ShellResult) -> list[str]:
    """The lines of the observation without its notice."""
    assert result.verdict == "run", result.reason
    *lines, notice = result.observation.split("\n")
    assert notice.startswith("[")
    assert "run by full bash in the sandbox" in notice
    return lines


class TestWhatGoesThere:
    def test_nothing_unless_it_is_asked_for(self, plain: ShellContext) -> None:
        assert run(LOOP.format("echo $word"), plain).verdict == "refused"

    @pytest.mark.parametrize(
        ("command", "lines"),
        [
            (LOOP.format("echo $word"), ["one"]),
            ("echo $(cat b.txt | wc -l)", ["2"]),
            ("awk '/red/ { print $2 }' b.txt", ["bird"]),
            ("x=3; echo $((x + 4))", ["7"]),
            ("cat << END\nhere\nEND", ["here"]),
        ],
    )
    def test_what_the_guard_does_not_model(
        self, faked: ShellContext, command: str, lines: Sequence[str]
    ) -> None:
        result = run(command, faked)
        assert printed(result) == lines
        assert (result.state, result.exit_code, result.reranked) == ("ok", 0, False)
        reason = run(command, replace(faked, sandbox=None)).reason
        assert reason.rstrip(".") in result.observation

    def test_what_the_guard_accepts_is_ranked_as_ever(self, faked: ShellContext) -> None:
        reorder = Backwards()
        context = replace(faked, reorder=reorder, limits=ShellLimits(shown=2))
        result = run("cat scope_1.txt | xargs -d '\\n' rg -n bird", context)
        assert result.reranked
        assert reorder.asked
        assert "sandbox" not in result.observation

    def test_a_search_of_the_whole_corpus_is_still_the_strategys_to_refuse(self, faked: ShellContext) -> None:
        assert run("rg -n bird .", faked).verdict == "refused"
        assert run("rg -n bird .", replace(faked, whole_corpus=True)).verdict == "run"
        assert "full bash" in run("rg -n bird . > x; rm x", replace(faked, whole_corpus=True)).observation

    @pytest.mark.parametrize(
        "command", ["cat scope_9.txt", "", "  ", "echo \0", "echo \ud800", "# " + "x" * 40_000]
    )
    def test_a_mistake_is_explained_instead(self, faked: ShellContext, command: str) -> None:
        result = run(command, faked)
        assert (result.verdict, result.state) == ("error", "error")

    def test_the_scope_and_the_documents_are_known(self, faked: ShellContext) -> None:
        result = run("for f in $(cat scope_2.txt); do echo $f; done; head -1 'a file.txt' ./sub/c.txt", faked)
        assert result.scope == 2
        # Only whole words of a command are taken for documents, so not the name with a blank in it.
        assert result.seen == ("a file.txt", "sub/c.txt")
        assert run("cat scope_1.txt scope_2.txt | while read f; do :; done", faked).scope is None
        assert run(LOOP.format("false"), faked).seen == ()


class TestEndings:
    @pytest.mark.parametrize(
        ("command", "state", "code", "message"),
        [
            ("(exit 0)", "ok", 0, ""),
            ("(exit 1)", "ok", 1, ""),
            ("(exit 3)", "failed", 3, ""),
            ("(echo out; echo trouble >&2; exit 2)", "partial", 2, "trouble"),
            ("(echo trouble >&2; exit 1)", "failed", 1, "trouble"),
            ("(kill -9 $$)", "failed", 137, ""),
            ("if", "failed", 2, "/bin/bash"),
        ],
    )
    def test_state_and_status(
        self, faked: ShellContext, command: str, state: str, code: int, message: str
    ) -> None:
        result = run(command, faked)
        assert (result.state, result.exit_code) == (state, code)
        assert message in result.message
        assert printed(result)

    def test_too_much_output_is_cut_and_ends_the_command(self, faked: ShellContext) -> None:
        result = run("while :; do echo line; done", replace(faked, limits=ShellLimits(output_lines=5)))
        assert printed(result) == ["line"] * 5
        assert "the first 5 lines shown, there are more" in result.observation
        assert (result.state, result.exit_code) == ("ok", 0)

    def test_too_long(self, faked: ShellContext) -> None:
        result = run("echo early; (read < <(sleep 1000))", replace(faked, limits=ShellLimits(timeout_s=0.5)))
        assert printed(result) == ["early"]
        assert "stopped after 0.5 s" in result.observation
        assert (result.state, result.exit_code) == ("timed_out", 124)

    def test_too_many_processes(self, faked: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "PROCESSES", 20)
        result = run("echo early; for i in $(seq 30); do sleep 1000 & done; wait", faked)
        assert printed(result) == ["early"]
        assert "stopped at more than 20 processes" in result.message
        assert result.state == "partial"

    def test_threads_count_too(self, faked: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "PROCESSES", 20)
        wait = "import threading as t; e = t.Event(); [t.Thread(target=e.wait).start() for _ in range(30)]"
        result = run(f'{sys.executable} -c "{wait}"', faked)
        assert "stopped at more than 20 processes" in result.message
        assert result.state == "failed"

    def test_too_much_memory_together(self, faked: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "MEMORY", 200 << 20)
        greedy = "import os, signal; os.fork(); x = bytearray(b'x' * (120 << 20)); signal.pause()"
        result = run(f'echo early; {sys.executable} -c "{greedy}"; :', faked)
        assert printed(result) == ["early"]
        assert "stopped at more than 200 MB of memory" in result.message

    def test_too_much_memory_for_one(self, faked: ShellContext) -> None:
        result = run(f'{sys.executable} -c "bytearray(3 << 30)"', faked)
        assert "a program asked for more than 2048 MB of memory" in result.message
        assert "MemoryError" in result.observation

    def test_a_process_that_was_refused_and_went_unnoticed(self, faked: ShellContext) -> None:
        complaint = "bash: fork: retry: Resource temporarily unavailable"
        result = run(f"(echo early; echo '{complaint}' >&2)", faked)
        assert printed(result) == ["early", complaint]
        assert result.message == "a program asked for more than 200 processes, which is the limit"

    def test_cancelled_before_it_began(self, faked: ShellContext) -> None:
        cancel = threading.Event()
        cancel.set()
        result = run(LOOP.format("echo"), faked, cancel)
        assert (result.state, result.exit_code) == ("cancelled", 130)

    def test_a_bwrap_that_went_away(self, plain: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "_VIEW", ("/nonexistent/python",))
        result = run(LOOP.format("echo"), replace(plain, sandbox=Sandbox("/nonexistent/bwrap", proc=True)))
        assert (result.state, result.exit_code) == ("failed", 2)
        assert "/nonexistent/python" in result.observation


class TestArguments:
    def words(self, proc: bool = True) -> list[str]:
        return list(arguments(Sandbox("/usr/bin/bwrap", proc), "/the corpus", "/run dir", (1, 2), "echo $x"))

    def test_nothing_is_shared_and_nothing_is_kept(self) -> None:
        words = self.words()
        for option in ("--unshare-all", "--unshare-user", "--new-session", "--die-with-parent", "--clearenv"):
            assert option in words
        assert words[words.index("--cap-drop") + 1] == "ALL"
        set_to = {words[at + 1]: words[at + 2] for at, word in enumerate(words) if word == "--setenv"}
        assert sorted(set_to) == ["LANG", "PATH"]
        assert not {"--share-net", "--bind", "--dev-bind", "--bind-try"} & set(words)

    def test_only_the_corpus_and_the_system_are_bound(self) -> None:
        words = self.words()
        bound = {words[at + 2] for at, word in enumerate(words) if word.startswith("--ro-bind")}
        system = {path for path in bound if path == "/usr" or path.startswith(("/bin", "/sbin", "/lib"))}
        others = {"/the corpus", "/run/rarg/rg", "/etc/ld.so.cache", "/etc/alternatives"}
        assert bound - system == others

    def test_the_root_becomes_read_only_once_all_is_there(self) -> None:
        words = self.words()
        last = max(at for at, word in enumerate(words) if word in ("--ro-bind", "--tmpfs", "--dev", "--proc"))
        closed = [words[at + 1] for at, word in enumerate(words) if word == "--remount-ro"]
        assert sorted(closed) == ["/", "/dev", "/proc"]
        assert words[last:].count("--remount-ro") == 1
        assert "/" in words[last:]
        assert "--proc" not in self.words(proc=False)

    def test_the_command_is_one_word_and_comes_last(self) -> None:
        words = self.words()
        assert words[-1] == "echo $x"
        assert words[words.index("--chdir") + 1] == "/the corpus"


class TestWhetherItIsThere:
    def test_off_asks_for_nothing(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "find_program", {}.get)
        assert find_sandbox("off", root) is None

    def test_not_installed(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "find_program", {}.get)
        with pytest.raises(MissingPart, match="install the package bubblewrap") as caught:
            find_sandbox("bwrap", root)
        assert caught.value.exit_code == 3
        assert "\n" not in str(caught.value)

    def test_found_and_tried(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake = fake_bwrap.put(monkeypatch, tmp_path / "bin")
        assert find_sandbox("bwrap", root) == possible() == fake

    def test_not_permitted(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_bwrap.put(monkeypatch, tmp_path / "bin", "sys.exit('setting up\\nbwrap: No permissions')")
        with pytest.raises(MissingPart, match=r"cannot work here \(bwrap: No permissions\): .*off\.$"):
            find_sandbox("bwrap", root)

    def test_the_switch_that_is_off_is_named(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_bwrap.put(monkeypatch, tmp_path / "bin", "sys.exit(1)")
        monkeypatch.setattr(
            sandbox, "_SWITCHES", (("none/such", "0", "1"), ("kernel/ostype", "Linux", "BSD"))
        )
        with pytest.raises(MissingPart, match=r"\(exit status 1\): set kernel\.ostype=BSD with sysctl"):
            possible()

    def test_proc_is_done_without_where_it_may_not_be_mounted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_bwrap.put(monkeypatch, tmp_path / "bin", "sys.exit('--proc' in sys.argv)")
        assert not possible().proc

    def test_no_answer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_bwrap.put(monkeypatch, tmp_path / "bin", "import signal; signal.pause()")
        monkeypatch.setattr(sandbox, "_TRY", 0.2)
        with pytest.raises(MissingPart, match=r"did not answer within 0\.2 s"):
            possible()


class TestInside:
    def test_python_and_loops(self, real: ShellContext) -> None:
        assert printed(run('for f in ?.txt "a file.txt"; do wc -l < "$f"; done', real)) == ["2", "1"]
        if os.path.exists("/usr/bin/python3"):
            result = run("python3 -c 'print(open(\"b.txt\").read()[:5])'", real)
            assert printed(result) == ["green"]
            assert result.seen == ("b.txt",)

    def test_scopes_go_by_their_bare_names(self, real: ShellContext) -> None:
        result = run('cat scope_1.txt | while read -r f; do head -1 "$f"; done', real)
        assert printed(result) == ["bird one", "green bird", "a bird"]
        assert result.scope == 1
        assert printed(run("echo scope_*; x=2; cat scope_$x.txt", real)) == [
            "scope_1.txt scope_2.txt",
            "b.txt",
        ]

    def test_what_is_no_file_is_not_there(self, real: ShellContext) -> None:
        os.mkfifo(real.root / "pipe.txt")
        os.mkfifo(real.root / "sub" / "pipe.txt")
        (real.root / "link.txt").symlink_to("b.txt")
        (real.root / "loop").symlink_to(".")
        with socket.socket(socket.AF_UNIX) as server, chdir(real.root):
            server.bind("socket.txt")
        result = run('for f in *.txt */*; do wc -l "$f"; done', real)
        assert [line for line in printed(result) if "scope" not in line and "wc:" not in line] == [
            "1 a file.txt",
            "2 b.txt",
            "1 sub/c.txt",
        ]
        assert printed(run("for f in *; do echo $f; done | grep -v scope", real)) == [
            "a file.txt",
            "b.txt",
            "sub",
        ]

    def test_rg_is_there(self, real: ShellContext) -> None:
        assert printed(run(LOOP.format("rg -n red b.txt"), real)) == ["2:red bird"]

    def test_it_stands_in_the_corpus(self, real: ShellContext) -> None:
        assert printed(run("echo $PWD; ls -A | wc -l", real)) == [str(real.root), "5"]

    def test_nothing_else_is_there(self, real: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        (real.run_dir / "events.jsonl").write_text("secret")
        (real.root / "outside").symlink_to("/etc/passwd")
        (real.root / "to run").symlink_to(real.run_dir / "events.jsonl")
        (real.root / "to hidden").symlink_to("sub/.git/config")
        (real.root / "escape").symlink_to("/proc/1/root/etc/passwd")
        names = f"/etc/passwd /root /home '{real.run_dir}' .env sub/.git outside 'to run' 'to hidden' escape"
        assert printed(run(f'for f in {names}; do [ -e "$f" ] && echo "$f"; done; :', real)) == [
            "(no output)"
        ]
        assert printed(run("x=1; env | sed 's/=.*//' | sort | tr '\\n' ' '", real)) == [
            "LANG PATH PWD SHLVL _ "
        ]
        seen = run("x=1; cat /proc/*/environ; ls /proc /sys /var; ls -a / /etc", real).observation
        assert "secret" not in seen
        assert "home" not in seen
        assert "passwd" not in seen

    def test_our_processes_are_not_there(self, real: ShellContext) -> None:
        assert "No such process" in run(f"x=1; kill -0 {os.getpid()}", real).observation

    def test_there_is_no_network(self, real: ShellContext) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            result = run(f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected", real)
        assert "connected" not in printed(result)
        assert result.state == "failed"

    def test_nothing_can_be_written(self, real: ShellContext, tmp_path: Path) -> None:
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        modes = {path: path.stat().st_mode for path in (Path("/dev/null"), *tmp_path.rglob("*"))}
        for attack in (
            "rm -rf -- *",
            "rm -rf --no-preserve-root /",
            "echo x >> b.txt",
            "echo x > scope_1.txt",
            "mv b.txt c.txt",
            "ln -s / link",
            "chmod 777 b.txt sub",
            "touch x sub/x",
            "touch /x /usr/x /dev/x /dev/shm/x /run/x",
            "chmod 600 /dev/null /dev/zero /dev/full",
            "chmod 600 /proc/self/fd/0",
            ": >> /proc/sys/kernel/core_pattern",
            ": >> /proc/sys/vm/drop_caches",
            ": >> /proc/self/oom_score_adj",
            "mount -o remount,rw /",
            "mount -t tmpfs none /tmp",
            "umount -l .",
            "mknod /tmp/device c 1 1",
            "unshare -m true",
        ):
            result = run(f"( {attack} )", real)
            assert result.exit_code, attack
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        assert {path: path.stat().st_mode for path in (Path("/dev/null"), *tmp_path.rglob("*"))} == modes

    def test_nobody_runs_it_and_without_any_right(self, real: ShellContext) -> None:
        assert printed(run("x=1; id -u; id -g; grep CapBnd /proc/self/status | cut -f 2", real)) == [
            "65534",
            "65534",
            "0" * 16,
        ]

    def test_there_is_a_little_room_to_work_in(self, real: ShellContext) -> None:
        assert printed(run("x=1; echo kept > /tmp/x; cat /tmp/x", real)) == ["kept"]
        assert "No space left" in run("x=1; head -c 100M /dev/zero > /tmp/x", real).observation
        assert printed(run("x=1; ls /tmp/x 2>&1", real)) != ["/tmp/x"]

    @pytest.mark.parametrize(
        "name", ["a b", "a:b,c\\d", "lines\nof it", os.fsdecode(b"\xff"), "-dash", "$(x)"]
    )
    def test_any_name_of_a_corpus(self, tmp_path: Path, bwrap: Sandbox, name: str) -> None:
        root = tmp_path / name
        root.mkdir()
        write(root, {name: "text\n"})
        here = replace(context(root, tmp_path / f"run {name}", [name]), sandbox=bwrap)
        assert "text" in printed(run('for f in *; do cat "./$f"; done', here))
        if "\n" not in name:
            assert printed(run('while IFS= read -r f; do cat "./$f"; done < scope_1.txt', here)) == ["text"]

    def test_a_corpus_among_the_systems_own_files(self, bwrap: Sandbox, tmp_path: Path) -> None:
        here = replace(context(Path("/usr/bin"), tmp_path / "run"), sandbox=bwrap)
        assert printed(run("x=1; pwd; touch x 2>/dev/null || echo closed", here)) == ["/usr/bin", "closed"]

    def test_what_cannot_be_covered_is_no_corpus_of_a_sandbox(self, bwrap: Sandbox) -> None:
        before = os.listdir("/")
        with pytest.raises(MissingPart, match="/ cannot be covered"):
            find_sandbox("bwrap", Path("/"))
        assert os.listdir("/") == before


class TestNothingIsLeft:
    @pytest.mark.parametrize(
        "command",
        [
            "sleep {0}",
            "trap '' TERM INT HUP; sleep {0}; sleep {0}",
            "nohup sleep {0} > /dev/null 2>&1 & sleep {0}",
            "setsid sleep {0} < /dev/null > /dev/null 2>&1 & sleep {0}",
            "(setsid setsid sleep {0} &) ; exec 1>&- 2>&-; sleep {0}",
        ],
    )
    def test_after_a_cancel(self, real: ShellContext, command: str) -> None:
        mark = _mark()
        cancel = threading.Event()
        results: list[ShellResult] = []
        line = f"x=1; {command.format(mark)}"
        thread = threading.Thread(target=lambda: results.append(run(line, real, cancel)))
        thread.start()
        _wait_for(mark, there=True)
        cancel.set()
        thread.join()
        _wait_for(mark, there=False)
        assert results[0].state == "cancelled"

    def test_after_the_time_is_up(self, real: ShellContext) -> None:
        mark = _mark()
        result = run(
            f"setsid nohup sleep {mark} & sleep {mark}", replace(real, limits=ShellLimits(timeout_s=1))
        )
        assert result.state == "timed_out"
        _wait_for(mark, there=False)

    def test_after_the_command_has_ended(self, real: ShellContext) -> None:
        mark = _mark()
        result = run(f"(setsid nohup sleep {mark} > /dev/null 2>&1 &) ; x=1; echo done", real)
        assert printed(result) == ["done"]
        _wait_for(mark, there=False)

    def test_no_more_processes_come_to_be_than_may(
        self, real: ShellContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not os.path.exists("/usr/bin/perl"):
            pytest.skip("there is no perl to start processes with until one is refused")
        monkeypatch.setattr(sandbox, "PROCESSES", 20)
        monkeypatch.setattr(sandbox, "_SPARE", 0)
        mark = _mark()
        one = f'defined($p = fork) or last; $p or exec "sleep", "{mark}"'
        result = run(f"x=1; perl -e 'for (1..2000) {{ {one}; $n++ }} print \"$n $!\"'", real)
        assert result.state == "ok"
        number, _, why = printed(result)[0].partition(" ")
        assert (10 < int(number) < 20, why) == (True, "Resource temporarily unavailable")
        _wait_for(mark, there=False)

    def test_after_a_fork_bomb(self, real: ShellContext) -> None:
        mark = _mark()
        more = "f $(($1 - 1))"
        result = run(f"f() {{ if (($1)); then {more} | {more}; else sleep {mark}; fi; }}; f 10", real)
        assert "more than 200 processes" in result.message
        _wait_for(mark, there=False)

    def test_after_we_are_killed_ourselves(self, real: ShellContext) -> None:
        mark = _mark()
        code = (
            "import json, sys; from pathlib import Path\n"
            "from rarg_tui.search.context import *; from rarg_tui.search.shell import run\n"
            "root, run_dir, bwrap, command = sys.argv[1:]\n"
            "run(command, ShellContext(Path(root), Path(run_dir), {}, ShellLimits(), None, False, list,\n"
            "    sandbox=Sandbox(bwrap, True)))\n"
        )
        assert real.sandbox is not None
        words = (str(real.root), str(real.run_dir), real.sandbox.bwrap, f"x=1; setsid sleep {mark}; echo")
        with subprocess.Popen([sys.executable, "-c", code, *words]) as process:
            _wait_for(mark, there=True)
            process.send_signal(signal.SIGKILL)
        _wait_for(mark, there=False)


def _mark() -> str:
    """An argument for sleep that no other process has."""
    return f"7{os.getpid()}.{time.monotonic_ns()}"


def _wait_for(mark: str, there: bool) -> None:
    """Until a sleep with this mark runs, or none does."""
    ends = time.monotonic() + PATIENCE
    while _runs(mark) != there:
        assert time.monotonic() < ends, f"sleep {mark} is {'not there' if there else 'still there'}"


def _runs(mark: str) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            return True
    return False
