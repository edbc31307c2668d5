"""The attacks on the guard once more, with the guard taken away: bash itself runs them, with every allowed
program at hand, and the kernel alone stands between them and what they must not reach.

``RARG_ATTACKS=10000 pytest -n 0 tests/search/test_second_wall.py`` tries so many.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from rarg_tui.search import landlock
from rarg_tui.search.rg import find_rg
from tests.hostile import Hostile
from tests.hostile import make as make_hostile
from tests.search import grammar

BASH = shutil.which("bash") or ""
pytestmark = [
    pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock"),
    pytest.mark.skipif(not BASH, reason="there is no bash to attack with"),
]

SECRET = "the-secret-of-the-lighthouse"
ATTACKS = int(os.environ.get("RARG_ATTACKS", "300"))
PROGRAMS = ("cat", "xargs", "grep", "head", "tail", "sed", "sort", "uniq", "wc", "cut", "tr", "nl", "comm",
            "echo", "printf", "true", "false", "test", "ls", "find", "[")  # fmt: skip


@dataclass(slots=True)
class Prison:
    """A corpus and two scopes that may be read, beside a secret that may not; ``tried`` counts."""

    corpus: Path
    run_dir: Path
    secret: Path
    tried: int = 0
    starter: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        programs = [BASH, find_rg().path, *filter(None, map(shutil.which, PROGRAMS))]
        files = [file for program in programs for file in landlock.files_of(os.path.realpath(program))]
        readable = [str(self.corpus), *map(str, self.run_dir.glob("scope_*.txt"))]
        self.starter = ThreadPoolExecutor(1, initializer=landlock.restrict, initargs=(readable, files))
        # What Popen imports only when it is first called cannot be read from within.
        self.run("true", confined=False)

    def run(self, text: str, *, confined: bool = True) -> str:
        """What bash prints that runs ``text`` in the corpus for at most some seconds."""
        self.tried += 1
        path = f"{os.path.dirname(find_rg().path)}:/usr/bin:/bin"
        argv = [BASH, "--norc", "-c", f"ulimit -v 1000000 -t 5\ncd {self.corpus}\n{text}"]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": path, "LANG": "C.UTF-8"},
                start_new_session=True,
            )

        process = self.starter.submit(start).result() if confined else start()
        assert process.stdout is not None
        try:
            output, _ = process.communicate(timeout=4)
        except subprocess.TimeoutExpired:
            output = b""
        finally:
            _end_session(process.pid)
            process.wait()
            process.stdout.close()
        return output.decode("utf-8", "replace")


def _end_session(session: int) -> None:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            ours = int(stat.read_text().rpartition(")")[2].split()[3]) == session
        except OSError:
            continue
        if ours:
            os.kill(int(stat.parent.name), signal.SIGKILL)


def _everything(directory: Path) -> dict[str, tuple[int, int, int]]:
    """All below ``directory``: name, mode, size and time of change."""
    found = {}
    for path in sorted([directory, *directory.rglob("*")]):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


@pytest.fixture(scope="module")
def prison(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prison]:
    place = tmp_path_factory.mktemp("prison")
    hostile: Hostile = make_hostile(place / "corpus")
    run_dir = place / "run"
    run_dir.mkdir()
    for number in (1, 2):
        (run_dir / f"scope_{number}.txt").write_text("plain.txt\nbom.txt\n")
    secret = place / "secret.txt"
    secret.write_text(f"{SECRET}\n")
    (hostile.root / "to-secret.txt").symlink_to(secret)
    yield (prison := Prison(hostile.root, run_dir, secret))
    prison.starter.shutdown()
    print(f"\n{prison.tried} command lines were run behind the second wall alone")


def _leaks(output: str) -> bool:
    return SECRET in output or "root:x:0" in output


def test_bash_works_in_there(prison: Prison) -> None:
    assert "ripgrep" in prison.run("cat scope_1.txt 2>/dev/null; rg --no-config -V")
    printed = prison.run(
        f'cat {prison.run_dir}/scope_1.txt | while read -r f; do head -c 5 "$f" | wc -c; done'
    )
    assert printed.split() == ["5", "5"]


@pytest.mark.parametrize(
    "text",
    [
        "cat {secret}",
        "cat ../secret.txt",
        "cat to-secret.txt",
        "rg --no-config . to-secret.txt",
        "read -r x < {secret}; echo $x",
        'echo "$(<{secret})"',
        "mapfile a < {secret}; echo ${{a[0]}}",
        ". {secret}",
        "rg --no-config -f {secret} -v . plain.txt",
        "grep -r . ..",
        "grep -f {secret} -v x plain.txt",
        "cat /etc/passwd",
        "cat /proc/self/root/etc/passwd",
        "cat /proc/$PPID/environ",
        "cat /proc/self/environ",
        "ls /proc/$PPID/fd",
        "cat /proc/$PPID/root{secret}",
        "find / -name passwd -exec cat {{}} +",
        "sed '' {secret}",
        "sed -n '1r {secret}' plain.txt",
        "sort --files0-from={secret}",
        "sort -R --random-source={secret} plain.txt",
        "wc --files0-from={secret}",
        "xargs -a {secret} echo",
        "rg --no-config --pre cat . to-secret.txt",
        "rg --no-config --ignore-file {secret} --debug x",
        "exec 3< {secret}; cat <&3",
        "cat < to-secret.txt",
        "comm {secret} plain.txt",
        "tail -c +1 {secret}",
        "cd ..; cat secret.txt",
        "echo ../*; echo {place}/*",
        "rg --no-config --follow --hidden {secret_word} ..",
        "ls -laR {place}",
        "find {place}",
    ],
)
def test_nothing_is_read(text: str, prison: Prison) -> None:
    word = SECRET[:8] + "."
    output = prison.run(text.format(secret=prison.secret, place=prison.secret.parent, secret_word=word))
    assert not _leaks(output)
    assert "secret.txt\n" not in output.replace(f"{prison.corpus}/to-secret.txt\n", "").replace(
        "to-secret.txt", ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "echo x > new",
        "echo x >> plain.txt",
        ": > plain.txt",
        "echo x > /tmp/rarg-second-wall",
        "sed -i s/a/b/ plain.txt",
        "sed 'w new' plain.txt",
        "sort -o plain.txt plain.txt",
        "sort -o new plain.txt",
        "uniq plain.txt new",
        "find . -delete",
        "find . -fprint new",
        "find . -name plain.txt -exec sort -o {} {} +",
        "exec 5<>plain.txt",
        "cat plain.txt | sort -T . -S 1b > /dev/null",
        "printf x > ../secret.txt",
        "echo x > scope_1.txt",
        "echo x > ../run/scope_1.txt",
        "mkfifo new",
        "ln -s / new",
        "rm plain.txt",
        "mv plain.txt new",
    ],
)
def test_nothing_is_written(text: str, prison: Prison) -> None:
    before = _everything(prison.secret.parent)
    prison.run(text)
    assert _everything(prison.secret.parent) == before
    assert not Path("/tmp/rarg-second-wall").exists()


@pytest.mark.parametrize("program", ["sh", "python3", "env", "id", "rm", "touch", "cp", "tee", "awk", "perl"])
def test_nothing_else_is_started(program: str, prison: Prison) -> None:
    if shutil.which(program) is None or Path(shutil.which(program) or "").resolve() == Path(BASH).resolve():
        pytest.skip(f"there is no {program} of its own")
    assert "Permission denied" in prison.run(f"{program} --version")


def test_a_document_is_no_program(prison: Prison) -> None:
    script = prison.corpus / "script.sh"
    script.write_text("#!/bin/sh\necho started\n")
    script.chmod(0o755)
    assert "started" not in prison.run("./script.sh")
    script.unlink()


def test_no_network_and_no_signals(prison: Prison) -> None:
    if landlock.version() < 6:
        pytest.skip("this Landlock knows no network, or no signals")
    assert "denied" in prison.run("exec 3<>/dev/tcp/127.0.0.1/9")
    assert "through" not in prison.run(f"kill -0 {os.getpid()} && echo through")


@settings(
    max_examples=ATTACKS,
    derandomize="RARG_ATTACKS" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=grammar.attacks.filter(lambda text: "\0" not in text))
def test_random_attacks(text: str, prison: Prison) -> None:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return
    before = _everything(prison.secret.parent)
    assert not _leaks(prison.run(text))
    assert _everything(prison.secret.parent) == before
