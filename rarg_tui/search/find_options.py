"""The part of find and test that only looks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rarg_tui.search.refusal import CommandError, Refused, named

#: Tests and actions of find, with how many words each takes.
_FIND = {
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype",
         "-type", "-maxdepth", "-mindepth", "-size", "-perm", "-links", "-lname", "-ilname", "-printf",
         "-atime", "-amin", "-ctime", "-cmin", "-mtime", "-mmin"), 1),
    **dict.fromkeys(
        ("-empty", "-print", "-print0", "-prune", "-not", "!", "-o", "-or", "-a", "-and", "(", ")", ",",
         "-depth", "-true", "-false", "-quit", "-ls", "-daystart", "-xdev", "-mount", "-warn", "-nowarn",
         "-noleaf", "-readable", "-writable", "-executable"), 0),
}  # fmt: skip
_STARTS = "find {} starts another program; use a pipe: find . -type f | xargs -d '\\n' rg -n PATTERN."
_WRITES = "find {} changes or writes files, which is not available here; leave it out."
_LINKS = "find {} follows links out of the corpus; leave it out."
_WHY = {
    **dict.fromkeys(("-exec", "-execdir", "-ok", "-okdir"), _STARTS),
    **dict.fromkeys(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls"), _WRITES),
    **dict.fromkeys(("-L", "-H", "-follow", "-xtype"), _LINKS),
    **dict.fromkeys(("-newer", "-anewer", "-cnewer"), "find {} is not available here; use -mtime or -mmin."),
}
#: What -printf prints about the file itself, not about what a link leads to, in widths that end.
_PRINTF = re.compile(
    r"(?:[^%\\]|\\(?:[0abfnrtv\\]|[0-7]{1,3})|%[-+ 0#]*[0-9]{0,3}"
    r"(?:[%abcdDfhHiklmMnpPsSty]|[ACT][@aAbBcdDFhHIjklmMprsSTuUwWxXyYZ+]))*",
    re.DOTALL,
)
_UNARY = {"-n", "-z"}
_FILE = {"-e", "-f", "-d", "-s", "-r"}
_BINARY = {"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}


def read_find(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words after ``find`` as (starting points, expression)."""
    rest = list(arguments)
    starts: list[str] = []
    while rest[:1] == ["-P"]:
        rest.pop(0)
    while rest and not rest[0].startswith("-") and rest[0] not in ("!", "("):
        starts.append(rest.pop(0))
    expression = list(rest)
    while rest:
        word = rest.pop(0)
        if word not in _FIND:
            usual = "find {} is not available here; ask for names, types, sizes, times and depths."
            raise Refused(_WHY.get(word, usual).format(named(word)))
        if len(rest) < _FIND[word]:
            raise CommandError(f"find {word} needs a value; write one after it.")
        if word == "-printf" and _PRINTF.fullmatch(rest[0]) is None:
            raise Refused(
                f"find -printf cannot be given {named(rest[0])} here; write find -printf '%p %s\\n'."
            )
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
