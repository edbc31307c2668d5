"""A judge of our parser: bash itself, which says what it would start. It starts nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rarg_tui.search.command import Pipeline, Script, Simple

BASH = shutil.which("bash")

#: A call as bash and we see it: where stdin, stdout and stderr go (n: /dev/null, m: with stdout), and argv.
Call = tuple[str, tuple[str, ...]]

# No program can be started: the path leads nowhere. What bash has built in and we allow is replaced by a
# function; what it does not find it gives to command_not_found_handle. Both only write down their words.
_PREAMBLE = r"""
__call() {
  local to
  [[ /dev/fd/0 -ef /dev/null ]] && to=n || to=-
  [[ /dev/fd/1 -ef /dev/null ]] && to+=n || to+=-
  if [[ /dev/fd/2 -ef /dev/null ]]; then to+=n; elif [[ /dev/fd/2 -ef /dev/fd/1 ]]; then to+=m; else to+=-; fi
  builtin printf '%s\0' "$#" "$to" "$@" >>"$RECORDS/$BASHPID"
  return $(( ($# + STATUS) % 2 ))
}
command_not_found_handle() { __call "$@"; }
for name in echo printf test [ true false :; do eval "$name() { __call $name \"\$@\"; }"; done
unset name
"""


def bash_calls(text: str, directory: Path, records: Path, status: int) -> list[Call]:
    """What bash would start for ``text`` in ``directory``, in any order. A call succeeds when the number of
    its words, with ``status`` added, is even. ``records``: an empty directory, where each process of bash
    writes its calls down."""
    assert BASH is not None
    subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", _PREAMBLE + text],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=directory,
        env={
            "PATH": "/nowhere",
            "HOME": "/home/x",
            "LANG": "C.UTF-8",
            "STATUS": str(status),
            "RECORDS": str(records),
        },
        timeout=20,
        check=False,
    )
    calls: list[Call] = []
    for record in records.iterdir():
        calls += _records(os.fsdecode(field) for field in record.read_bytes().split(b"\0")[:-1])
        record.unlink()
    return sorted(calls)


def _records(fields: Iterator[str]) -> Iterator[Call]:
    for count in fields:
        to = next(fields)
        yield to, tuple(next(fields) for _ in range(int(count)))


def our_calls(script: Script, status: int) -> list[Call]:
    """What we would start for ``script``, under the same rule of success."""
    return sorted(_Walk(status).script(script))


@dataclass
class _Walk:
    status: int
    pipefail: bool = False
    errexit: bool = False

    def script(self, script: Script) -> Iterator[Call]:
        for and_or in script.lists:
            code, ran = 0, 0
            for at, pipeline in enumerate(and_or.pipelines):
                if at and (code == 0) != (and_or.operators[at - 1] == "&&"):
                    continue
                yield from self._calls(pipeline)
                code, ran = self._code(pipeline), at
            last = ran == len(and_or.pipelines) - 1
            if self.errexit and code and last and not and_or.pipelines[-1].negated:
                return

    def _calls(self, pipeline: Pipeline) -> Iterator[Call]:
        for at, command in enumerate(pipeline.commands):
            if command.argv[0] == "set":
                self._set(command.argv[1:])
            else:
                yield _to(command, at == 0), command.argv

    def _code(self, pipeline: Pipeline) -> int:
        codes = [
            0 if command.argv[0] == "set" else (len(command.argv) + self.status) % 2
            for command in pipeline.commands
        ]
        code = max(codes) if self.pipefail else codes[-1]
        return int(not code) if pipeline.negated else code

    def _set(self, words: Sequence[str]) -> None:
        for at, word in enumerate(words):
            if word in ("pipefail", "errexit"):
                setattr(self, word, words[at - 1][0] == "-")
            elif "e" in word and word not in ("nounset",):
                self.errexit = word[0] == "-"


def _to(command: Simple, first: bool) -> str:
    to = command.redirects
    null = first if to.stdin is None else to.stdin.text == "/dev/null"
    out = "n" if to.stdout == "null" else "-"
    merged = "n" if out == "n" else "m"
    return ("n" if null else "-") + out + {"keep": "-", "null": "n", "merge": merged}[to.stderr]


def opens_elsewhere(text: str) -> bool:
    """Whether a redirect in ``text`` might open a file outside the directory, if it is one: then bash had
    better not see it."""
    after = re.findall(r"[<>].{0,40}", text.replace("/dev/null", ""), re.DOTALL)
    return any("/" in piece for piece in after)
