"""The part of find and test that only looks."""

from __future__ import annotations

from collections.abc import Sequence

from rarg_tui.search.refusal import CommandError, Refused

#: Tests and actions of find, with how many words each takes.
_FIND = {
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-type", "-maxdepth",
         "-mindepth", "-size", "-mtime", "-mmin", "-regextype"), 1),
    **dict.fromkeys(
        ("-empty", "-print", "-print0", "-prune", "-not", "!", "-o", "-or", "-a", "-and", "(", ")",
         "-depth", "-true", "-false", "-quit", "-ls"), 0),
}  # fmt: skip
_UNARY = {"-n", "-z"}
_FILE = {"-e", "-f", "-d", "-s", "-r"}
_BINARY = {"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}


def read_find(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words after ``find`` as (starting points, expression)."""
    rest = list(arguments)
    starts: list[str] = []
    if rest and rest[0] == "-P":
        rest.pop(0)
    while rest and not rest[0].startswith("-") and rest[0] not in ("!", "(", ")"):
        starts.append(rest.pop(0))
    expression = list(rest)
    while rest:
        word = rest.pop(0)
        if word not in _FIND:
            raise Refused(
                f"find {word} is not available here; only names, types, sizes and depths can be asked for."
            )
        if len(rest) < _FIND[word]:
            raise CommandError(f"find {word} needs a value; write one after it.")
        del rest[: _FIND[word]]
    return starts or ["."], expression


def files_of_test(arguments: Sequence[str]) -> list[str]:
    """The files that ``test`` would look at. Raises for any form but one plain comparison."""
    words = list(arguments)
    while words and words[0] == "!":
        words.pop(0)
    if len(words) == 1 or (len(words) == 2 and words[0] in _UNARY):
        return []
    if len(words) == 2 and words[0] in _FILE:
        return [words[1]]
    if len(words) == 3 and words[1] in _BINARY:
        return []
    raise Refused("test takes one comparison here, such as test -f FILE or test A = B; join them with &&.")
