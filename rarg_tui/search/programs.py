"""The programs that a command may use, and what each may be asked.

What is not in a table is refused: so is every option that writes a file, starts a program, follows
links, waits for more input, or reads a list of names from a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rarg_tui.search.options import Given, Option, read_options, table
from rarg_tui.search.refusal import CommandError, Refused
from rarg_tui.search.sed_script import check_sed


@dataclass(frozen=True, slots=True)
class Call:
    """A command line, read: ``head`` are operands that are not files (a pattern, a script, text),
    ``paths`` those that are."""

    program: str
    options: tuple[Given, ...]
    head: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """``reads``: its operands are files (or it reads stdin). ``directories``: they may be directories.
    ``leading(options)``: how many operands come before the files. ``most``: how many files at most.
    ``check``: looks at what the tables cannot see. ``number``: the option that ``-20`` stands for."""

    options: Mapping[str, Option]
    reads: bool = True
    directories: bool = False
    leading: Callable[[Sequence[Given]], int] = lambda options: 0
    most: int | None = None
    check: Callable[[Sequence[Given], Sequence[str]], None] = lambda options, operands: None
    number: str = ""
    why: Mapping[str, str] = field(default_factory=dict)


def read_call(name: str, arguments: Sequence[str]) -> Call:
    """The words after a program's name. Raises :class:`Refused` or :class:`CommandError`."""
    program = PROGRAMS.get(name)
    if program is None:
        raise Refused(unknown_program(name))
    given, operands = read_options(name, program.options, arguments, number=program.number, why=program.why)
    leading = program.leading(given) if program.reads else len(operands)
    if len(operands) < leading:
        raise CommandError(f"{name} lacks its first operand; write it before the file names.")
    program.check(given, operands[:leading])
    paths = operands[leading:]
    if program.most is not None and len(paths) > program.most:
        raise Refused(f"{name} takes at most {program.most} file(s) here; leave the others out.")
    return Call(name, tuple(given), tuple(operands[:leading]), tuple(paths))


def unknown_program(name: str) -> str:
    """The sentence for a program that is not in the tables."""
    if name in _INSTEAD:
        return f"{name} is not available here; {_INSTEAD[name]}."
    known = sorted({*PROGRAMS, "echo", "find", "printf", "rg", "test", "xargs"})
    return f"{name} is not available here; use {', '.join(known)}."


def _number(names: Sequence[str]) -> Callable[[Sequence[Given], Sequence[str]], None]:
    def check(options: Sequence[Given], operands: Sequence[str]) -> None:
        for option in options:
            if option.name in names and not re.fullmatch(r"[-+]?\d+[A-Za-z]{0,3}", option.value or ""):
                raise CommandError(f"{option.name} needs a number, not {option.value!r}; write one.")

    return check


def _grep_leading(options: Sequence[Given]) -> int:
    return 0 if any(option.name in ("-e", "--regexp", "-f", "--file") for option in options) else 1


def _sed_leading(options: Sequence[Given]) -> int:
    return 0 if any(option.name in ("-e", "--expression") for option in options) else 1


def _sed_check(options: Sequence[Given], operands: Sequence[str]) -> None:
    scripts = [option.value or "" for option in options if option.name in ("-e", "--expression")]
    check_sed("\n".join(scripts) if scripts else operands[0])


def _tr_check(options: Sequence[Given], operands: Sequence[str]) -> None:
    if not 1 <= len(operands) <= 2:
        raise CommandError("tr needs one or two sets of characters; write tr 'a-z' 'A-Z'.")


_NO_FOLLOW = "tail {} waits for more to be written; leave it out."
_WRITES = "{program} {} writes a file, and nothing is written here; leave it out."

PROGRAMS: Mapping[str, Program] = {
    "cat": Program(
        table(
            "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T"
            " --show-tabs -u -v --show-nonprinting"
        )
    ),
    "head": Program(
        table("-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated"),
        number="-n",
        check=_number(("-c", "--bytes", "-n", "--lines")),
    ),
    "tail": Program(
        table("-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated"),
        number="-n",
        check=_number(("-c", "--bytes", "-n", "--lines")),
        why=dict.fromkeys(("-f", "-F", "--follow", "--retry", "--pid"), _NO_FOLLOW),
    ),
    "sed": Program(
        table(
            "-n --quiet --silent -e= --expression= -E -r --regexp-extended -s --separate -u --unbuffered"
            " -z --null-data"
        ),
        leading=_sed_leading,
        check=_sed_check,
        why={"-i": _WRITES, "--in-place": _WRITES},
    ),
    "sort": Program(
        table(
            "-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort"
            " -i --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -r"
            " --reverse -V --version-sort -c --check -k= --key= -m --merge -s --stable -t="
            " --field-separator= -u --unique -z --zero-terminated"
        ),
        why={"-o": _WRITES, "--output": _WRITES},
    ),
    "uniq": Program(
        table(
            "-c --count -d --repeated -D -f= --skip-fields= -i --ignore-case -s= --skip-chars= -u --unique"
            " -w= --check-chars= -z --zero-terminated"
        ),
        most=1,  # a second one would be written
    ),
    "wc": Program(table("-c --bytes -m --chars -l --lines -L --max-line-length -w --words")),
    "cut": Program(
        table(
            "-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -n --complement -s"
            " --only-delimited --output-delimiter= -z --zero-terminated"
        )
    ),
    "tr": Program(
        table("-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1"),
        reads=False,
        check=_tr_check,
    ),
    "nl": Program(
        table(
            "-b= --body-numbering= -i= --line-increment= -n= --number-format= -s= --number-separator= -v="
            " --starting-line-number= -w= --number-width="
        )
    ),
    "comm": Program(table("-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total -z"), most=2),
    "grep": Program(
        table(
            "-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -f@"
            " --file@ -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x"
            " --line-regexp -c --count -L --files-without-match -l --files-with-matches -m= --max-count= -o"
            " --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h"
            " --no-filename -n --line-number -T --initial-tab -Z --null -A= --after-context= -B="
            " --before-context= -C= --context= -a --text -I --binary-files= --include= --exclude="
            " --exclude-dir= -r --recursive --line-buffered -U --binary -z --null-data --color=? --colour=?"
        ),
        directories=True,
        leading=_grep_leading,
        number="-C",
        why={
            "-R": "grep {} follows links out of the corpus; search a scope with xargs -d '\\n' rg.",
            "--dereference-recursive": "grep {} follows links out of the corpus; search a scope instead.",
        },
    ),
    "ls": Program(
        table(
            "-1 -a --all -A --almost-all -d --directory -F --classify -g -G --no-group -h --human-readable"
            " -i --inode -l -n -p -Q --quote-name -r --reverse -R --recursive -s --size -S -t -U -v -X"
        ),
        directories=True,
    ),
    "true": Program(table(""), reads=False),
    "false": Program(table(""), reads=False),
}

_RG = "search with rg"
_NO_WRITES = "nothing is written here, and the output comes back to you"
_NO_CODE = "no program code is run here; use rg, sed -n, cut, sort and uniq"
_DIRECT = "write the program itself"
_INSTEAD: Mapping[str, str] = {
    "awk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    "gawk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    "mawk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    **dict.fromkeys(("egrep", "fgrep", "zgrep", "ag", "ack", "git"), _RG),
    **dict.fromkeys(("rm", "mv", "cp", "tee", "touch", "mkdir", "dd", "ln", "chmod", "install"), _NO_WRITES),
    **dict.fromkeys(("python", "python3", "perl", "node", "ruby", "php", "lua", "jq"), _NO_CODE),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "env", "exec", "eval", "command", "sudo", "time",
                     "nohup", "timeout", "nice", "builtin", "busybox"), _DIRECT),
    **dict.fromkeys(("source", "."), "write the commands themselves"),
    **dict.fromkeys(("less", "more", "bat", "vim", "vi", "nano"), "show lines with sed -n '1,80p' FILE"),
    **dict.fromkeys(("curl", "wget", "ssh", "nc"), "there is no network here; search the corpus"),
    **dict.fromkeys(("cd", "pushd", "popd"), "every command starts at the root of the corpus"),
    **dict.fromkeys(("while", "for", "if", "until"), "give a program many files with xargs -d '\\n'"),
    "tac": "use tail or sort -r",
    "egrep": "use rg, or grep -E",
    "fgrep": "use rg -F, or grep -F",
    "export": "variables cannot be set here; leave it out",
}  # fmt: skip
