"""What rg may be asked: its options by what they do to the output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rarg_tui.search.options import Given, Option, read_options, table
from rarg_tui.search.refusal import CommandError, Refused

#: Which lines match, or nothing that a listing shows: the output stays a listing of matching lines.
_MATCHING = table(
    "-a --text --no-text --auto-hybrid-regex --no-auto-hybrid-regex --binary --no-binary"
    " -s --case-sensitive --crlf --no-crlf --dfa-size-limit= -E= --encoding= --no-encoding --engine="
    " -F --fixed-strings --no-fixed-strings -i --ignore-case -x --line-regexp -m# --max-count#"
    " -M# --max-columns# --max-columns-preview --no-max-columns-preview"
    " -U --multiline --no-multiline --multiline-dotall --no-multiline-dotall --unicode --no-unicode"
    " -P --pcre2 --no-pcre2 --pcre2-unicode --no-pcre2-unicode --regex-size-limit= -S --smart-case"
    " --stop-on-nonmatch -w --word-regexp -n --line-number -N --no-line-number -H --with-filename"
    " --no-heading"
)
#: Which files of a directory are searched. As in rg, they do not touch files that are named.
_FILTERS = table(
    "-g= --glob= --iglob= --glob-case-insensitive --no-glob-case-insensitive -. --hidden --no-hidden"
    " -d# --max-depth# --max-filesize= --no-ignore --ignore --no-ignore-dot --ignore-dot"
    " --no-ignore-exclude --ignore-exclude --no-ignore-files --ignore-files --no-ignore-global"
    " --ignore-global --no-ignore-parent --ignore-parent --no-ignore-vcs --ignore-vcs --no-require-git"
    " --require-git --one-file-system --no-one-file-system -t= --type= -T= --type-not= --type-add="
    " --type-clear= -u --unrestricted --ignore-file-case-insensitive --no-ignore-file-case-insensitive"
)
#: The output is something else than a listing of matching lines.
_SHAPE = table(
    "-A# --after-context# -B# --before-context# -C# --context# -b --byte-offset --no-byte-offset"
    " --column --no-column -c --count --count-matches --context-separator= --no-context-separator"
    " --field-context-separator= --field-match-separator= --heading --include-zero --no-include-zero"
    " -v --invert-match --no-invert-match -I --no-filename -0 --null --null-data -o --only-matching"
    " --path-separator= --passthru --passthrough -p --pretty -q --quiet -r= --replace= --trim --no-trim"
    " --vimgrep -l --files-with-matches --files-without-match"
)
#: Ours to decide: the order is always that of the scope, the output is read by us.
_OURS = table(
    "-j# --threads# --sort= --sortr= --sort-files --no-sort-files --color= --colors= --line-buffered"
    " --no-line-buffered --block-buffered --no-block-buffered --mmap --no-mmap --no-config --no-messages"
    " --messages --no-ignore-messages --ignore-messages --no-stats --no-json --no-pre --no-search-zip"
    " --no-follow"
)
_PATTERN = table("-e= --regexp= -f@ --file@")
_FILES = table("--files")
_ALL: Mapping[str, Option] = {**_MATCHING, **_FILTERS, **_SHAPE, **_OURS, **_PATTERN, **_FILES}

#: What -p means apart from colour, which is not for us.
_PRETTY = (Given("--heading"), Given("-n"))

#: How much memory a regular expression may ask for: not gigabytes.
_LIMITS = ("--dfa-size-limit", "--regex-size-limit")
_LIMIT = re.compile(r"[0-9]{1,9}|[0-9]{1,3}[KM]")

_STARTS = "rg {} starts another program, which is not available here; leave it out."
_WHY = {
    "--pre": _STARTS,
    "--pre-glob": _STARTS,
    "--hostname-bin": _STARTS,
    "-z": _STARTS,
    "--search-zip": _STARTS,
    "-L": "rg {} follows links out of the corpus; leave it out.",
    "--follow": "rg {} follows links out of the corpus; leave it out.",
    "--json": "rg {} is not available here; leave it out, matches come as path:line: text.",
    "--ignore-file": "rg {} is not available here; choose files with -g.",
    "--hyperlink-format": "rg {} is not available here; leave it out, matches come as path:line: text.",
    "--debug": "rg {} is not available here; leave it out, errors are shown without it.",
    "--trace": "rg {} is not available here; leave it out, errors are shown without it.",
    "--type-list": "rg {} is not available here; choose files with -g '*.md'.",
    "--stats": "rg {} is not available here; count with -c or --count-matches.",
}


@dataclass(frozen=True, slots=True)
class RgCall:
    """An rg command line, read: ``options`` are passed on in order, ``filters`` only matter where a
    directory is searched, ``patterns`` are the regular expressions, ``pattern_files`` files of them,
    ``paths`` the operands. ``plain``: its output is a listing of matching lines. ``files``: it lists
    files instead of searching them."""

    options: tuple[Given, ...]
    filters: tuple[Given, ...]
    patterns: tuple[str, ...]
    pattern_files: tuple[str, ...]
    paths: tuple[str, ...]
    plain: bool
    files: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the patterns are plain text (``-F``)."""
        fixed = False
        for option in self.options:
            if option.name in ("-F", "--fixed-strings", "--no-fixed-strings"):
                fixed = option.name != "--no-fixed-strings"
        return fixed

    def arguments(self) -> list[str]:
        """Options and patterns as rg is given them, without the paths."""
        words = [word for option in (*self.options, *self.filters) for word in option.argv()]
        for pattern in self.patterns:
            words.append(f"--regexp={pattern}")
        for file in self.pattern_files:
            words.append(f"--file={file}")
        return words

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.options)


def read_rg(arguments: Sequence[str]) -> RgCall:
    """The words after ``rg``. Raises :class:`Refused` or :class:`CommandError`."""
    given, operands = read_options("rg", _ALL, arguments, equals=True, why=_WHY)
    for option in given:
        if option.name in _LIMITS and _LIMIT.fullmatch(option.value or "") is None:
            raise Refused(f"rg {option.name} is a number up to 999M here; write one, or leave it out.")
    patterns = [g.value or "" for g in given if g.name in ("-e", "--regexp")]
    pattern_files = [g.value or "" for g in given if g.name in ("-f", "--file")]
    files = any(g.name == "--files" for g in given)
    if not patterns and not pattern_files and not files:
        if not operands:
            raise CommandError("rg needs a pattern; write it after the options: rg -n 'PATTERN'.")
        patterns.append(operands.pop(0))
    return RgCall(
        options=tuple(
            option
            for g in given
            if g.name in _MATCHING or g.name in _SHAPE
            for option in (_PRETTY if g.name in ("-p", "--pretty") else (g,))
        ),
        filters=tuple(g for g in given if g.name in _FILTERS),
        patterns=tuple(patterns),
        pattern_files=tuple(pattern_files),
        paths=tuple(operands),
        plain=not files and not any(g.name in _SHAPE for g in given),
        files=files,
    )
