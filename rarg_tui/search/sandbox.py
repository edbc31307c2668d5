"""Full bash for what the guard does not model, in bubblewrap: nothing can be written, there is no network,
and of files there are the corpus, the run's scopes, and the system's programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rarg_tui.errors import MissingPart
from rarg_tui.search import sandbox_limit, sandbox_view
from rarg_tui.search.command import LONGEST
from rarg_tui.search.context import Sandbox, ShellContext
from rarg_tui.search.execute import Executor
from rarg_tui.search.observation import documents_in, show_text
from rarg_tui.search.outcome import Outcome
from rarg_tui.search.process import CANCELLED, ENOUGH, TIMED_OUT, Children, Drain, environment, find_program
from rarg_tui.search.process import Stopped as NoMore
from rarg_tui.search.rg import find_rg

__all__ = ["MEMORY", "PROCESSES", "Sandbox", "can_be_given", "find_sandbox", "possible", "run_bash"]

#: What the processes of one command may have together: how many there are (threads count), and bytes.
PROCESSES, MEMORY = 200, 2 << 30
#: So many more the kernel lets come to be: whoever reaches them is over the limit, however it is counted.
_SPARE = 50
#: Bytes for ``/tmp``, the one place where a command may write.
_SCRATCH = 64 << 20
#: How often they are counted, seconds, to end a command that has too many or too much.
_EVERY = 0.02
_TOO_MANY, _TOO_LARGE = "processes", "memory"

#: How long a first try may take, seconds.
_TRY = 20.0
_NOBODY = "65534"
_PROGRAMS = "/run/rarg"
#: Standard input is the sandbox's own /dev/null: nobody may change the mode of that one, not even root.
_START = 'exec /bin/bash -c "$0" </dev/null'
#: What a model is told with the output, followed by what the guard says.
_RAN = "run by full bash in the sandbox, in no scope order and not reranked, since the guard says"
_ERRORS = 16_384
#: What the loader and Debian's alternatives (awk is one) need of /etc.
_OF_ETC = ("/etc/ld.so.cache", "/etc/alternatives")

_VIEW = (sys.executable, "-I", "-S", sandbox_view.__file__)

_OUT_OF_MEMORY = re.compile(r"MemoryError|annot allocate memory|memory exhausted|out of memory")
_OUT_OF_PROCESSES = re.compile(r"fork.*Resource temporarily unavailable|can't start new thread")
_SCOPE = re.compile(r"(?<![\w./-])(?:\./)?scope_([0-9]{1,9})\.txt(?!\w)")

#: Settings of the kernel that keep user namespaces from people, the value that does, and the one to set.
_SWITCHES = (
    ("user/max_user_namespaces", "0", "10000"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)


def find_sandbox(choice: str, root: Path) -> Sandbox | None:
    """The sandbox that ``choice`` (the setting) asks for, tried on the corpus at ``root``; ``None`` for
    ``off``. Raises :class:`MissingPart` when there is none, or it cannot work here."""
    return None if choice == "off" else _tried(str(root))


def possible() -> Sandbox:
    """As :func:`find_sandbox`, tried on an empty corpus."""
    with tempfile.TemporaryDirectory() as empty:
        return _tried(os.path.realpath(empty))


def can_be_given(command: str) -> bool:
    """Whether ``command`` is a text that bash can be started with."""
    try:
        os.fsencode(command)
    except UnicodeEncodeError:
        return False
    return bool(command.strip()) and "\0" not in command and len(command) <= LONGEST


def run_bash(command: str, context: ShellContext, cancel: threading.Event | None, reason: str) -> Outcome:
    """Run ``command``, which the guard does not run for ``reason``, in the context's sandbox."""
    limits, sandbox = context.limits, context.sandbox
    assert sandbox is not None
    outcome = Outcome("ok", 0, "", ran=f"bash in the sandbox: {command}")
    numbers = {int(number) for number in _SCOPE.findall(command)} & set(context.scopes)
    outcome.scope = numbers.pop() if len(numbers) == 1 else None
    argv = arguments(sandbox, str(context.root), str(context.run_dir), tuple(context.scopes), command)
    output, errors, cut = b"", "", False
    began = time.perf_counter()
    with Children(cancel, limits.timeout_s) as children:
        try:
            process = children.start(argv, cwd="/", confined=False, stdin=subprocess.PIPE)
        except NoMore:
            pass
        except OSError as error:
            errors, outcome.exit_code = str(error), 2
        else:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.close()
            drain = Drain(process.stderr, _ERRORS)
            with _counted(process.pid, children), process.stdout as stdout:
                output, cut = _read(stdout, limits.output_bytes * 2)
                if cut:
                    children.stop(ENOUGH)
                code = children.wait(process)
            errors = drain.text()
            outcome.exit_code = 0 if cut else code if code >= 0 else 128 - code
        stopped = "" if children.reason == ENOUGH else children.reason
    outcome.scan_ms = (time.perf_counter() - began) * 1000
    _judge(outcome, stopped, bool(output), errors)
    trouble = _trouble(stopped, errors, limits.timeout_s)
    outcome.message = "; ".join(trouble) or errors.strip().partition("\n")[0]
    printed = output if output or errors else b"(no output)"
    outcome.text = show_text(printed, cut, errors, limits, [*trouble, f"{_RAN}: {reason.rstrip('.')}"])
    outcome.seen = _seen(outcome.text, command, context) if output else ()
    return outcome


def arguments(
    sandbox: Sandbox, root: str, run_dir: str, scopes: Sequence[int], command: str
) -> tuple[str, ...]:
    """What is started to run ``command``: the view of the corpus, which becomes bwrap, which starts bash."""
    # Root, though it has no rights here, is still the owner of what it may otherwise write in /proc/sys.
    proc = ("--proc", "/proc", "--remount-ro", "/proc") if sandbox.proc else ()
    return (
        *_VIEW, root, run_dir, ",".join(map(str, scopes)), str(PROCESSES + _SPARE),
        sandbox.bwrap,
        "--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY, "--cap-drop", "ALL",
        "--new-session", "--die-with-parent",
        "--clearenv", "--setenv", "LANG", "C.UTF-8",
        "--setenv", "PATH", f"{_PROGRAMS}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        *_system(),
        "--ro-bind", find_rg().path, f"{_PROGRAMS}/rg",
        "--dev", "/dev", "--remount-ro", "/dev",
        *proc,
        "--size", str(_SCRATCH), "--tmpfs", "/tmp",
        "--ro-bind", root, root,
        "--remount-ro", "/",
        "--chdir", root,
        "--", "/bin/bash", "-c", _START, command,
    )  # fmt: skip


def _system() -> Iterator[str]:
    """The options that show the system's programs and libraries."""
    yield from ("--ro-bind", "/usr", "/usr")
    for path in sorted({"/bin", "/sbin", *map(str, Path("/").glob("lib*"))}):
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in _OF_ETC:
        yield from ("--ro-bind-try", path, path)


def _tried(root: str) -> Sandbox:
    bwrap = find_program("bwrap")
    if bwrap is None:
        raise MissingPart(
            "The sandbox needs bwrap, which is not installed: install the package bubblewrap, or leave the "
            "option --sandbox and the setting sandbox off."
        )
    # Some containers do not let anybody mount /proc; little needs it.
    complaint = ""
    for proc in (True, False):
        sandbox = Sandbox(bwrap, proc)
        found = _try(sandbox, root)
        if found is None:
            return sandbox
        complaint = complaint or found
    raise MissingPart(f"bwrap is installed but cannot work here ({complaint}): {_remedy()}.")


def _try(sandbox: Sandbox, root: str) -> str | None:
    """``None`` when a command runs in ``sandbox``, otherwise what was said against it."""
    try:
        done = subprocess.run(
            arguments(sandbox, root, root, (), "true"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRY,
            env=environment(),
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_TRY:g} s"
    except OSError as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip()
    return (said.splitlines() or [f"exit status {done.returncode}"])[-1] if done.returncode else None


def _remedy() -> str:
    for name, closed, opened in _SWITCHES:
        try:
            value = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if value == closed:
            return f"set {name.replace('/', '.')}={opened} with sysctl, or leave the sandbox off"
    return "let this system or container have user namespaces and overlay mounts, or leave the sandbox off"


def _read(stream: IO[bytes], limit: int) -> tuple[bytes, bool]:
    kept = bytearray()
    while len(kept) <= limit and (chunk := os.read(stream.fileno(), 65_536)):
        kept += chunk
    return bytes(kept[:limit]), len(kept) > limit


@contextmanager
def _counted(pid: int, children: Children) -> Iterator[None]:
    """Stop ``children`` when ``pid`` and what it started are too many, or take too much memory."""
    done = threading.Event()

    def count() -> None:
        while not done.wait(_EVERY):
            processes, memory = _use(pid)
            if processes > PROCESSES:
                children.stop(_TOO_MANY)
            elif memory > MEMORY:
                children.stop(_TOO_LARGE)

    thread = threading.Thread(target=count, name="rarg-count", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _use(pid: int) -> tuple[int, int]:
    """How many processes and threads ``pid`` and all below it are, and the bytes of memory they have;
    both too low for what starts or ends meanwhile."""
    found = sandbox_limit.processes_below(pid, PROCESSES)
    pages = 0
    for process in found:
        with suppress(OSError):
            pages += int(Path(f"/proc/{process}/statm").read_bytes().split()[1])
    return sum(found.values()), pages * os.sysconf("SC_PAGE_SIZE")


def _judge(outcome: Outcome, stopped: str, has_output: bool, errors: str) -> None:
    """State and exit code from how the command ended."""
    if stopped in (CANCELLED, TIMED_OUT):
        outcome.state, outcome.exit_code = stopped, 124 if stopped == TIMED_OUT else 130
    elif stopped or (errors and outcome.exit_code):
        outcome.state = "partial" if has_output else "failed"
    elif outcome.exit_code not in (0, 1):
        outcome.state = "failed"


def _trouble(stopped: str, errors: str, timeout_s: float) -> list[str]:
    memory = f"more than {MEMORY >> 20} MB of memory, which is the limit"
    processes = f"more than {PROCESSES} processes, which is the limit"
    if stopped:
        how = {
            TIMED_OUT: f"after {timeout_s:g} s",
            CANCELLED: "by a person",
            _TOO_MANY: f"at {processes}",
            _TOO_LARGE: f"at {memory}",
        }
        return [f"stopped {how[stopped]}, there may be more"]
    asked = ((_OUT_OF_MEMORY, memory), (_OUT_OF_PROCESSES, processes))
    return [f"a program asked for {what}" for complaint, what in asked if complaint.search(errors)]


def _seen(text: str, command: str, context: ShellContext) -> tuple[str, ...]:
    """The documents that ``text`` or the command names."""
    known = Executor(context).documents_known
    words = (word.removeprefix("./") for word in re.split(r"[\s\"'`()\[\]{}=,;|&<>$]+", command))
    return tuple(dict.fromkeys([*documents_in(text, known), *(word for word in words if word in known)]))
