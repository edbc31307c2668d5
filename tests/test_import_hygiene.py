"""Imports point one way and stay cheap. The contracts in pyproject.toml read the code; these tests also
see what a module really loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rarg_tui

PACKAGE = Path(rarg_tui.__file__).parent
#: Imported inside the functions that need them, never at the top of a module.
HEAVY = {"torch", "sentence_transformers", "faiss", "openai", "tantivy", "pymilvus", "milvus_lite", "grpc"}


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(PACKAGE.rglob("*.py"))
WITHOUT_SCREEN = [
    module_name(file) for file in FILES if "ui" not in file.parts and file.name != "__main__.py"
]


def loaded_after(code: str) -> list[set[str]]:
    """Runs ``code`` in a fresh interpreter; each call of its ``report()`` gives the names of all modules
    loaded by then."""
    prelude = (
        "import json, os, sys\n"
        "out = os.fdopen(os.dup(1), 'w')\n"
        "def report(): print(json.dumps(sorted(sys.modules)), file=out, flush=True)\n"
        "sys.stdout = sys.stderr\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [set(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_command_line_answers_without_loading_anything_slow(option: str) -> None:
    imported, answered = loaded_after(
        "import rarg_tui.cli\n"
        "report()\n"
        f"try: assert not rarg_tui.cli.main([{option!r}])\n"
        "except SystemExit as end: assert not end.code\n"
        "report()\n"
    )
    slow = HEAVY | {"textual", "rich", "numpy", "tokenizers", "pygments", "tree_sitter"}
    assert not imported & slow
    assert not answered & slow


def test_no_module_but_the_interface_loads_textual_or_a_heavy_library() -> None:
    code = "import importlib\n" + "".join(
        f"importlib.import_module({name!r})\nreport()\n" for name in WITHOUT_SCREEN
    )
    for name, modules in zip(WITHOUT_SCREEN, loaded_after(code), strict=True):
        assert not modules & (HEAVY | {"textual"}), f"importing {name} loads what it should not"


def test_the_vocabulary_of_events_stands_alone() -> None:
    (modules,) = loaded_after("import rarg_tui.trace.events\nreport()\n")
    ours = {name for name in modules if name.split(".")[0] == "rarg_tui"}
    assert ours == {"rarg_tui", "rarg_tui.trace", "rarg_tui.trace.events"}


def imports_outside_functions(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and not child.level:
            yield child.module or ""
        elif not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ) and not is_typing_only(child):
            yield from imports_outside_functions(child)


def is_typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_heavy_libraries_are_imported_inside_functions(file: Path) -> None:
    tops = {name.split(".")[0] for name in imports_outside_functions(ast.parse(file.read_bytes()))}
    assert not tops & HEAVY


def test_the_reader_of_imports_sees_what_runs_at_import() -> None:
    code = (
        "import a\n"
        "from b.c import d\n"
        "if x:\n    import e\n"
        "try:\n    import f\nexcept ImportError:\n    pass\n"
        "class C:\n    import g\n    def m(self):\n        import no\n"
        "if TYPE_CHECKING:\n    import no\n"
        "async def n():\n    import no\n"
    )
    assert list(imports_outside_functions(ast.parse(code))) == ["a", "b.c", "e", "f", "g"]
