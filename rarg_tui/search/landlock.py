"""The second wall: what the Linux kernel lets a child process do, whatever it was made to try.

Landlock (Linux 5.13 and later, no privileges needed) takes rights away from the calling thread and from
all that it starts, for good. See landlock(7) and the kernel's ``include/uapi/linux/landlock.h``, from
which the numbers are.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

#: What is so without it.
MISSING = "not in this kernel; the guard's parser is the only wall here"

#: These numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_IOCTL = 1 << 15
#: How many rights to files each version of Landlock knows.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_TCP = 3
#: Abstract Unix sockets, signals to processes outside.
_SCOPED = 3

#: Where C.UTF-8 comes from with older C libraries, and the list of where libraries are.
_OF_THE_LOADER = ("/etc/ld.so.cache", "/usr/lib/locale/C.UTF-8", "/usr/lib/locale/C.utf8")
_ELF_INTERPRETER = 3


@lru_cache(maxsize=1)
def version() -> int:
    """The version of Landlock that really works here, or 0.

    It is tried, since a kernel may have it and a container forbid it.
    """
    if sys.platform != "linux":
        return 0
    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(restrict, (), ()).result()
    except OSError:
        return 0
    return _version()


def restrict(readable: Iterable[str], program: Iterable[str]) -> None:
    """Take from this thread, and from what it starts, every right to files but these: to read what is
    ``readable`` (files, or directories with all below), to run and read the files of a ``program``, and to
    use ``/dev/null``; and to reach the network or processes of ours. Raises ``OSError``.
    """
    abi = _version()
    if abi < 1:
        raise OSError("no Landlock")
    files = (1 << _FILE_RIGHTS.get(abi, 16)) - 1
    attributes = struct.pack("QQQ", files, _TCP if abi >= 4 else 0, _SCOPED if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _call(_CREATE_RULESET, attributes, size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        for path in program:
            _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        _allow(ruleset, os.devnull, (_READ_FILE | _WRITE_FILE | _IOCTL) & files)
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


@lru_cache(maxsize=64)
def files_of(program: str) -> tuple[str, ...]:
    """The files that the kernel and the loader open to run ``program``, an absolute path: itself, its
    loader, its libraries."""
    loader = _loader(program)
    if not loader:
        return (program,)
    # The C library's loader and musl's both list libraries like this; the program itself does not run.
    done = subprocess.run(
        [loader, "--list", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        env={},
        check=False,
    )
    libraries = re.findall(rb"(?:^|=>)\s*(/\S.*?) \(0x", done.stdout, re.MULTILINE)
    there = (path for path in _OF_THE_LOADER if os.path.exists(path))
    return (program, loader, *map(os.fsdecode, libraries), *there)


def _loader(program: str) -> str:
    """The ELF interpreter that ``program`` asks for, or ``""``: it is linked statically."""
    with open(program, "rb") as file:
        head = file.read(64)
        if head[:5] != b"\x7fELF\x02":
            return ""
        order = "<" if head[5] == 1 else ">"
        (at,) = struct.unpack_from(order + "Q", head, 32)
        size, count = struct.unpack_from(order + "HH", head, 54)
        for number in range(count):
            file.seek(at + number * size)
            entry = file.read(size)
            kind, _, offset, _, _, length = struct.unpack_from(order + "IIQQQQ", entry)
            if kind == _ELF_INTERPRETER:
                file.seek(offset)
                return os.fsdecode(file.read(length).rstrip(b"\0"))
    return ""


def _version() -> int:
    libc = ctypes.CDLL(None)
    return int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not os.path.isdir(f"/proc/self/fd/{opened}"):
            rights &= ~_READ_DIR
        rule = struct.pack("=Qi", rights, opened)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: int | bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    done = int(libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))
    if done < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return done
