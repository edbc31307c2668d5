from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="seccomp is a part of Linux")

_START = """\
import os, signal, sys, threading
from rarg_tui.search import sandbox_limit

def one():
    if not os.fork():
        signal.pause()

def end():
    os.killpg(0, signal.SIGKILL)

"""
_LIMIT = "sandbox_limit.limit_processes(8)\n"
#: At most so many are started, should nothing limit them.
_MANY = 50


def python(code: str, limit: str = _LIMIT) -> tuple[int, str]:
    """The status and the output of ``code``, which runs below the limit; what it leaves behind is killed."""
    done = subprocess.run(
        [sys.executable, "-c", _START + limit + code], capture_output=True, text=True, start_new_session=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def possible() -> None:
    code, said = python("", "sandbox_limit._ask_for_processes()\n")
    if code:
        pytest.skip(f"this kernel does not ask before there are more processes: {said[-100:]}")


def count(start: str, limit: str = _LIMIT) -> str:
    """How many ``start`` could start, and what was said to one more."""
    return python(
        f"""
n = 0
try:
    while n < {_MANY}:
        {start}
        n += 1
except Exception as error:
    print(n, error, flush=True)
else:
    print(n, flush=True)
end()
""",
        limit,
    )[1].strip()


def test_no_more_processes_than_may_be() -> None:
    # The one that answers, the child, and six more.
    assert count("one()") == "6 [Errno 11] Resource temporarily unavailable"


def test_threads_are_counted() -> None:
    start = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    assert count(start) == "6 can't start new thread"


def test_what_has_ended_makes_room() -> None:
    assert count("os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)") == str(_MANY)


def test_other_machines_have_no_limit() -> None:
    assert count("one()", "sandbox_limit._MACHINES = {}\n" + _LIMIT) == str(_MANY)


@pytest.mark.parametrize(
    ("code", "status"),
    [("sys.exit(3)", 3), ("", 0), ("os.kill(os.getpid(), signal.SIGTERM)", 143), ("sys.exit('why')", 1)],
)
@pytest.mark.parametrize("machines", ["", "sandbox_limit._MACHINES = {}\n"])
def test_the_status_is_that_of_the_child(code: str, status: int, machines: str) -> None:
    assert python(code, machines + _LIMIT)[0] == status


def test_the_child_does_not_outlive_who_answers() -> None:
    """Its output ends, so it has ended."""
    assert python("print('there', flush=True); os.kill(os.getppid(), signal.SIGKILL); signal.pause()") == (
        -9,
        "there\n",
    )
