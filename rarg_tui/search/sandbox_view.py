"""The corpus as the sandbox sees it. This is a program of its own, which bwrap takes the place of:

    python -I -S sandbox_view.py ROOT RUN_DIR NUMBERS PROCESSES BWRAP [ARGUMENT…]

In a user and a mount namespace of its own it mounts over ROOT, read-only, what is to be seen there: the
corpus, and in a layer above it the run's scopes, each under its bare name, and a whiteout for whatever is
no part of the corpus: hidden files, symlinks, what is neither a file nor a directory (whoever reads a pipe
waits for a writer), and scope files of the corpus' own. bwrap alone cannot do that: it binds a file only to
a name that is there already, and nothing may be created in the corpus. An overlay shows one file system:
what is mounted somewhere below ROOT is not seen.

ARGUMENT… may start no more than PROCESSES in all, threads among them.

It imports next to nothing, so that it starts at once and in Python's isolated mode. See overlayfs in the
kernel's documentation, mount(2), user_namespaces(7).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

if __name__ == "__main__":
    sys.path.append(os.path.abspath(f"{__file__}/../../.."))

from rarg_tui.search import sandbox_limit

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 0x1000, 0x4000, 0x40000
#: mount_setattr(2), which has the same number on every architecture, and its flags.
_SET_ATTRIBUTES, _HERE, _WITH_MOUNTS_BELOW = 442, -100, 0x8000

#: bwrap itself makes one or two user namespaces; a command that could make more could mount more.
_USER_NAMESPACES = 2

_SCOPE = re.compile(r"scope_[0-9]{1,9}\.txt")


def main(root: str, run_dir: str, numbers: str, processes: str, *command: str) -> None:
    """``numbers``: those of the scopes, joined by commas. Does not return; raises ``OSError``."""
    sandbox_limit.die_with(os.getppid())
    if os.getuid() == 0:
        sandbox_limit.limit_processes(int(processes))
    parent = os.getppid()
    _become_root_of_a_namespace()
    # Once more: who becomes another is asked anew.
    sandbox_limit.die_with(parent)
    scopes = {}
    for number in filter(None, numbers.split(",")):
        with open(os.path.join(run_dir, f"scope_{number}.txt"), "rb") as file:
            scopes[f"scope_{number}.txt"] = file.read()
    _call("mount", b"none", b"/", None, _PRIVATE | _RECURSIVE, None)
    _close_devices()
    _mount_view(root, scopes)
    _limit_in_kernel(int(processes))
    os.execve(command[0], command, {})


def _become_root_of_a_namespace() -> None:
    """Only there may one mount; outside, this process can do what it could before, and no more."""
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEW_USER | _NEW_MOUNTS)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"0 {user} 1")
    _write("/proc/self/gid_map", f"0 {group} 1")
    for path, text in (
        ("/proc/sys/user/max_user_namespaces", str(_USER_NAMESPACES)),
        # What fills the memory in ways that nobody counts is what the kernel kills first.
        ("/proc/self/oom_score_adj", "1000"),
    ):
        # A container may keep these read-only; they are a second line of defence.
        with suppress(OSError):
            _write(path, text)


def _limit_in_kernel(most: int) -> None:
    """The kernel (5.14 and later) counts them in each user namespace anew, so what else this person runs
    does not matter. It never refuses root a process."""
    _, allowed = resource.getrlimit(resource.RLIMIT_NPROC)
    if allowed == resource.RLIM_INFINITY or allowed > most:
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _close_devices() -> None:
    """bwrap binds /dev/null and the like, which can be written to all the same; but root, as their owner,
    must not be able to change their mode."""
    _call("mount", b"/dev", b"/dev", None, _BIND | _RECURSIVE, None)
    attributes = struct.pack("QQQQ", _READ_ONLY, 0, 0, 0)
    _call("syscall", _SET_ATTRIBUTES, _HERE, b"/dev", _WITH_MOUNTS_BELOW, attributes, len(attributes))


def _no_documents(root: str) -> Iterator[str]:
    """What must not be seen below ``root``: relative paths of files and directories."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with suppress(OSError), os.scandir(os.path.join(root, below)) as entries:
            for entry in entries:
                path = below + entry.name
                if entry.name.startswith(".") or _SCOPE.fullmatch(path):
                    yield path
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(path + "/")
                elif not entry.is_file(follow_symlinks=False):
                    yield path


def _mount_view(root: str, scopes: Mapping[str, bytes]) -> None:
    corpus = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    _call("mount", b"tmpfs", os.fsencode(root), b"tmpfs", _NO_SUID | _NO_DEVICES, b"mode=755")
    layer = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    if os.path.samestat(os.fstat(corpus), os.fstat(layer)):
        # So it is with /, and what is meant for the layer must not be written to the corpus.
        raise OSError(errno.EINVAL, f"{root} cannot be covered", "mount")
    # Named by their descriptors, they need no quoting, whatever is in their paths.
    below, above = f"/proc/self/fd/{corpus}", f"/proc/self/fd/{layer}"
    for path in _no_documents(below):
        if path not in scopes:
            os.makedirs(os.path.join(above, os.path.dirname(path)), exist_ok=True)
            os.mknod(os.path.join(above, path), stat.S_IFCHR, os.makedev(0, 0))
    for name, data in scopes.items():
        with open(os.path.join(above, name), "wb") as file:
            file.write(data)
    flags = _READ_ONLY | _NO_SUID | _NO_DEVICES
    layers = f"userxattr,lowerdir={above}:{below}"
    _call("mount", b"overlay", os.fsencode(root), b"overlay", flags, layers.encode())


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _call(name: str, *arguments: int | bytes | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.filename or 'sandbox'}: {error.strerror}")
