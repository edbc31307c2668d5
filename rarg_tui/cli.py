"""The command line. Data goes to stdout, narration to stderr; see ``rarg --help``.

Only the standard library is imported until a command runs: ``rarg --help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rarg_tui import __version__, streams
from rarg_tui.errors import RargError

#: Command → (module under rarg_tui.commands, what it does).
COMMANDS: dict[str, tuple[str, str]] = {
    "open": ("workbench", "the workbench (the default command)"),
    "demo": ("workbench", "the workbench on the sample corpus, a question loaded"),
    "index": ("index", "build or update the index; say what is there"),
    "recall": ("search", "the documents most relevant to a query, best first"),
    "grep": ("search", "search a scope with ripgrep, in relevance order"),
    "shell": ("search", "run a command as the agent's bash tool does, guard included"),
    "why": ("why", "how far a document or line came in a search, and where it was lost"),
    "run": ("run", "one run to its end, without the workbench"),
    "runs": ("runs", "list the saved runs"),
    "replay": ("runs", "print a saved run, step by step"),
    "fork": ("runs", "begin a new run from an event of a saved one"),
    "export": ("runs", "a saved run as Markdown or JSON"),
    "eval": ("evaluate", "measure on a data set"),
    "bench": ("bench", "rarg's own measurements, as ratios against the plain way"),
    "config": ("settings", "the settings and where each came from"),
    "cache": ("settings", "what is stored"),
    "doctor": ("doctor", "versions, models, devices, and how to get what is missing"),
}


class Parser(argparse.ArgumentParser):
    """Ends bad usage with one sentence and exit code 2."""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # Python 3.11 takes ``--query=--`` for an option without a value.
        if arg_strings == ["--"] and action.option_strings and action.nargs is None:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        sentence = _nearest(message, self)
        end = "" if sentence.endswith("?") else "."
        raise RargError(f"{self.prog}: {sentence}{end} `{self.prog} --help` shows the usage.")


def _nearest(message: str, parser: argparse.ArgumentParser) -> str:
    marker = "unrecognized arguments: "
    if not message.startswith(marker):
        return message
    wrong = message.removeprefix(marker).split()[0]
    if wrong.startswith("-") and "key" in wrong.split("=")[0]:
        return "a key does not belong on a command line, which others can read: set OPENAI_API_KEY"
    known = [option for action in parser._actions for option in action.option_strings]
    near = difflib.get_close_matches(wrong.split("=")[0], known, n=1)
    return f"unknown argument {wrong}" + (f"; did you mean {near[0]}?" if near else "")


def parser() -> argparse.ArgumentParser:
    """The parser of the top level, for ``--help`` alone: each command parses its own line."""
    rows = "\n".join(f"  {name:8} {text}" for name, (_, text) in COMMANDS.items())
    top = Parser(
        prog="rarg",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="rarg [COMMAND] [OPTIONS]",
        description="Search a directory of text the RARG way: relevance decides what ripgrep reads first.",
        epilog=f"commands:\n{rows}\n\n`rarg COMMAND --help` tells more. "
        "Exit codes: 0 done, 1 nothing found, 2 bad input, 3 a part is missing, 130 interrupted.",
    )
    top.add_argument("--version", action="version", version=f"rarg {__version__}")
    return top


def common(command: str, usage: str = "") -> Parser:
    """A parser with the options that every command has."""
    result = Parser(
        prog=f"rarg {command}", description=COMMANDS[command][1], usage=usage or None, allow_abbrev=False
    )
    result.add_argument(
        "-C",
        "--corpus",
        type=place,
        metavar="DIR",
        help="directory to search (default: RARG_CORPUS, else the sample)",
    )
    result.add_argument("--config", type=place, metavar="FILE", help="settings file")
    result.add_argument("--cache", type=place, metavar="DIR", help="where indexes are kept")
    result.add_argument("--quiet", action="store_true", help="no narration on stderr")
    result.add_argument("--json", action="store_true", help="print one JSON document")
    return result


def place(text: str) -> Path:
    """A path on the command line. An empty one, from a variable that is not set, is not this directory."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("it must not be empty")
    return Path(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        streams.settle()
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return _end(code)
    except RargError as error:
        text = str(error) if str(error).startswith("rarg") else f"rarg: {error}"
        return _end(error.exit_code, text)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone: there is nothing more to say to it.
        return _end(0)
    except OSError as error:
        named = isinstance(error.filename, str | bytes)
        what = os.fsdecode(error.filename) if named else "something could not be read or written"
        return _end(2, f"rarg: {what}: {error.strerror or error}.")


def _end(code: int, text: str = "") -> int:
    """Say ``text`` on stderr if that is possible, and let no output that is left fail at exit."""
    with contextlib.suppress(OSError):
        if text:
            print(_printable(text), file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            streams.silence(stream)
    return code


def _printable(text: str) -> str:
    """A sentence may quote a file name or a pattern: on a terminal, its control characters are shown."""
    if not sys.stderr.isatty():
        return text
    from rarg_tui.ui.safe_text import safe_lines

    return "\n".join(safe_lines(text))


def _dispatch(words: list[str]) -> int:
    if words and words[0] in ("-h", "--help", "--version"):
        parser().parse_args(words)
    name, rest = _command(words)
    module = importlib.import_module(f"rarg_tui.commands.{COMMANDS[name][0]}")
    handler: Callable[[list[str]], int] = getattr(module, name.replace("eval", "evaluate"))
    return handler(rest)


def _command(words: list[str]) -> tuple[str, list[str]]:
    """The command and its arguments: ``open`` when the line begins with a directory or an option."""
    if not words or words[0].startswith("-") or words[0] in COMMANDS:
        return (words[0], words[1:]) if words and words[0] in COMMANDS else ("open", words)
    if Path(words[0]).expanduser().is_dir():
        return "open", words
    near = difflib.get_close_matches(words[0], COMMANDS, n=1)
    hint = f"did you mean `rarg {near[0]}`?" if near else "`rarg --help` lists the commands."
    raise RargError(f"{words[0]!r} is neither a command nor a directory; {hint}")
