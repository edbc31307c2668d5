"""The first wall under attack: random command lines, with bash and the programs' own options as option_judge.

A few hundred attacks a run; ``RARG_ATTACKS=10000 pytest tests/search/test_first_wall.py`` makes more of them,
other ones every time, and ``--hypothesis-show-statistics`` counts what became of them.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from hypothesis import HealthCheck, event, example, given, settings

from rarg_tui.errors import MissingPart, RargError
from rarg_tui.search.command import Script, parse
from rarg_tui.search.guard import AndOrPlan, Policy, check
from rarg_tui.search.rg import find_rg
from rarg_tui.search.sed_script import check_sed
from tests import hostile
from tests.search import bash_judge, option_judge
from tests.search.grammar import KNOWN, USUAL, attacks, sed_scripts
from tests.search.option_tables import FORBIDDEN, GETOPT

ATTACKS = int(os.environ.get("RARG_ATTACKS", "400"))
_many = settings(
    max_examples=ATTACKS,
    derandomize="RARG_ATTACKS" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> option_judge.Scene:
    """The hostile corpus with two scopes; files of the same names lie in the corpus to mislead."""
    base = tmp_path_factory.mktemp("wall")
    root, run_dir, records = base / "root", base / "run", base / "records"
    for directory in (root, run_dir, records):
        directory.mkdir()
    hostile.make(root)
    for number in (1, 2):
        (root / f"scope_{number}.txt").write_text("/etc/passwd\n")
        (run_dir / f"scope_{number}.txt").write_text("plain.txt\n")
    (run_dir / "events.jsonl").write_text("secret\n")
    return option_judge.Scene(root, run_dir, (1, 2), records)


def policy(scene: option_judge.Scene, *, whole_corpus: bool = True) -> Policy:
    return Policy(str(scene.root), str(scene.run_dir), scene.scopes, whole_corpus)


def attempt(text: str, scene: option_judge.Scene) -> tuple[Script, tuple[AndOrPlan, ...]] | None:
    """The script and its plan, or ``None`` after a look at the sentence that says why not."""
    try:
        script = parse(text)
        return script, check(script, policy(scene))
    except RargError as error:
        sentence = str(error)
        assert re.match(r"\S.*[.]$", sentence), sentence
        assert len(sentence) < 400, sentence
        assert sentence.isprintable(), sentence
        return None


def withstands(text: str, scene: option_judge.Scene) -> bool:
    """Only allowed programs, options and places; and bash would start the same with the same words.
    Whether it is allowed."""
    allowed = attempt(text, scene)
    if allowed is None:
        return False
    script, plan = allowed
    option_judge.judge(script, plan, scene)
    as_bash(text, script, scene)
    return True


def as_bash(text: str, script: Script, scene: option_judge.Scene) -> None:
    """bash would start the same programs with the same words, whichever way && and || go."""
    if bash_judge.BASH is None or bash_judge.opens_elsewhere(text):
        return
    for status in (0, 1):
        ours = bash_judge.our_calls(script, status)
        assert ours == bash_judge.bash_calls(text, scene.root, scene.records, status)


@_many
@given(text=attacks)
def test_what_is_not_refused_is_what_was_meant(text: str, scene: option_judge.Scene) -> None:
    event("allowed" if withstands(text, scene) else "not allowed")


@pytest.mark.parametrize("text", KNOWN)
def test_what_once_came_through_or_might(text: str, scene: option_judge.Scene) -> None:
    withstands(text, scene)


@pytest.mark.parametrize("text", USUAL)
def test_the_usual_runs_and_means_the_same(text: str, scene: option_judge.Scene) -> None:
    script = parse(text)
    option_judge.judge(script, check(script, policy(scene, whole_corpus=False)), scene)
    if bash_judge.BASH is not None:
        for status in (0, 1):
            assert bash_judge.our_calls(script, status) == bash_judge.bash_calls(
                text, scene.root, scene.records, status
            )


def test_nothing_was_written(scene: option_judge.Scene) -> None:
    """bash stood in the corpus all the while."""
    assert not {"out", "pwned", "x", "E"} & set(os.listdir(scene.root))


@pytest.mark.skipif("GNU sed" not in option_judge.version("sed"), reason="no GNU sed to compare with")
@_many
@given(script=sed_scripts)
@example(script="s/[/]/x/;w out/")
@example(script="s/[^]/]/x/;w out/]/")
@example(script="s/\\//g;y,b/;w out\n,zzz,")
@example(script="s/[\\]/x/;s/]/y/;w out")
@example(script="s/\\c/X/;s/w out\n/Z/")
@example(script="s/a\nb/c/;w out\n/")
@example(script="s漢a\udce6b\udce6w out\n漢c漢")
def test_no_sed_script_writes_or_runs(script: str) -> None:
    """sed's own sandbox, which knows these commands, finds none in what we allow."""
    try:
        check_sed(script)
    except RargError:
        event("not allowed")
        return
    event("allowed")
    for locale in ("C.UTF-8", "C"):
        done = subprocess.run(
            ["sed", "--sandbox", "-n", "-e", os.fsencode(script)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": locale},
            timeout=20,
            check=False,
        )
        assert b"sandbox" not in done.stderr


_UNITS = (
    "a|", "a&&", "a;", "a\n", ")", "$[", "|", "<<a\n", "((", "$(", "${", "`", "{a,", "a@", "\u2003\r", "?sh",
    "=~ ", "*a ", "'a' ", "! ", "\\\n", "if a;then ", "f(){ ", "{1..9999999}", "[ a ] ", "2>&1 ", "é",
    "\udcff", "-", "cat x;",
)  # fmt: skip


@pytest.mark.parametrize("unit", _UNITS)
def test_bombs(unit: str, scene: option_judge.Scene) -> None:
    """Long, deep and many: an answer comes. (Without a limit it takes minutes, and gigabytes.)"""
    for length in (2_000, 32_000):
        attempt("cat x | " + (unit * length)[:length], scene)


class TestTables:
    """Our tables against the programs of this machine, as their help describes them."""

    @pytest.mark.parametrize("program", sorted(GETOPT))
    def test_every_option_is_read_as_the_program_reads_it(self, program: str) -> None:
        if "GNU" not in option_judge.version(program):
            pytest.skip(f"{program} is another one here")
        helped = option_judge.options_of_help(program)
        assert len(helped) > 2
        for name, takes in option_judge.our_table(program).items():
            if name in helped:
                assert (name, takes) == (name, helped[name])
            else:
                assert option_judge.takes(program, name) == takes
        for name, takes in helped.items():
            assert option_judge.takes(program, name) == takes, name

    @pytest.mark.parametrize("program", sorted(GETOPT))
    def test_every_other_option_is_refused(self, program: str, scene: option_judge.Scene) -> None:
        for name, takes in {
            **option_judge.options_of_help(program),
            **option_judge.options_of_getopt(program),
        }.items():
            if name not in option_judge.our_table(program) and not name[1].isdigit():
                self._refused(f"{program} {name}{' x' if takes == '=' else ''} plain.txt", scene)

    def test_rg_takes_its_options_as_we_do(self, rg: str, scene: option_judge.Scene) -> None:
        helped = option_judge.options_of_rg(rg)
        ours = option_judge.our_table("rg")
        assert {name: takes for name, takes in ours.items() if name in helped} == {
            name: takes for name, takes in helped.items() if name in ours
        }
        assert not ours.keys() - helped.keys() - {"--passthrough"}
        assert {name for name, takes in helped.items() if takes} == {
            f"-{name}" if len(name) == 1 else f"--{name}" for name in option_judge.RG_VALUES
        }
        for name, takes in helped.items():
            if name not in ours:
                self._refused(f"rg {name}{' x' if takes else ''} y plain.txt", scene)

    @pytest.mark.parametrize("program", sorted(FORBIDDEN))
    def test_what_never_comes_through(self, program: str, scene: option_judge.Scene) -> None:
        for option in FORBIDDEN[program].split():
            tail = "-d '\\n' cat" if program == "xargs" else "plain.txt"
            for form in (f"{option}", f"{option} x", f"{option}=x", f"{option}x", f"-- {option} x"):
                text = f"cat scope_1.txt | {program} {form} {tail}"
                allowed = attempt(text, scene)
                if allowed is not None:  # as an operand, say
                    option_judge.judge(*allowed, scene)

    def _refused(self, text: str, scene: option_judge.Scene) -> None:
        assert attempt(text, scene) is None, text


@pytest.fixture(scope="module")
def rg() -> str:
    """rg 15, whose options are in our table."""
    try:
        found = find_rg()
    except MissingPart:
        pytest.skip("no rg")
    if not found.version.startswith("15."):
        pytest.skip("another rg")
    return found.path


def test_the_judges_find_faults(scene: option_judge.Scene) -> None:
    """A judge that never objects proves nothing."""
    for program, words in (
        ("sort", ["-uo", "out"]),
        ("tail", ["--fol"]),
        ("grep", ["-iR", "x"]),
        ("rg", ["-nz"]),
    ):
        assert option_judge.read(program, words).forbidden(program)
    assert not scene.inside("outside.txt")
    assert not scene.inside("../x")
    assert not scene.inside("pipe.txt")
    assert scene.inside("link.txt")
    assert scene.inside("scope_1.txt")
    if bash_judge.BASH is not None:
        text = "echo {a,b} 2>&1 | cat >/dev/null"
        calls = bash_judge.bash_calls(text, scene.root, scene.records, 0)
        assert calls == [("-n-", ("cat",)), ("n-m", ("echo", "a", "b"))]
