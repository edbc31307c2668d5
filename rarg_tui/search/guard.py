"""The guard: from a parsed command to a plan of steps that are all allowed, or one sentence why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from rarg_tui.search.command import Pipeline, Redirects, Script, Simple
from rarg_tui.search.expansion import expands
from rarg_tui.search.find_options import files_of_test, read_find
from rarg_tui.search.places import Place, Policy, locate, scopes_there_are
from rarg_tui.search.programs import Call, read_call
from rarg_tui.search.refusal import CommandError, Refused
from rarg_tui.search.rg_options import RgCall, read_rg
from rarg_tui.search.words import Word
from rarg_tui.search.xargs import Xargs, read_xargs

__all__ = ["AndOrPlan", "PipelinePlan", "Policy", "Program", "Refused", "Search", "Step", "check"]

_AS_USUAL = Redirects()
#: The most programs that run side by side for one command.
LONGEST_PIPELINE = 16


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
    return tuple(
        AndOrPlan(tuple(_pipeline(p, policy) for p in and_or.pipelines), and_or.operators)
        for and_or in script.lists
    )


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
    return Program(("cat",), (locate(word.text, policy, stdin=False),))


def _step(command: Simple, policy: Policy, first: bool) -> Step:
    for word in command.words:
        _no_glob(word, policy)
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
        places = [locate(start, policy, directories=True, stdin=False) for start in starts]
        return Program(("find", "-P", *(_dashed(p.text) for p in places), *expression), (), redirects)
    if name in ("echo", "printf"):
        return _text(name, arguments, redirects)
    if name in ("test", "["):
        return _test(name, arguments, redirects, policy)
    return _program(read_call(name, arguments), redirects, policy, first)


def _program(call: Call, redirects: Redirects, policy: Policy, first: bool) -> Step:
    recursive = call.program == "grep" and any(o.name in ("-r", "--recursive") for o in call.options)
    directories = call.program == "ls" or recursive
    if recursive and not policy.whole_corpus:
        raise Refused(_whole_corpus_sentence(policy))
    files = tuple(locate(text, policy, directories=directories) for text in call.paths)
    for place in files:
        if place.kind == "stdin" and first:
            raise Refused(f"{call.program} - would wait for input that never comes; name a file.")
    argv = [call.program, *_options(call, policy)]
    if recursive:
        # Hidden files are not part of the corpus; a FIFO among the files must not be waited for.
        argv += ["--exclude=.?*", "--exclude-dir=.?*", "--devices=skip"]
    if call.program in ("grep", "sed") and call.head:
        argv += ["-e", call.head[0]]
    elif call.head:
        argv += ["--", *call.head]
    return Program(tuple(argv), files, redirects)


def _options(call: Call, policy: Policy) -> list[str]:
    words: list[str] = []
    for option in call.options:
        if option.kind == "path":
            _pattern_file(option.value or "", policy)
        words += option.argv()
    return words


def _rg(call: RgCall, redirects: Redirects, policy: Policy, first: bool) -> Step:
    call = _pattern_files(call, policy)
    places = tuple(locate(text, policy, directories=True) for text in call.paths)
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
        raise Refused("rg - would wait for input that never comes; name a file.")
    return _filter(call, places, redirects)


def _filter(call: RgCall, places: tuple[Place, ...], redirects: Redirects) -> Step:
    """rg on a stream or on files as named, as rg itself prints them."""
    argv = ("rg", "-j1", "--no-config", "--no-mmap", "--color=never", *call.arguments())
    return Program(argv, places, redirects, call.patterns)


def _pattern_files(call: RgCall, policy: Policy) -> RgCall:
    for file in call.pattern_files:
        _pattern_file(file, policy)
    return call


def _pattern_file(file: str, policy: Policy) -> None:
    if file == "-":
        raise Refused("-f - reads patterns from a pipe; write them with -e instead.")
    if locate(file, policy, stdin=False).kind == "scope":
        raise Refused("a scope file is no file of patterns; feed its names to rg with xargs -d '\\n'.")


def _xargs(arguments: Sequence[str], redirects: Redirects, policy: Policy, first: bool) -> Step:
    xargs, command = read_xargs(arguments)
    if first and not xargs.file:
        raise CommandError("xargs has no input; write cat scope_1.txt | xargs -d '\\n' rg -n PATTERN.")
    if xargs.file:
        xargs = replace(xargs, scope=locate(xargs.file, policy, stdin=False).scope)
    name, *rest = command
    if name == "rg":
        rg = _pattern_files(read_rg(rest), policy)
        if rg.paths or rg.files:
            raise Refused("the file names for rg come from xargs here; leave other paths and --files out.")
        return Search(rg, xargs, (), redirects)
    if name in ("xargs", "find", "test", "[", "set"):
        raise Refused(f"xargs cannot start {name} here; it starts rg, cat, head, sed -n, wc and the like.")
    if name in ("echo", "printf"):
        return Listed(_text(name, rest, redirects).argv, xargs, False, redirects)
    call = read_call(name, rest)
    if call.program in ("true", "false", "tr", "uniq", "comm"):
        raise Refused(f"xargs cannot start {name} here; it starts rg, cat, head, sed -n, wc and the like.")
    step = _program(call, Redirects(), policy, first=False)
    if not isinstance(step, Program) or step.files:
        raise Refused(f"the file names for {name} come from xargs here; leave other paths out.")
    # One name alone would otherwise be left out of the output, depending on where a batch is cut.
    named = name == "grep" and not any(o.name in ("-h", "--no-filename") for o in call.options)
    return Listed((*step.argv, "-H") if named else step.argv, xargs, True, redirects)


def _text(name: str, arguments: Sequence[str], redirects: Redirects) -> Program:
    if name == "printf" and not arguments:
        raise CommandError("printf lacks its format; write printf '%s\\n' TEXT.")
    if name == "printf" and arguments[0].startswith("-v"):
        raise Refused("variables cannot be set here; leave printf -v out.")
    return Program((name, *arguments), (), redirects)


def _test(name: str, arguments: Sequence[str], redirects: Redirects, policy: Policy) -> Step:
    words = list(arguments)
    if name == "[" and (not words or words.pop() != "]"):
        raise CommandError("[ lacks its closing ]; add it.")
    for file in files_of_test(words):
        place = locate(file, policy, directories=True, stdin=False)
        if place.kind == "scope":
            words[words.index(file)] = f"{policy.run_dir}/scope_{place.scope}.txt"
    return Program(("test", *words), (), redirects)


def _settings(arguments: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    options: list[tuple[str, bool]] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        on = word.startswith("-")
        for letter in word[1:] if word[:1] in ("-", "+") else ():
            if letter == "o" and rest and rest[0] in ("pipefail", "errexit", "nounset"):
                options.append((rest.pop(0), on))
            elif letter in "eu":
                options.append(({"e": "errexit", "u": "nounset"}[letter], on))
            else:
                raise Refused("only set -o pipefail, set -e and set -u are available here; leave it out.")
    if not options:
        raise Refused("set without options is not available here; leave it out.")
    return tuple(options)


def _no_glob(word: Word, policy: Policy) -> None:
    """A pattern that names no file stays as it is, as in bash; one that does must be quoted."""
    if word.glob and any(fnmatchcase(f"scope_{number}.txt", word.glob) for number in policy.scopes):
        raise Refused(f"{word.text} is not expanded here; name the scopes: {scopes_there_are(policy.scopes)}")
    if word.glob and expands(word.glob, policy.root):
        raise Refused(
            f"bash may put file names in the place of {word.text}; put it in single quotes, or name "
            "the files."
        )


def _dashed(path: str) -> str:
    return f"./{path}" if path.startswith(("-", "!", "(", ")")) else path


def _whole_corpus_sentence(policy: Policy) -> str:
    if policy.scopes:
        latest = f"scope_{max(policy.scopes)}.txt"
        return (
            "the whole corpus is not searched here; search a scope: "
            f"cat {latest} | xargs -d '\\n' rg -n PATTERN."
        )
    return "the whole corpus is not searched here; call embed_recall first, then search its scope."
