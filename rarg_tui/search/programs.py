"""The programs that a command may use, and what each may be asked.

What is not in a table is refused: so is every option that writes a file, starts a program, follows
links, waits for more input, or reads a list of names from a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rarg_tui.search.options import Given, Option, read_options, table
from rarg_tui.search.refusal import CommandError, Refused, named
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
    """``reads``: it reads its operands, which are files, or its input. ``files``: whether they are, or else
    text. ``leading(options)``: how many operands come before the files. ``most``: how many files at most.
    ``check``: looks at what the tables cannot see. ``number``: the option that ``-20`` stands for.
    ``ours``: options that are taken and not passed on, since we decide. ``always``: words put before all
    others. ``why``: sentences for options that are not available."""

    options: Mapping[str, Option]
    leading: Callable[[Sequence[Given]], int] = lambda options: 0
    files: bool = True
    most: int | None = None
    check: Callable[[Sequence[Given], Sequence[str]], None] = lambda options, operands: None
    number: str = ""
    ours: Mapping[str, Option] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)


def read_call(name: str, arguments: Sequence[str]) -> Call:
    """The words after a program's name. Raises :class:`Refused` or :class:`CommandError`."""
    program = PROGRAMS.get(name)
    if program is None:
        raise Refused(unknown_program(name))
    if name == "tail" and len(arguments) in (1, 2) and re.fullmatch(r"\+[0-9]+", arguments[0]):
        arguments = ["-n", *arguments]
    known = {**program.options, **program.ours}
    given, operands = read_options(name, known, arguments, number=program.number, why=program.why)
    given = [option for option in given if option.name not in program.ours]
    leading = program.leading(given) if program.files else len(operands)
    if len(operands) < leading:
        raise CommandError(f"{name} lacks its first operand; write it before the file names.")
    program.check(given, operands[:leading])
    paths = operands[leading:]
    if program.most is not None and len(paths) > program.most:
        raise Refused(f"{name} takes at most {program.most} file(s) here; leave the others out.")
    return Call(name, tuple(given), tuple(operands[:leading]), tuple(paths))


def unknown_program(name: str) -> str:
    """The sentence for a program that is not in the tables."""
    known = sorted({*PROGRAMS, "echo", "false", "find", "printf", "rg", "test", "true", "xargs"})
    if name in _INSTEAD:
        return f"{name} is not available here; {_INSTEAD[name]}."
    if (base := name.rpartition("/")[2]) in known and base != name:
        return f"{named(name)} is not available here; write {base}, without a directory."
    return f"{named(name)} is not available here; use {', '.join(known)}."


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


def _nl_check(options: Sequence[Given], operands: Sequence[str]) -> None:
    for option in options:
        if option.name in ("-w", "--number-width") and not re.fullmatch(r"[0-9]{1,3}", option.value or ""):
            raise Refused(f"nl {option.name} is a number below 1000 here; write nl -w 6.")


def _ls_check(options: Sequence[Given], operands: Sequence[str]) -> None:
    for option in options:
        if option.name == "--time-style" and (option.value or "").startswith("+"):
            raise Refused("ls --time-style takes a name here; write ls -l --time-style=long-iso.")


_NO_FOLLOW = "{program} {} waits for more to be written; leave it out."
_WRITES = "{program} {} writes a file, and nothing is written here; leave it out."
_STARTS = "{program} {} starts another program, which is not available here; leave it out."
_NAMES = "{program} {} reads names from a file; write cat scope_1.txt | xargs -d '\\n' {program} instead."
_LINKS = "{program} {} follows links out of the corpus; leave it out."
_RANDOM = "{program} {} gives another order every time; leave it out."
_MEMORY = "{program} {} is ours to choose here; leave it out."

_ENDS = "-c# --bytes# -n# --lines# -q --quiet --silent -v --verbose -z --zero-terminated"

PROGRAMS: Mapping[str, Program] = {
    "cat": Program(
        table(
            "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T"
            " --show-tabs -u -v --show-nonprinting"
        )
    ),
    "head": Program(table(_ENDS), number="-n"),
    "tail": Program(
        table(_ENDS),
        number="-n",
        why=dict.fromkeys(
            ("-f", "-F", "--follow", "--retry", "--pid", "-s", "--sleep-interval", "--max-unchanged-stats"),
            _NO_FOLLOW,
        ),
    ),
    "sed": Program(
        table(
            "-n --quiet --silent -e= --expression= -E -r --regexp-extended -l# --line-length# -s --separate"
            " -u --unbuffered -z --null-data --zero-terminated"
        ),
        leading=_sed_leading,
        check=_sed_check,
        why={
            "-i": _WRITES,
            "--in-place": _WRITES,
            **dict.fromkeys(("-f", "--file"), "sed {} is not available here; write the script after -e."),
        },
    ),
    "sort": Program(
        table(
            "-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort"
            " -i --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -r"
            " --reverse -V --version-sort --sort= -c -C --check=? -k= --key= -m --merge -s --stable -t="
            " --field-separator= -u --unique -z --zero-terminated"
        ),
        ours=table("--parallel#"),
        # Its input from a pipe seems small to it: it would soon go on in files of /tmp.
        always=("--buffer-size=1G", "--temporary-directory=/dev/null"),
        why={
            **dict.fromkeys(("-o", "--output"), _WRITES),
            **dict.fromkeys(("-T", "--temporary-directory", "-S", "--buffer-size", "--batch-size"), _MEMORY),
            **dict.fromkeys(("-R", "--random-sort", "--random-source"), _RANDOM),
            **dict.fromkeys(
                (f"-{digit}" for digit in "0123456789"),
                "sort {} names fields in an old way; write sort -k 2.",
            ),
            "--compress-program": _STARTS,
            "--files0-from": _NAMES,
        },
    ),
    "uniq": Program(
        table(
            "-c --count -d --repeated -D --all-repeated=? -f# --skip-fields# --group=? -i --ignore-case -s#"
            " --skip-chars# -u --unique -w# --check-chars# -z --zero-terminated"
        ),
        most=1,  # a second one would be written
    ),
    "wc": Program(
        table("-c --bytes -m --chars -l --lines -L --max-line-length -w --words --total="),
        why={"--files0-from": _NAMES},
    ),
    "cut": Program(
        table(
            "-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -n --complement -s"
            " --only-delimited --output-delimiter= -z --zero-terminated"
        )
    ),
    "tr": Program(
        table("-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1"),
        files=False,
        check=_tr_check,
    ),
    "nl": Program(
        table(
            "-b= --body-numbering= -d= --section-delimiter= -f= --footer-numbering= -h= --header-numbering="
            " -i# --line-increment# -l# --join-blank-lines# -n= --number-format= -p --no-renumber -s="
            " --number-separator= -v# --starting-line-number# -w# --number-width#"
        ),
        check=_nl_check,
    ),
    "comm": Program(
        table("-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total -z --zero-terminated"),
        most=2,
    ),
    "grep": Program(
        table(
            "-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -f@"
            " --file@ -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x"
            " --line-regexp -c --count -L --files-without-match -l --files-with-matches -m# --max-count# -o"
            " --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h"
            " --no-filename --label= -n --line-number -T --initial-tab -Z --null -A# --after-context# -B#"
            " --before-context# -C# --context# --group-separator= --no-group-separator -a --text -I"
            " --binary-files= --include= --exclude= --exclude-dir= -r --recursive --line-buffered -U --binary"
            " -z --null-data"
        ),
        leading=_grep_leading,
        number="-C",
        ours=table("--color=? --colour=?"),
        why={
            **dict.fromkeys(("-R", "--dereference-recursive"), _LINKS),
            **dict.fromkeys(
                ("-d", "--directories"), "grep {} is not available here; search directories with -r."
            ),
        },
    ),
    "ls": Program(
        table(
            "-1 -a --all -A --almost-all --author -b --escape -B --ignore-backups --block-size= -c -C -d"
            " --directory -f -F --classify=? --file-type --format= --full-time -g -G --no-group"
            " --group-directories-first -h --human-readable --hide= -i --inode -I= --ignore="
            " --indicator-style= -k --kibibytes -l -m -n --numeric-uid-gid -N --literal -o -p -q"
            " --hide-control-chars -Q --quote-name --quoting-style= -r --reverse -R --recursive -s --size"
            " --show-control-chars --si -S --sort= -t --time= --time-style= -u -U -v -x -X --zero"
        ),
        check=_ls_check,
        ours=table("--color=? -w# --width# -T# --tabsize#"),
        why=dict.fromkeys(("-L", "--dereference", "-H", "--dereference-command-line"), _LINKS),
    ),
}

_RG = "search with rg"
_NO_WRITES = "nothing is written here, and the output comes back to you"
_NO_CODE = "no program code is run here; use rg, sed -n, cut, sort and uniq"
_DIRECT = "write the program itself"
_INSTEAD: Mapping[str, str] = {
    "awk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    "gawk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    "mawk": "print lines with sed -n '5,20p' FILE, columns with cut, and filter with rg",
    **dict.fromkeys(("zgrep", "ag", "ack", "git"), _RG),
    **dict.fromkeys(("rm", "mv", "cp", "tee", "touch", "mkdir", "dd", "ln", "chmod", "install"), _NO_WRITES),
    **dict.fromkeys(("python", "python3", "perl", "node", "ruby", "php", "lua", "jq"), _NO_CODE),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "env", "exec", "eval", "command", "sudo", "time",
                     "nohup", "timeout", "nice", "builtin", "busybox"), _DIRECT),
    **dict.fromkeys(("source", "."), "write the commands themselves"),
    **dict.fromkeys(("less", "more", "bat", "vim", "vi", "nano"), "show lines with sed -n '1,80p' FILE"),
    **dict.fromkeys(("curl", "wget", "ssh", "nc"), "there is no network here; search the corpus"),
    **dict.fromkeys(("cd", "pushd", "popd", "pwd"), "every command starts at the root of the corpus"),
    **dict.fromkeys(("while", "for", "if", "until"), "give a program many files with xargs -d '\\n'"),
    "tac": "use tail or sort -r",
    "egrep": "use rg, or grep -E",
    "fgrep": "use rg -F, or grep -F",
    **dict.fromkeys(("export", "declare", "local", "read"), "variables cannot be set here; leave it out"),
    **dict.fromkeys(("exit", "return", "sleep", "wait"), "a command ends by itself; leave it out"),
}  # fmt: skip
