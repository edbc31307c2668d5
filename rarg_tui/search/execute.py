"""Running a pipeline: programs and our own steps side by side, joined by pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from rarg_tui.errors import RargError
from rarg_tui.search.batches import BatchSizes, batches
from rarg_tui.search.call import as_operands
from rarg_tui.search.command import Redirects
from rarg_tui.search.context import ShellContext
from rarg_tui.search.documents import below, relative
from rarg_tui.search.guard import Listed, ListFiles, Program, Search, Settings, Step
from rarg_tui.search.places import Admission, Place, Policy
from rarg_tui.search.process import ENOUGH, Children, Drain, Stopped, find_program
from rarg_tui.search.raw import RawScan, raw
from rarg_tui.search.refusal import CommandError
from rarg_tui.search.rg import find_rg
from rarg_tui.search.xargs import Xargs, split_names

#: The most that is read as a list of names: far more than any scope.
_NAMES = 64 * 1_024 * 1_024
_ERRORS = 16_384
TOO_MANY = "the list of names for xargs is too long; shorten it with head."


@dataclass(slots=True)
class Piped:
    """``output`` of the last step, ``cut`` when there was more than the limit; the exit ``codes`` of
    all; what they wrote to stderr; how the rg scans among them ended; the sentence that stopped a step
    from running at all."""

    output: bytes
    cut: bool
    codes: list[int]
    errors: str
    scans: list[RawScan]
    failure: str = ""


class Executor:
    """Runs the steps of one command in its context."""

    def __init__(self, context: ShellContext) -> None:
        self.context = context
        self.root = str(context.root)
        scopes = (context.run_dir / f"scope_{number}.txt" for number in context.scopes)
        self.readable = (self.root, *map(str, scopes))

    @cached_property
    def admission(self) -> Admission:
        return Admission(policy_of(self.context), self.documents_known)

    @cached_property
    def documents_known(self) -> frozenset[str]:
        """The documents that an output may name: those of the scopes, or all where all may be searched."""
        known = {path for scope in self.context.scopes.values() for path in scope.paths}
        if self.context.whole_corpus:
            known.update(self.context.paths())
        return frozenset(known)

    def run(self, steps: Sequence[Step], children: Children, limit: int) -> Piped:
        """Run ``steps``, keeping at most ``limit`` bytes of the output. What is still running when the
        limit is reached is killed."""
        running: list[_Running] = []
        source: int | None = None
        failure = ""
        for step in steps:
            try:
                source, one = self._start(step, source, children)
            except (OSError, Stopped, CommandError) as error:
                failure = "" if isinstance(error, Stopped) else str(error)
                source = None
                break
            running.append(one)
        output, cut = (b"", False) if source is None else _read(source, limit)
        if cut or failure:
            children.stop(ENOUGH)
        codes = [one.wait() for one in running]
        if cut:
            codes = [0 for _ in codes]
        for one in running:
            failure = failure or one.failure
        errors = "".join(one.errors() for one in running)
        scans = [one.scan for one in running if one.scan is not None]
        return Piped(output, cut, codes, errors[:_ERRORS], scans, failure)

    def names(self, xargs: Xargs, data: bytes) -> list[str]:
        """The names that xargs would pass on. Raises :class:`CommandError`."""
        if xargs.file:
            name = self._file(Place("scope" if xargs.scope else "", xargs.file, xargs.scope))
            with open(os.path.join(self.root, name), "rb") as file:
                data = file.read(_NAMES)
        return [os.fsdecode(name) for name in split_names(data, xargs)]

    def documents(self, places: Sequence[Place], filters: Sequence[str], children: Children) -> list[str]:
        """The documents that ``places`` name or hold, in order."""
        if all(place.kind != "directory" for place in places):
            return [relative(place.text, self.root) for place in places]
        paths = self.context.paths()
        return below(places, paths, self.root, filters, children)

    # Starting steps. Each gets the read end of the pipe before it and gives the read end of its own.

    def _start(self, step: Step, source: int | None, children: Children) -> tuple[int, _Running]:
        read, write = os.pipe()
        redirects = _AS_USUAL if isinstance(step, Settings) else step.redirects
        out: int = write
        if redirects.stdout == "null":
            os.close(write)
            out = os.open(os.devnull, os.O_WRONLY)
        try:
            if isinstance(step, Program):
                running: _Running = self._program(step, source, out, children)
            else:
                running = _Thread(self._body(step, children), source, out, redirects)
                return read, running
        except BaseException:
            os.close(read)
            raise
        finally:
            if isinstance(step, Program):
                os.close(out)
                if source is not None:
                    os.close(source)
        return read, running

    def _program(self, step: Program, source: int | None, out: int, children: Children) -> _Running:
        name, *words = step.argv
        cwd, files = self._files(step.files)
        argv = [name, *words, *(["--", *files] if files else [])]
        stderr = {"keep": subprocess.PIPE, "null": subprocess.DEVNULL, "merge": out}[step.redirects.stderr]
        stdin = subprocess.DEVNULL if source is None else source
        process = children.start(
            argv, cwd=cwd, executable=self._find(name), stdin=stdin, stdout=out, stderr=stderr
        )
        return _Process(process, children)

    def _find(self, name: str) -> str:
        path = find_rg().path if name == "rg" else find_program(name)
        if path is None:
            raise CommandError(f"{name} is not installed on this machine; use another program.")
        return path

    def _files(self, places: Sequence[Place]) -> tuple[str, list[str]]:
        """The working directory and the operands: a scope is called by its bare name where possible,
        so that the output of wc or head names it as the command does."""
        scopes_only = {place.kind for place in places} == {"scope"}
        if scopes_only:
            return str(self.context.run_dir), [f"scope_{place.scope}.txt" for place in places]
        return self.root, [self._file(place) for place in places]

    def _file(self, place: Place) -> str:
        if place.kind == "scope":
            return str(self.context.run_dir / f"scope_{place.scope}.txt")
        return place.text

    def _body(self, step: Step, children: Children) -> Callable[[_Thread], int]:
        def search(thread: _Thread) -> int:
            assert isinstance(step, Search)
            if step.xargs is not None:
                paths = self.names(step.xargs, thread.input())
            else:
                thread.close_input()
                filters = [word for option in step.call.filters for word in option.argv()]
                paths = self.documents(step.places, filters, children)
            thread.scan = raw(
                find_rg(),
                step.call,
                paths,
                root=self.root,
                children=children,
                write=thread.write,
                refusal=self.admission.refusal,
            )
            return exit_code_of(thread.scan)

        def list_files(thread: _Thread) -> int:
            assert isinstance(step, ListFiles)
            thread.close_input()
            filters = [word for option in step.call.filters for word in option.argv()]
            paths = self.documents(step.places, filters, children)
            for path in paths:
                thread.write(os.fsencode(path) + b"\n")
            return 0 if paths else 1

        def listed(thread: _Thread) -> int:
            assert isinstance(step, Listed)
            return self._listed(step, thread, children)

        def settings(thread: _Thread) -> int:
            return 0

        bodies = {Search: search, ListFiles: list_files, Listed: listed, Settings: settings}
        return bodies[type(step)]

    def _listed(self, step: Listed, thread: _Thread, children: Children) -> int:
        names = self.names(step.xargs, thread.input())
        statuses: list[int] = []
        if step.reads:
            kept = []
            for name in names:
                reason = self.admission.refusal(name)
                if reason:
                    thread.say(reason if name in reason else f"{name}: {reason}")
                else:
                    kept.append(name)
            statuses += [2] if len(kept) < len(names) else []
            names = kept
        most = step.xargs.most or 2_000
        program = self._find(step.argv[0])
        for batch in batches(names, BatchSizes(first=most, growth=1, most=most)):
            operands = ["--", *as_operands(batch)] if step.reads else list(batch)
            process = children.start(
                [*step.argv, *operands],
                cwd=self.root,
                executable=program,
                stdout=thread.out,
                stderr=thread.out if step.redirects.stderr == "merge" else subprocess.PIPE,
            )
            if process.stderr is not None:
                drain = Drain(process.stderr)
                ended = children.wait(process)
                thread.say(drain.text())
            else:
                ended = children.wait(process)
            if ended < 0:
                return 0 if -ended == signal.SIGPIPE else 128 - ended
            statuses.append(ended)
        if step.argv[0] == "grep":
            # As of one grep over all names: a batch without a match is no error.
            return 2 if max(statuses, default=1) > 1 else min(statuses, default=1)
        return 123 if any(statuses) else 0


_AS_USUAL = Redirects()


def policy_of(context: ShellContext) -> Policy:
    return Policy(str(context.root), str(context.run_dir), tuple(context.scopes), context.whole_corpus)


def exit_code_of(scan: RawScan) -> int:
    """0 found, 1 nothing found, 2 failed."""
    if scan.error:
        return 2
    return 0 if scan.found else 2 if scan.problems else 1


def _read(source: int, limit: int) -> tuple[bytes, bool]:
    kept = bytearray()
    with os.fdopen(source, "rb", buffering=0) as stream:
        while len(kept) <= limit and (chunk := stream.read(65_536)):
            kept += chunk
    return bytes(kept[:limit]), len(kept) > limit


class _Running:
    """A step that was started."""

    failure = ""
    scan: RawScan | None = None

    def wait(self) -> int:
        raise NotImplementedError

    def errors(self) -> str:
        raise NotImplementedError


class _Process(_Running):
    def __init__(self, process: subprocess.Popen[bytes], children: Children) -> None:
        self._process = process
        self._children = children
        self._errors = Drain(process.stderr) if process.stderr is not None else None

    def wait(self) -> int:
        code = self._children.wait(self._process)
        return code if code >= 0 else 128 - code

    def errors(self) -> str:
        return self._errors.text() if self._errors is not None else ""


class _Thread(_Running):
    """A step of our own: ``body`` reads its input, writes its output, returns its exit code."""

    def __init__(
        self, body: Callable[[_Thread], int], source: int | None, out: int, redirects: Redirects
    ) -> None:
        self.out = out
        self.failure = ""
        self.scan = None
        self._code = 0
        self._said: list[str] = []
        self._redirects = redirects
        self._source: IO[bytes] | None = None if source is None else os.fdopen(source, "rb", buffering=0)
        self._thread = threading.Thread(target=self._run, args=(body,), name="rarg-step", daemon=True)
        self._thread.start()

    def wait(self) -> int:
        self._thread.join()
        return self._code

    def errors(self) -> str:
        return "".join(self._said)

    def input(self) -> bytes:
        """All that comes through the pipe, up to the limit for names."""
        if self._source is None:
            return b""
        kept = bytearray()
        while len(kept) < _NAMES and (chunk := self._source.read(65_536)):
            kept += chunk
        self.close_input()
        if len(kept) >= _NAMES:
            raise CommandError(TOO_MANY)
        return bytes(kept)

    def close_input(self) -> None:
        if self._source is not None:
            self._source.close()

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.out, view) :]

    def say(self, text: str) -> None:
        """A message for stderr."""
        if text and self._redirects.stderr == "keep":
            self._said.append(text if text.endswith("\n") else text + "\n")
        elif text and self._redirects.stderr == "merge":
            self.write(text.encode("utf-8", "surrogateescape") + b"\n")

    def _run(self, body: Callable[[_Thread], int]) -> None:
        try:
            self._code = body(self)
        except RargError as error:
            self.failure, self._code = str(error), 2
        except (BrokenPipeError, Stopped):
            self._code = 0
        except OSError as error:
            name = os.path.basename(os.fsdecode(error.filename or ""))
            self.failure, self._code = f"{name}: {error.strerror}".removeprefix(": "), 2
        finally:
            self.close_input()
            os.close(self.out)
