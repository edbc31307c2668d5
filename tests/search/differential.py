"""The ordered engine held against its reference: ONE rg over the whole list, byte for byte."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rarg_tui.errors import RargError
from rarg_tui.search.batches import BatchSizes
from rarg_tui.search.command import parse
from rarg_tui.search.execute import Executor, policy_of
from rarg_tui.search.grep import grep_raw
from rarg_tui.search.guard import check
from rarg_tui.search.process import Children, environment
from rarg_tui.search.raw import raw
from rarg_tui.search.rg import find_rg
from rarg_tui.search.rg_options import read_rg
from tests.search.random_corpus import Corpus
from tests.search.scene import context
from tests.search.searches import Command, Words

_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True)
class Result:
    """What a search printed, and its exit status."""

    output: bytes
    code: int


@dataclass(frozen=True, slots=True)
class Difference:
    """``way``: which of ours differs."""

    way: str
    command: Command
    paths: Words
    expected: Result
    got: Result | str

    def __str__(self) -> str:
        paths = f"{list(self.paths)!r}" if len(self.paths) < 20 else f"{len(self.paths)} files"
        said = f"{self.way}: {self.command.text}\n  scope: {paths}"
        if isinstance(self.got, str):
            return f"{said}\n  rg:   exit {self.expected.code}\n  ours: {self.got}"
        wanted, got = self.expected.output, self.got.output
        pairs = enumerate(zip(wanted, got, strict=False))
        at = next((at for at, (a, b) in pairs if a != b), min(len(wanted), len(got)))
        rows = (
            f"  {who} exit {result.code}, {len(result.output)} bytes, from {at}: "
            f"{result.output[max(0, at - 120) : at + 120]!r}"
            for who, result in (("rg:  ", self.expected), ("ours:", self.got))
        )
        return "\n".join([said, *rows])


def _is_text(output: bytes) -> bool:
    try:
        return "\0" not in output.decode()
    except UnicodeDecodeError:
        return False


@dataclass
class Runner:
    """Runs searches in ``corpus``; ``run_dir`` holds the scope."""

    corpus: Corpus
    run_dir: Path
    accepted: bool = field(default=False, init=False)

    def differences(self, command: Command, paths: Sequence[str], sizes: BatchSizes) -> Iterator[Difference]:
        """Where ours differ from the reference. Sets ``accepted``: whether rg took the command at all."""
        expected = self.reference(command, paths)
        if not _is_text(expected.output) and {step[0] for step in command.tail} & {"rg", "grep"}:
            # Whether they take what comes through a pipe for text depends on how much comes at a time.
            command = replace(command, tail=())
        ways: dict[str, tuple[Result, Callable[[], Result]]] = {
            "grep --raw": (expected, lambda: self._grep_raw(command, paths)),
            f"batches of {sizes.first}": (expected, lambda: self._raw(command, paths, sizes)),
            "xargs": (self._tailed(command, expected), lambda: self._xargs(command, paths)),
        }
        for way, (wanted, run) in ways.items():
            try:
                got: Result | str = run()
            except RargError as error:
                got = f"{type(error).__name__}: {error}"
            if got != wanted:
                yield Difference(way, command, tuple(paths), wanted, got)

    def reference(self, command: Command, paths: Sequence[str]) -> Result:
        """The one rg's output, and our exit status for it: a file that is not there spoils none of the
        others' matches."""
        there = [path for path in paths if (self.corpus.root / path).exists()]
        output, code = self._rg(command, paths)
        self.accepted = code != 2
        if code == 2 and len(there) < len(paths):
            found = self._rg(command, there, "--quiet")[1] if there else 1
            self.accepted = found != 2
            return Result(output, 0 if found == 0 else 2)
        return Result(output, 0 if code == 2 and output else code)

    def _rg(self, command: Command, paths: Sequence[str], *quiet: str) -> tuple[bytes, int]:
        argv = [find_rg().path, "-j1", "--no-config", "--no-mmap", "-H", *command.reference, *quiet, "--"]
        operands = ["./-" if path == "-" else path for path in paths]
        return self._run([*argv, *operands], None)

    def _run(self, argv: Sequence[str], data: bytes | None) -> tuple[bytes, int]:
        done = subprocess.run(
            [os.fsencode(word) for word in argv],
            cwd=self.corpus.root,
            stdin=subprocess.DEVNULL if data is None else None,
            input=data,
            capture_output=True,
            env=environment(),
            check=False,
        )
        return done.stdout, done.returncode

    def _tailed(self, command: Command, expected: Result) -> Result:
        for step in command.tail:
            argv = [find_rg().path if step[0] == "rg" else step[0], *step[1:]]
            expected = Result(*self._run(argv, expected.output))
        return expected

    def _grep_raw(self, command: Command, paths: Sequence[str]) -> Result:
        out = bytearray()
        done = grep_raw(self.corpus.root, paths, command.typed, out.extend)
        return Result(bytes(out), done.exit_code)

    def _raw(self, command: Command, paths: Sequence[str], sizes: BatchSizes) -> Result:
        out = bytearray()
        with Children() as children:
            done = raw(
                find_rg(), read_rg(command.typed), paths, root=str(self.corpus.root), children=children,
                write=out.extend, sizes=sizes,
            )  # fmt: skip
        return Result(bytes(out), 2 if done.error else 0 if done.found else 2 if done.problems else 1)

    def _xargs(self, command: Command, paths: Sequence[str]) -> Result:
        here = context(self.corpus.root, self.run_dir, paths)
        ((plan,),) = (and_or.pipelines for and_or in check(parse(command.text), policy_of(here)))
        executor = Executor(here)
        with Children(readable=executor.readable) as children:
            done = executor.run(plan.steps, children, _LIMIT)
        return Result(done.output, done.codes[-1])
