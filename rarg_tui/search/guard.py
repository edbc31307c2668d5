"""The guard: from a parsed command to a plan of steps that are all allowed, or one sentence why not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from rarg_tui.search.command import Pipeline, Redirects, Script, Simple
from rarg_tui.search.expansion import Expansion
from rarg_tui.search.find_options import files_of_test, read_find
from rarg_tui.search.options import Given
from rarg_tui.search.places import Place, Policy, locate, scopes_there_are
from rarg_tui.search.printing import read_echo, read_printf
from rarg_tui.search.programs import PROGRAMS, Call, read_call
from rarg_tui.search.refusal import CommandError, Refused, named
from rarg_tui.search.rg_options import RgCall, read_rg
from rarg_tui.search.words import Word
from rarg_tui.search.xargs import Xargs, read_xargs

__all__ = ["AndOrPlan", "PipelinePlan", "Policy", "Program", "Refused", "Search", "Step", "check"]

_AS_USUAL = Redirects()
_PRINTING: Mapping[str, Callable[[Sequence[str]], list[str]]] = {"echo": read_echo, "printf": read_printf}
#: What xargs does not start: it reads no names, or writes to one of them.
_NO_NAMES = ("xargs", "find", "test", "[", "set", "true", "false", ":", "tr", "uniq", "comm")
#: The most programs that run side by side for one command, and the most pipelines one after another.
LONGEST_PIPELINE, LONGEST_SCRIPT = 16, 100


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is started as it is. ``argv`` holds its name and words without the files, which
    are ``files``, each a checked place. ``patterns``: what rg looks for."""

    argv: tuple[str, ...]
    files: tuple[Place, ...] = ()
    redirects: Redirects = _AS_USUAL
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """xargs with another program than rg: ``argv`` is started on batches of the names it reads."""

    argv: tuple[str, ...]
    xargs: Xargs
    reads: bool
    redirects: Redirects = _AS_USUAL


@dataclass(frozen=True, slots=True)
class Search:
    """rg over a list of files, run by the ordered engine: names from xargs' input, or ``places``."""

    call: RgCall
    xargs: Xargs | None = None
    places: tuple[Place, ...] = ()
    redirects: Redirects = _AS_USUAL


@dataclass(frozen=True, slots=True)
class ListFiles:
    """``rg --files``: the documents below ``places``, in path order."""

    call: RgCall
    places: tuple[Place, ...]
    redirects: Redirects = _AS_USUAL


@dataclass(frozen=True, slots=True)
class Settings:
    """``set``: options of the shell itself that are turned on or off."""

    options: tuple[tuple[str, bool], ...]


Step = Program | Listed | Search | ListFiles | Settings


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    steps: tuple[Step, ...]
    negated: bool
    source: Pipeline


@dataclass(frozen=True, slots=True)
class AndOrPlan:
    pipelines: tuple[PipelinePlan, ...]
    operators: tuple[str, ...]


def check(script: Script, policy: Policy) -> tuple[AndOrPlan, ...]:
    """The plan of ``script``. Raises :class:`Refused` for what is not allowed, and
    :class:`~rarg_tui.search.refusal.CommandError` for what cannot be run at all. Nothing has run then."""
    if sum(len(and_or.pipelines) for and_or in script.lists) > LONGEST_SCRIPT:
        raise Refused(f"a command holds at most {LONGEST_SCRIPT} pipelines here; split it.")
    plan = tuple(
        AndOrPlan(tuple(_pipeline(p, policy) for p in and_or.pipelines), and_or.operators)
        for and_or in script.lists
    )
    expansion = Expansion(policy.root)
    for word in _words(script):
        _no_glob(word, policy, expansion)
    return plan


def _words(script: Script) -> Iterator[Word]:
    for and_or in script.lists:
        for pipeline in and_or.pipelines:
            for command in pipeline.commands:
                yield from command.words
                if command.redirects.stdin is not None:
                    yield command.redirects.stdin


def _pipeline(pipeline: Pipeline, policy: Policy) -> PipelinePlan:
    steps: list[Step] = []
    if len(pipeline.commands) > LONGEST_PIPELINE:
        raise Refused(f"a pipeline has at most {LONGEST_PIPELINE} programs here; make it shorter.")
    for command in pipeline.commands:
        first = not steps
        if command.redirects.stdin is not None:
            if not first:
                raise Refused("a pipe and < both feed this command; leave one of them out.")
            steps.append(_feed(command.redirects.stdin, policy))
            first = False
        step = _step(command, policy, first)
        if isinstance(step, Settings) and len(pipeline.commands) > 1:
            raise Refused("set stands in a pipeline, where it has no effect; write it on its own, before ;.")
        steps.append(step)
    return PipelinePlan(tuple(steps), pipeline.negated, pipeline)


def _feed(word: Word, policy: Policy) -> Step:
    place = _place(word.text, policy, stdin=False)
    if place.kind == "missing":
        raise CommandError(f"there is no file {named(word.text)} to read from with <; name a document.")
    return Program(("cat",), (place,))


def _place(text: str, policy: Policy, *, directories: bool = False, stdin: bool = True) -> Place:
    if not text:
        raise CommandError("an empty word stands where a file name is due; name a file, or leave it out.")
    return locate(text, policy, directories=directories, stdin=stdin)


def _step(command: Simple, policy: Policy, first: bool) -> Step:
    name, *arguments = command.argv
    name = "true" if name == ":" else name
    redirects = command.redirects
    if name == "rg":
        return _rg(read_rg(arguments), redirects, policy, first)
    if name == "xargs":
        return _xargs(arguments, redirects, policy, first)
    if name == "set":
        return Settings(_settings(arguments))
    if name == "find":
        starts, expression = read_find(arguments)
        places = [_place(start, policy, directories=True, stdin=False) for start in starts]
        return Program(("find", "-P", *(_start(p, policy) for p in places), *expression), (), redirects)
    if name in ("true", "false"):
        return Program((name,), (), redirects)
    if name in _PRINTING:
        return Program((name, *_PRINTING[name](arguments)), (), redirects)
    if name in ("test", "["):
        return _test(name, arguments, redirects, policy)
    return _program(read_call(name, arguments), redirects, policy, first)


def _program(call: Call, redirects: Redirects, policy: Policy, first: bool) -> Program:
    recursive = call.program == "grep" and any(o.name in ("-r", "--recursive") for o in call.options)
    directories = call.program == "ls" or recursive
    if recursive and not policy.whole_corpus:
        raise Refused(_whole_corpus_sentence(policy))
    files = tuple(_place(text, policy, directories=directories) for text in call.paths)
    waits = "stdin" in {place.kind for place in files} if files else not directories
    if first and waits:
        raise Refused(f"{call.program} would wait for input that never comes; name a file.")
    argv = [call.program, *PROGRAMS[call.program].always]
    for option in call.options:
        argv += _anchored(option, files, policy).argv()
    if recursive:
        # Hidden files are not part of the corpus; a FIFO among the files must not be waited for.
        argv += ["--exclude=.?*", "--exclude-dir=.?*", "--devices=skip"]
    if call.program in ("grep", "sed") and call.head:
        argv += ["-e", call.head[0]]
    elif call.head:
        argv += ["--", *call.head]
    return Program(tuple(argv), files, redirects)


def _anchored(option: Given, files: Sequence[Place], policy: Policy) -> Given:
    if option.kind != "path":
        return option
    return replace(option, value=_pattern_file(option.value or "", files, policy))


def _rg(call: RgCall, redirects: Redirects, policy: Policy, first: bool) -> Step:
    places = tuple(_place(text, policy, directories=True) for text in call.paths)
    call = _pattern_files(call, places, policy)
    kinds = {place.kind for place in places}
    if not places and not first and not call.files:
        return _filter(call, (Place("stdin", "-"),), redirects)
    if not places or "directory" in kinds:
        if not policy.whole_corpus:
            raise Refused(_whole_corpus_sentence(policy))
        if kinds - {"directory", "document", "missing"}:
            raise Refused("rg searches directories or single files here, not both; write two commands.")
        places = places or (Place("directory", "."),)
        if call.files:
            return ListFiles(call, places, redirects)
        return Search(call, None, places, redirects)
    if call.files:
        raise Refused("rg --files lists directories here; name one, or use ls for single files.")
    if kinds <= {"document", "missing"} and call.plain:
        return Search(call, None, places, redirects)
    if "stdin" in kinds and first:
        raise Refused("rg would wait for input that never comes; name a file.")
    return _filter(call, places, redirects)


def _filter(call: RgCall, places: tuple[Place, ...], redirects: Redirects) -> Step:
    """rg on a stream or on files as named, as rg itself prints them."""
    argv = ("rg", "-j1", "--no-config", "--no-mmap", "--color=never", *call.arguments())
    return Program(argv, places, redirects, call.patterns)


def _pattern_files(call: RgCall, places: Sequence[Place], policy: Policy) -> RgCall:
    files = tuple(_pattern_file(file, places, policy) for file in call.pattern_files)
    return replace(call, pattern_files=files)


def _pattern_file(file: str, places: Sequence[Place], policy: Policy) -> str:
    """The name of a file of patterns for a program that reads ``places``."""
    if file == "-":
        raise Refused("-f - reads patterns from a pipe; write them with -e instead.")
    kind = _place(file, policy, stdin=False).kind
    if kind == "scope":
        raise Refused("a scope file is no file of patterns; feed its names to rg with xargs -d '\\n'.")
    if kind == "missing":
        raise CommandError(f"there is no file {named(file)} to take patterns from; write them with -e.")
    # A program that reads only scopes stands where they are, and the file's name begins at the root.
    scopes_only = {place.kind for place in places} == {"scope"}
    return os.path.join(policy.root, file) if scopes_only else file


def _xargs(arguments: Sequence[str], redirects: Redirects, policy: Policy, first: bool) -> Step:
    xargs, command = read_xargs(arguments)
    if first and not xargs.file:
        raise CommandError("xargs has no input; write cat scope_1.txt | xargs -d '\\n' rg -n PATTERN.")
    if xargs.file:
        xargs = replace(xargs, scope=_place(xargs.file, policy, stdin=False).scope)
    name, *rest = command
    if name == "rg":
        rg = _pattern_files(read_rg(rest), (), policy)
        if rg.paths or rg.files:
            raise Refused("the file names for rg come from xargs here; leave other paths and --files out.")
        return Search(rg, xargs, (), redirects)
    if name in _NO_NAMES:
        raise Refused(f"xargs cannot start {name} here; it starts rg, cat, head, sed -n, wc and the like.")
    if name in _PRINTING:
        return Listed((name, *_PRINTING[name](rest)), xargs, False, redirects)
    call = read_call(name, rest)
    if call.paths:
        raise Refused(f"the file names for {name} come from xargs here; leave other paths out.")
    argv = _program(call, Redirects(), policy, first=False).argv
    # One name alone would otherwise be left out of the output, depending on where a batch is cut.
    nameless = name != "grep" or any(o.name in ("-h", "--no-filename") for o in call.options)
    return Listed(argv if nameless else (*argv, "-H"), xargs, True, redirects)


def _test(name: str, arguments: Sequence[str], redirects: Redirects, policy: Policy) -> Step:
    words = list(arguments)
    if name == "[" and (not words or words.pop() != "]"):
        raise CommandError("[ lacks its closing ]; add it.")
    for file in files_of_test(words):
        place = _place(file, policy, directories=True, stdin=False)
        if place.kind == "scope":
            words[words.index(file)] = f"{policy.run_dir}/scope_{place.scope}.txt"
    return Program(("test", *words), (), redirects)


def _settings(arguments: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    options: list[tuple[str, bool]] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        letters = word[1:] if word[:1] in ("-", "+") else ""
        for letter in letters or "?":
            if letter == "o" and rest and rest[0] in ("pipefail", "errexit", "nounset"):
                options.append((rest.pop(0), word[0] == "-"))
            elif letter in "eu":
                options.append(({"e": "errexit", "u": "nounset"}[letter], word[0] == "-"))
            else:
                raise Refused("only set -o pipefail, set -e and set -u are available here; leave it out.")
    if not options:
        raise Refused("set without options is not available here; leave it out.")
    return tuple(options)


def _no_glob(word: Word, policy: Policy, expansion: Expansion) -> None:
    """A pattern that names no file stays as it is, as in bash; one that does must be quoted."""
    if not word.glob:
        return
    scopes = any(fnmatchcase(f"scope_{number}.txt", word.glob) for number in policy.scopes)
    if scopes and word.text.startswith("scope"):
        names = scopes_there_are(policy.scopes)
        raise Refused(f"{named(word.text)} is not expanded here; name the scopes: {names}")
    if scopes or expansion.of(word.glob):
        raise Refused(
            f"bash may put file names in the place of {named(word.text)}; put a pattern in single quotes, "
            "and name files, or find them: find . -name '*.txt'."
        )


def _start(place: Place, policy: Policy) -> str:
    """A starting point as find takes it for one, whatever it begins with."""
    if place.kind == "scope":
        return f"{policy.run_dir}/scope_{place.scope}.txt"
    return f"./{place.text}" if place.text.startswith(("-", "!", "(", ")", ",")) else place.text


def _whole_corpus_sentence(policy: Policy) -> str:
    if policy.scopes:
        latest = f"scope_{max(policy.scopes)}.txt"
        return (
            "the whole corpus is not searched here; search a scope: "
            f"cat {latest} | xargs -d '\\n' rg -n PATTERN."
        )
    return "the whole corpus is not searched here; call embed_recall first, then search its scope."
