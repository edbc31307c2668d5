"""A limit for processes that holds for root too, whom the kernel's own (RLIMIT_NPROC) does not bind.

Each wish of a program for one more process or thread stops in the kernel (seccomp) until we have answered
it, so they cannot come faster than they are counted. See seccomp(2), seccomp_unotify(2), and the kernel's
``include/uapi/linux/seccomp.h``, from which the numbers are.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from fcntl import ioctl

_DIE_WITH_PARENT, _NO_NEW_PRIVS = 1, 38
_SET_FILTER = 1
#: A filter whose questions come to a descriptor; while one is being answered only what kills may interrupt
#: it (Linux 5.19 and later).
_ASKS, _UNINTERRUPTED = 8, 32
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_GO_ON = 1

_ALLOW, _ASK, _REFUSE = 0x7FFF0000, 0x7FC00000, 0x00050000 | errno.ENOSYS
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
#: By machine: how the kernel calls it, the number of seccomp, and those of clone, fork, vfork, clone3.
_MACHINES = {
    "x86_64": (0xC000003E, 317, (56, 57, 58, 435)),
    "aarch64": (0xC00000B7, 277, (220, 435)),
}
#: From here on x86_64 counts the calls of its x32 variant, which no system's programs use.
_VARIANT = 0x40000000


def limit_processes(most: int) -> None:
    """Return in a child, which with all that it starts can be no more than ``most`` processes and threads:
    what would be one more is told to try again later. This process answers until they have ended, and
    ends with the status of the child. Where the kernel does not know that, there is no limit."""
    here, there = socket.socketpair()
    parent, child = os.getpid(), os.fork()
    if not child:
        die_with(parent)
        with suppress(OSError):
            questions = _ask_for_processes()
            socket.send_fds(there, [b"x"], [questions])
            os.close(questions)
        there.close()
        here.close()
        return
    there.close()
    _, descriptors, _, _ = socket.recv_fds(here, 1, 1)
    if descriptors:
        _answer(descriptors[0], most)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def die_with(parent: int) -> None:
    """Be killed when ``parent`` ends, which started this process."""
    _call("prctl", _DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("nobody waits for this command any more")


def processes_below(pid: int, most: int) -> dict[int, int]:
    """``pid`` and the processes below it, and how many threads each has; little more than ``most``
    processes. What starts or ends meanwhile may be missing."""
    found: dict[int, int] = {}
    waiting = [pid]
    while waiting and len(found) <= most:
        process = waiting.pop()
        with suppress(OSError):
            threads = os.listdir(f"/proc/{process}/task")
            found[process] = len(threads)
            for thread in threads:
                with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                    waiting += map(int, file.read().split())
    return found


def _ask_for_processes() -> int:
    """Let the kernel ask, before this process or one that it starts makes a new one. The descriptor where
    the questions come."""
    architecture, seccomp, calls = _MACHINES.get(os.uname().machine, (0, 0, ()))
    if not seccomp:
        raise OSError(errno.ENOSYS, os.uname().machine)
    steps = [(_LOAD, 0, 0, 4), (_IF_EQUAL, 0, len(calls) + 3, architecture), (_LOAD, 0, 0, 0)]
    steps.append((_IF_AT_LEAST, len(calls) + 1, 0, _VARIANT))
    steps += [(_IF_EQUAL, len(calls) - at + 1, 0, call) for at, call in enumerate(calls)]
    steps += [(_RETURN, 0, 0, value) for value in (_ALLOW, _REFUSE, _ASK)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(program)))
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    try:
        return _call("syscall", seccomp, _SET_FILTER, _ASKS | _UNINTERRUPTED, filter_)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return _call("syscall", seccomp, _SET_FILTER, _ASKS, filter_)


def _answer(questions: int, most: int) -> None:
    """Answer until all that could ask are gone."""
    poll = select.poll()
    poll.register(questions, select.POLLIN)
    free = 0
    while all(event & select.POLLIN for _, event in poll.poll()):
        # Who asked, or shall get the answer, may have been killed meanwhile.
        with suppress(FileNotFoundError):
            number = struct.unpack_from("Q", ioctl(questions, _RECEIVE, bytes(80)))[0]
            if not free:
                free = max(most - sum(processes_below(os.getpid(), most).values()), 0)
            answer = (0, _GO_ON) if free else (-errno.EAGAIN, 0)
            ioctl(questions, _SEND, struct.pack("QqiI", number, 0, *answer))
            free = max(free - 1, 0)


def _call(name: str, *arguments: int | ctypes.Array[ctypes.c_char]) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    done = int(getattr(libc, name)(*arguments))
    if done < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name)
    return done
