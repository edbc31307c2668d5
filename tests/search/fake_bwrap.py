"""A bwrap that confines nothing: it starts the command in the corpus, so that all around it can be tested
on machines that have no bwrap, or no user namespaces."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rarg_tui.search import sandbox
from rarg_tui.search.sandbox import Sandbox

#: In place of the view of the corpus: bwrap, at once.
_NO_VIEW = "import os, sys; os.execv(sys.argv[5], sys.argv[5:])"

_START = """\
options = sys.argv[: sys.argv.index("--")]
os.chdir(options[options.index("--chdir") + 1])
os.execv("/bin/bash", sys.argv[len(options) + 1 :])
"""


def put(monkeypatch: pytest.MonkeyPatch, place: Path, code: str = _START) -> Sandbox:
    """Let the sandbox find a bwrap in ``place`` that is ``code``, which has ``os`` and ``sys``."""
    place.mkdir(exist_ok=True)
    program = place / "bwrap"
    program.write_text(f"#!{sys.executable} -IS\nimport os, sys\n{code}", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "_VIEW", (sys.executable, "-I", "-S", "-c", _NO_VIEW))
    monkeypatch.setattr(sandbox, "find_program", {"bwrap": str(program)}.get)
    return Sandbox(str(program), proc=True)
