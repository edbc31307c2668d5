from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.command import CommandError, Script, parse
from rarg_tui.search.refusal import Refused


def shape(script: Script) -> list[list[str]]:
    """Lists as ``a|b`` strings with their operators between."""
    lists = []
    for and_or in script.lists:
        parts: list[str] = []
        for at, pipeline in enumerate(and_or.pipelines):
            if at:
                parts.append(and_or.operators[at - 1])
            text = " | ".join(" ".join(command.argv) for command in pipeline.commands)
            parts.append(f"! {text}" if pipeline.negated else text)
        lists.append(parts)
    return lists


def words(text: str) -> tuple[str, ...]:
    return parse(text).lists[0].pipelines[0].commands[0].argv


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b | c && d || e; f", [["a b | c", "&&", "d", "||", "e"], ["f"]]),
        ("a\nb\n", [["a"], ["b"]]),
        ("a |\n b &&\n\n c", [["a | b", "&&", "c"]]),
        ("a \\\n b", [["a b"]]),
        ("a # said\nb", [["a"], ["b"]]),
        ("! a | b", [["! a | b"]]),
        ("a;", [["a"]]),
        ("set -o pipefail && a 2>&1 | b", [["set -o pipefail", "&&", "a | b"]]),
        ("a 2>/dev/null b | c", [["a b | c"]]),
        ("[ -f 'x y' ] && a", [["[ -f x y ]", "&&", "a"]]),
    ],
)
def test_structure(text: str, expected: list[list[str]]) -> None:
    assert shape(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"""p 'a b'"c d"e\ f""", "a bc de f"),
        ("p '\n'", "\n"),
        (r'p "\n"', r"\n"),
        (r'p "\"\$\`\\"', '"$`\\'),
        ('p "^a$|b$"', "^a$|b$"),
        ("p ^a$", "^a$"),
        (r"p $'a\tb\'\x41\u00e9'", "a\tb'Aé"),
        (r"p $'\303\251'", "é"),
        ("p it\\'s", "it's"),
        ("p {}", "{}"),
        ("p a{2}", "a{2}"),
        ("p x#y", "x#y"),
        ("p [a]\\$x", "[a]$x"),
        ("p 'a'\\\n'b'", "ab"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert words(text) == ("p", expected)


def test_redirects_belong_to_one_command() -> None:
    first, second = parse("a 2>/dev/null | b >/dev/null 2>&1").lists[0].pipelines[0].commands
    assert (first.redirects.stdout, first.redirects.stderr) == ("pipe", "null")
    assert (second.redirects.stdout, second.redirects.stderr) == ("null", "null")
    (merged, _) = parse("a |& b").lists[0].pipelines[0].commands
    assert merged.redirects.stderr == "merge"
    assert parse("a < f").lists[0].pipelines[0].commands[0].redirects.stdin is not None


@pytest.mark.parametrize(
    "text",
    [
        "", "  \n", "# only this", "a |", "| a", "a && ",  "a 'b", 'a "b',  "a\r\nb",
        "a\0b", "a \ud800", "a 2>", "a b\\",
    ],
)  # fmt: skip
def test_not_a_command(text: str) -> None:
    with pytest.raises(CommandError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "a $x", "a ${x}", 'a "$x"', "a $(b)", "a `b`", 'a "`b`"', "a <(b)", "a > f", "a >> f", "a 2> f",
        "a &", "x=1 a", "x=1", "for i in a; do b; done", "while a; do b; done", "if a; then b; fi",
        "f() { a; }", "(a)", "{ a; }", "a <<E\nb\nE", "a <<< b", "[[ -f a ]]", "a {b,c}", "a {1..3}", "a ~",
        "a ~/x", 'a $"b"', "a $((1+1))", "a >&2", "a 3>/dev/null", "case a in b) c;; esac", "export a=b",
        "a 2>&1x",
        "a ;; b",
        "a (b|c)",
    ],
)  # fmt: skip
def test_not_available(text: str) -> None:
    with pytest.raises(RargError, match=r"[a-z].*[.]$"):
        parse(text)


def test_patterns_of_file_names_are_marked() -> None:
    star, plain, mixed = parse("p a*.txt 'a*.txt' '*'?").lists[0].pipelines[0].commands[0].words[1:]
    assert star.glob == "a*.txt"
    assert plain.glob == ""
    assert mixed.glob == "[*]?"


ATOMS = [
    "a", "'x y'", '"d q"', "\\ ", "\\'", "'\\n'", "$'t\\tq'", '"a\\"b"', '"$"', "^a$", "{}", "{2}", "x=y",
    "-n", "--o=v", "'\n'", '"\\n"', "a#b", "é", "!", "!x", "[a]", "*zz", "?q", "a~", "=", ":", "\\\n", "1",
    "10", "+", "@", "a,b", "..", "'$H'", "]", "[", "}", "{", "\\$x", "\\*", "$", '"x\ny"', "if", "in",
]  # fmt: skip
JOINTS = [
    " | ",
    "|",
    " && ",
    " || ",
    "; ",
    "\n",
    " 2>/dev/null ",
    " 2>&1 ",
    " |& ",
    " # c\n",
    "&&",
    ">/dev/null ",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash to compare with")
def test_words_are_those_of_bash(tmp_path: Path) -> None:
    """Random commands: whatever we accept, bash gives the same words to the same programs."""
    rng = random.Random(7)
    compared = 0
    for _ in range(150):
        text = "P"
        for _ in range(rng.randint(1, 6)):
            text += rng.choice(JOINTS) + "P " if rng.random() < 0.15 else ""
            text += rng.choice([" ", " ", "\t", " \\\n ", "", ""]) + rng.choice(ATOMS)
        try:
            script = parse(text)
        except RargError:
            continue
        ours = {command.argv for a in script.lists for p in a.pipelines for command in p.commands}
        if any(argv[0] != "P" for argv in ours):
            continue
        assert _bash(text, tmp_path) == ours, text
        compared += 1
    assert compared > 50


def _bash(text: str, directory: Path) -> set[tuple[str, ...]]:
    """Every call of P that bash makes, whichever way && and || go."""
    calls: set[tuple[str, ...]] = set()
    for status in (0, 1):
        out = directory / "calls"
        out.write_bytes(b"")
        # One write a call, since the programs of a pipeline run side by side.
        function = (
            "P() { local o=P w; for w in \"$@\"; do o+=$'\\1'$w; done; "
            f'printf "%s\\2" "$o" >>"{out}"; return {status}; }}\n'
        )
        subprocess.run(
            ["bash", "-c", function + text],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=_empty(directory), check=False,
        )  # fmt: skip
        for record in out.read_bytes().decode().split("\2")[:-1]:
            calls.add(tuple(record.split("\1")))
    return calls


def _empty(directory: Path) -> Path:
    empty = directory / "empty"
    empty.mkdir(exist_ok=True)
    return empty


def test_long_lists_and_long_commands() -> None:
    assert len(parse("a && " * 900 + "a").lists[0].pipelines) == 901
    with pytest.raises(CommandError, match="longer"):
        parse("a " * 40_000)


def test_a_number_that_ends_a_word_is_no_descriptor() -> None:
    for text in ("a foo2>/dev/null", "a 'foo'2>/dev/null"):
        (command,) = parse(text).lists[0].pipelines[0].commands
        assert (command.argv, command.redirects.stdout) == (("a", "foo2"), "null")


@pytest.mark.parametrize("unit", ["a|", ")", "a@", "\u2003\r", "?sh"])
def test_what_would_take_the_parser_long_is_not_given_to_it(unit: str) -> None:
    """Its time and memory grow with the square of some marks: seconds and gigabytes for these."""
    with pytest.raises(CommandError, match="operators, brackets"):
        parse("p " + (unit * 32_000)[:32_000])


def test_stderr_alone_is_not_shown() -> None:
    """bash gives stderr to the pipe here, and stdout to nobody."""
    with pytest.raises(Refused, match="2>&1"):
        parse("a 2>&1 >/dev/null | b")
    (command,) = parse("a >/dev/null 2>&1").lists[0].pipelines[0].commands
    assert (command.redirects.stdout, command.redirects.stderr) == ("null", "null")


@pytest.mark.parametrize("text", ["[ a = b ]#", "![ -f x ]", "[ a\n= b ]", "a {fd}>/dev/null", "\ufeffa"])
def test_what_bash_cuts_in_another_place_is_not_read(text: str) -> None:
    with pytest.raises(RargError):
        parse(text)


def test_digits_before_a_redirect_are_a_descriptor() -> None:
    (command,) = parse("a  0< b").lists[0].pipelines[0].commands
    assert command.argv == ("a",)
    (quoted,) = parse("a '0'< b").lists[0].pipelines[0].commands
    assert quoted.argv == ("a", "0")
