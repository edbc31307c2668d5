"""A judge of our tables: the option strings that the programs themselves give to getopt, and their help."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from rarg_tui.search import rg_options, xargs
from rarg_tui.search.command import Script
from rarg_tui.search.guard import AndOrPlan, ListFiles, Program, Search, Step
from rarg_tui.search.places import Place
from rarg_tui.search.programs import PROGRAMS
from tests.search import option_tables as tables
from tests.search.option_tables import ADDED, FORBIDDEN, GETOPT, PATTERNS

_ALLOWED = frozenset(tables.ALLOWED.split())
_NO_NAMES = frozenset(("xargs", "find", "test", "[", "set", ":", "true", "false", "tr", "uniq", "comm"))
RG_VALUES = frozenset(tables.RG_VALUES.split())
_RG_OURS = frozenset(tables.RG_OURS.split())
_TEST_FILE = frozenset(tables.TEST_FILE.split())
_FIND = {**dict.fromkeys(tables.FIND_ONE.split(), 1), **dict.fromkeys(tables.FIND_NONE.split(), 0)}

#: An option's name with its dashes, and its value.
Option = tuple[str, str | None]


@dataclass(frozen=True)
class Scene:
    """Where commands are tried: a corpus, a run with ``scopes``, and a directory for bash to write to."""

    root: Path
    run_dir: Path
    scopes: tuple[int, ...]
    records: Path

    def inside(self, text: str) -> bool:
        """Whether ``text`` names something that may be read, or nothing at all."""
        if text in ("-", "/dev/null"):
            return True
        path = Path(text)
        if str(path.parent) in (".", str(self.run_dir)) and re.fullmatch(r"scope_[0-9]+[.]txt", path.name):
            return path.name in {f"scope_{number}.txt" for number in self.scopes}
        try:
            real = (self.root / text).resolve()
            hidden = any(part.startswith(".") for part in real.relative_to(self.root.resolve()).parts)
            return not hidden and (real.is_file() or real.is_dir() or not real.exists())
        except ValueError:
            return False
        except OSError:
            return True


@dataclass(frozen=True)
class Read:
    """Options as (name with dashes, value), and operands."""

    options: list[Option]
    operands: list[str]

    def forbidden(self, program: str) -> set[str]:
        return {name for name, _ in self.options} & set(FORBIDDEN.get(program, "").split())

    def values(self, *names: str) -> list[str]:
        return [value or "" for name, value in self.options if name in names]


def read(program: str, words: Sequence[str]) -> Read:
    """``words`` as the program itself reads them. Raises ``ValueError`` where it would complain."""
    if program == "rg":
        return _read(words, lambda letter: "=" if letter in RG_VALUES else "", _rg_long, equals=True)
    _, long = GETOPT[program]

    def of_long(name: str) -> tuple[str, str]:
        names = _long(long)
        whole = [name] if name in names else [known for known in names if known.startswith(name)]
        if len(whole) != 1:
            raise ValueError(f"--{name}")
        return whole[0], names[whole[0]]

    return _read(words, lambda letter: takes(program, f"-{letter}"), of_long, permute=program != "xargs")


def takes(program: str, name: str) -> str:
    """What an option takes: ``""`` nothing, ``=`` a value, ``?`` one that is attached."""
    short, long = GETOPT[program]
    if name.startswith("--"):
        return _long(long)[name[2:]]
    found = re.search(f"{re.escape(name[1])}(:{{0,2}})", short)
    if found is None or name == "-:":
        raise ValueError(name)
    return {"": "", ":": "=", "::": "?"}[found[1]]


def _long(names: str) -> dict[str, str]:
    return {name.rstrip("=?"): name[len(name.rstrip("=?")) :] for name in names.split()}


def _rg_long(name: str) -> tuple[str, str]:
    return name, "=" if name in RG_VALUES else ""


def _read(
    words: Sequence[str],
    of_short: Callable[[str], str],
    of_long: Callable[[str], tuple[str, str]],
    *,
    permute: bool = True,
    equals: bool = False,
) -> Read:
    rest = list(words)
    options: list[Option] = []
    operands: list[str] = []

    def value() -> str:
        if not rest:
            raise ValueError("no value")
        return rest.pop(0)

    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word.startswith("--"):
            given, attached, text = word[2:].partition("=")
            name, wants = of_long(given)
            if attached and not wants:
                raise ValueError(word)
            options.append((f"--{name}", text if attached else value() if wants == "=" else None))
        elif word.startswith("-") and word != "-":
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                wants = of_short(letter)
                if not wants or (wants == "?" and not letters):
                    options.append((f"-{letter}", None))
                    continue
                whole = letters[1:] if equals and letters.startswith("=") else letters or value()
                options.append((f"-{letter}", whole))
                break
        else:
            operands.append(word)
            if not permute:
                operands += rest
                break
    return Read(options, operands)


def judge(script: Script, plan: Sequence[AndOrPlan], scene: Scene) -> None:
    """Fails where an allowed command is not, by these tables, what may run."""
    commands = [c for a in script.lists for p in a.pipelines for c in p.commands]
    steps = [s for a in plan for p in a.pipelines for s in p.steps]
    for command in commands:
        if command.redirects.stdin is not None:
            assert scene.inside(command.redirects.stdin.text)
            feed = steps.pop(0)
            assert isinstance(feed, Program)
            assert feed.argv == ("cat",)
        _command(command.argv, steps.pop(0), scene)
    assert not steps


def _command(argv: Sequence[str], step: Step, scene: Scene) -> None:
    name, *words = argv
    assert name in _ALLOWED
    if name in ("echo", "printf", "true", "false", ":", "set"):
        return
    if name in ("test", "["):
        files = [word for before, word in pairwise(words) if before in _TEST_FILE]
        assert all(map(scene.inside, files if len(words) < 5 else []))
    elif name == "find":
        _find(words, scene)
    elif name == "xargs":
        _xargs(words, step, scene)
    else:
        _files(name, words, step, scene)


def _find(words: list[str], scene: Scene) -> None:
    rest = list(words)
    while rest and (rest[0] == "-P" or (not rest[0].startswith("-") and rest[0] not in ("!", "("))):
        assert rest[0] == "-P" or scene.inside(rest[0])
        rest.pop(0)
    while rest:
        del rest[: 1 + _FIND[rest[0]]]


def _xargs(words: list[str], step: Step, scene: Scene) -> None:
    outer = read("xargs", words)
    assert not outer.forbidden("xargs")
    assert all(map(scene.inside, outer.values("-a", "--arg-file")))
    name, *inner = outer.operands
    assert name in _ALLOWED - _NO_NAMES
    if name not in ("echo", "printf"):
        _files(name, inner, step, scene)


def _files(name: str, words: list[str], step: Step, scene: Scene) -> None:
    """A program with options, and files that are all inside; the plan asks for the same in other words."""
    if name == "tail" and len(words) in (1, 2) and re.fullmatch(r"\+[0-9]+", words[0]):
        words = ["-n", *words]
    given = read(name, words)
    assert not given.forbidden(name)
    options, files = list(given.options), list(given.operands)
    if name in PATTERNS and not {option for option, _ in options} & set(PATTERNS[name]):
        options.append((PATTERNS[name][0], files.pop(0)))
    files = [] if name == "tr" else files
    patterns = given.values("-f", "--file") if name in ("grep", "rg") else []
    assert all(map(scene.inside, [*files, *patterns]))
    assert name != "uniq" or len(files) < 2

    final = read(name, step.call.arguments() if isinstance(step, Search | ListFiles) else step.argv[1:])
    planned = [place.text for place in _places(step)]
    assert planned == files or (name == "rg" and not files and planned in (["-"], ["."], []))
    if name == "rg":
        assert _rg(final.options) == _rg(options)
    elif not any(re.fullmatch("-[0-9]", option) for option, _ in options):
        dropped = tables.DROPPED.get(name, "").split()
        _same(final.options, [option for option in options if option[0] not in dropped], scene)


def _places(step: Step) -> tuple[Place, ...]:
    if isinstance(step, Program):
        return step.files
    return step.places if isinstance(step, Search | ListFiles) else ()


def _same(final: list[Option], expected: list[Option], scene: Scene) -> None:
    """``final`` are the expected options in their order, and some that we add."""
    left = []
    for option in final:
        if expected and option in (expected[0], (expected[0][0], str(scene.root / (expected[0][1] or "")))):
            expected = expected[1:]
        else:
            left.append(option)
    assert not expected
    assert set(left) <= ADDED


def _rg(options: Sequence[Option]) -> list[Option]:
    """rg's options in a form in which they can be compared."""
    forms = {"-e": ["--regexp"], "-f": ["--file"], "-p": ["--heading", "-n"], "--pretty": ["--heading", "-n"]}
    kept = [(name, value) for name, value in options if name not in _RG_OURS]
    return sorted(((new, value) for name, value in kept for new in forms.get(name, [name])), key=repr)


def our_table(program: str) -> dict[str, str]:
    """Our own table of ``program``, with what its options take as :func:`takes` has it."""
    known = (
        rg_options._ALL
        if program == "rg"
        else xargs._OPTIONS
        if program == "xargs"
        else {**PROGRAMS[program].options, **PROGRAMS[program].ours}
    )
    return {name: {"": "", "maybe": "?"}.get(option.value, "=") for name, option in known.items()}


def options_of_getopt(program: str) -> dict[str, str]:
    short, long = GETOPT[program]
    letters = {f"-{letter}" for letter in short if letter != ":"}
    return {name: takes(program, name) for name in (*sorted(letters), *(f"--{name}" for name in _long(long)))}


@cache
def version(program: str) -> str:
    """The first line of ``program --version``, or nothing."""
    if shutil.which(program) is None:
        return ""
    return _output(program, "--version").partition("\n")[0]


def options_of_help(program: str) -> dict[str, str]:
    """The options in ``program --help``, with what they take."""
    found: dict[str, str] = {}
    for line in _output(program, "--help").splitlines():
        if re.match(r" {1,8}-", line):
            found.update(_of_line(re.split(r" {2,}", line.strip())[0]))
    for name in _NOT_SO.get(program, ()):
        found.pop(name, None)
    return {name: wants for name, wants in found.items() if name not in ("--help", "--version", "-NUM")}


#: What help says in another way than the others: a range, a value of an option, one that may be missing.
_NOT_SO = {
    "cut": ["-M"],
    "ls": ["-p"],
    "sort": ["-c", "-C", "--check"],
    "xargs": ["-e", "-i", "--max-lines"],
}


def _of_line(head: str) -> dict[str, str]:
    """The options of a line such as ``-n, --lines=[-]NUM``, ``-F, --classify[=WHEN]`` or ``-E END``. A value
    that must be there is that of the short one too."""
    parts = re.findall(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*)(\[=?|=| (?=[A-Za-z]))?", head)
    valued = any(mark in ("=", " ") for _, mark in parts)
    return {name: "?" if "[" in mark else "=" if valued else "" for name, mark in parts}


def options_of_rg(rg: str) -> dict[str, str]:
    """All options of rg, negations and hidden ones too: those with a value by its help, all by its
    completions."""
    values: set[str] = set()
    for line in _output(rg, "--help").splitlines():
        if re.match(r" {4}-", line) and "=" in line:
            values.update(re.findall(r"--?[A-Za-z0-9.][\w-]*", line.replace("=", " = ").partition(" = ")[0]))
            values.update(re.findall(r"(-\w) [A-Z]", line))
    opts = re.search(r'opts="(-[^"]*)"', _output(rg, "--generate", "complete-bash"))
    assert opts is not None
    names = [name for name in opts[1].split() if name.startswith("-")]
    return {name: "=" if name in values else "" for name in names}


def _output(*argv: str) -> str:
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
    ).stdout
