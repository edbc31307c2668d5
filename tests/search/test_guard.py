"""The guard as one table: what may run, what may not, what is no call. Nothing is executed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.command import parse
from rarg_tui.search.guard import Policy, Program, Step, check
from rarg_tui.search.refusal import CommandError, Refused
from tests.hostile import Hostile

RUN = [
    "cat scope_1.txt | xargs -d '\\n' rg -n -i 'bird|nest'",
    "cat scope_1.txt | xargs -d '\n' rg -n 'two words' | head -n 40",
    'cat scope_1.txt | xargs -d "\\n" rg -nS -C2 bird | sed -n "1,60p"',
    "cat scope_1.txt | xargs -rd '\\n' rg -l bird | xargs -d '\\n' rg -n nest",
    "cat scope_1.txt | xargs --delimiter='\\n' --no-run-if-empty rg -c bird | sort -t: -k2 -nr | head",
    "cat scope_1.txt | xargs -d '\\n' -n 500 -P 4 rg --threads=4 --sort path -n bird",
    "cat scope_1.txt | xargs -d '\\n' rg -n -e a -e b --max-count=3 2>/dev/null | tail -n 50 || true",
    "cat scope_1.txt | xargs -d '\\n' rg -n -P '(?<=Dr )x' -- ",
    "cat scope_1.txt | xargs -d '\\n' rg -f plain.txt",
    "xargs -a scope_1.txt -d '\\n' rg -n bird",
    "xargs -d '\\n' rg -n bird < scope_1.txt",
    "head -200 ./scope_1.txt | xargs -d '\\n' rg -n bird",
    "printf '%s\\n' 'a b.txt' c.txt | xargs -d '\\n' rg -n x",
    "cat scope_1.txt scope_2.txt | sort -u | xargs -d '\\n' rg -n x",
    "cat scope_1.txt | xargs -d '\\n' wc -l | sort -rn | head",
    "cat scope_1.txt | xargs -d '\\n' sed -n '1,3p'",
    "cat scope_1.txt | tr '\\n' '\\0' | xargs -0 grep -l bird",
    "set -euo pipefail; rg -n x scope_1.txt | cut -c1-300",
    "rg -n bird plain.txt 'with space.txt' nofile.txt",
    "rg -n -- -x plain.txt",
    "sed -n '/a/,/b/{p;q}' plain.txt; sed -n -e 5p -e '$p' plain.txt; sed 's/a/b/g' plain.txt",
    "grep -c bird plain.txt; grep -3 -i -e a plain.txt; grep -E 'a|b' -- -rf.txt",
    "[ -f plain.txt ] && test ! -d plain.txt || echo none",
    "echo -n --- A; echo '$HOME'; printf '%d\\n' 3",
    "ls; ls -la 'Ünï'; find . -name '*.txt' -type f -maxdepth 2 | wc -l",
    "cat link.txt ./plain.txt /dev/null; nl -ba plain.txt; uniq -c plain.txt",
    "comm -12 scope_1.txt scope_2.txt",
    "tail -n +5 plain.txt; head -c 100 plain.txt; cut -d: -f1 scope_1.txt | tr a-z A-Z",
    "rg bird *nomatch*zz plain.txt",
    "head -n -1 plain.txt; head -c -5 plain.txt; tail -n -2 plain.txt; grep -e -3 plain.txt",
    "tail +3 plain.txt; head -c 5K plain.txt; cat plain.txt | tail +2",
    "grep --color=always -n bird plain.txt; ls --color=auto -w 80 --group-directories-first -C",
    "grep -A1 --no-group-separator --label=x bird plain.txt",
    "sort --parallel=2 --sort=numeric -k2,2n -t, plain.txt; sort -C plain.txt; sort --check=quiet plain.txt",
    "uniq --all-repeated=separate plain.txt; uniq --group plain.txt; uniq -w3 -f 1 plain.txt",
    "nl -p -h a -d xy -l 2 -v -5 -w 6 plain.txt; comm --zero-terminated scope_1.txt scope_2.txt",
    "sed ':a;N;$!ba;s/\\n/ /g' plain.txt; sed -n 's/a/b/mp;F' plain.txt; sed 's/^/[/;s/$/]/' plain.txt",
    "sed 's/[^/]*$//' plain.txt; sed -n 's/[^]/]/x/p' plain.txt; sed 's/[\\[\\]]//g;s/[/]/[/' plain.txt",
    "sed -n -l 60 l plain.txt; sed 's,[/],x,g' plain.txt; sed -n '/[[:space:]]/p' plain.txt",
    "ls -l --time-style=long-iso --sort=size --quoting-style=literal",
    "find . -mtime -3 -perm -u+r -printf '%f %s\\n'; find . '(' -name a -o -name b ')' , -print",
    "true x --help; false y; :",
    "echo --help; echo -e 'a\\tb'; printf -- '-%5.2f%%\\n' 1; printf '%-20s|%d\\n' a 1",
    "cat plain.txt >&/dev/null; cat plain.txt >/dev/null 2>&1",
    "cat scope_1.txt | xargs -d '\\n' printf '%s\\n' | head -n 3",
    "rg --dfa-size-limit=500M --regex-size-limit 10M bird plain.txt",
    "echo == a; echo $ a",
]

REFUSED = [
    "rg -n bird",
    "rg -n bird .",
    "cat scope_*.txt | xargs -d '\\n' rg x",
    "cat plain.txt" + " | cat" * 40,
    "rg bird Ünï",
    "grep -rn bird .",
    "rg --files",
    "cat scope_1.txt | xargs -d '\\n' rg x .",
    "rm -rf .",
    "cat scope_1.txt | xargs -d '\\n' rm",
    "cat scope_1.txt | xargs sh -c id",
    "xargs -I{} rg x {} < scope_1.txt",
    "cat scope_1.txt | xargs -d '\\n' xargs rg x",
    "cat scope_1.txt | xargs -t rg x",
    "cat scope_1.txt | xargs -d '\\n' rg --pre=sh x",
    "rg --pre ./evil.sh x plain.txt",
    "rg --pre-glob '*' x plain.txt",
    "rg -z x plain.txt",
    "rg --search-zip x plain.txt",
    "rg --hostname-bin ./evil x plain.txt",
    "rg --hyperlink-format default x plain.txt",
    "rg -L x plain.txt",
    "rg --ignore-file /etc/passwd x plain.txt",
    "rg -f /etc/passwd plain.txt",
    "rg -f- plain.txt",
    "grep -f - plain.txt",
    "rg -f scope_1.txt plain.txt",
    "rg --json x plain.txt",
    "rg --stats x plain.txt",
    "rg --debug x plain.txt",
    "rg --generate man",
    "rg x /",
    "rg x /etc/passwd",
    "cat /etc/passwd",
    "cat ../../../etc/passwd",
    "cat outside.txt",
    "cat loop/../../x",
    "cat pipe.txt",
    "cat /dev/zero",
    "cat /dev/stdin",
    "cat Ünï",
    "cat .hidden.txt",
    "cat .git/config",
    "cat loop/.git/config",
    "cat -",
    "cat < /etc/passwd",
    "cat plain.txt | cat < plain.txt",
    "find . -exec id ';'",
    "find . -delete",
    "find . -fprintf out x",
    "find -L . -name x",
    "find . -ok id ';'",
    "find / -name x",
    "find . -newer /etc/passwd",
    "find .. -name x",
    "find . -fls out",
    "sed -i s/a/b/ plain.txt",
    "sed --in-place s/a/b/ plain.txt",
    "sed -n 'w out' plain.txt",
    "sed 's/a/b/w out' plain.txt",
    "sed '1e id' plain.txt",
    "sed 's/a/id/e' plain.txt",
    "sed e plain.txt",
    "sed 'r /etc/passwd' plain.txt",
    "sed -n 'R /etc/passwd' plain.txt",
    "sed 'W out' plain.txt",
    "sed -f plain.txt plain.txt",
    "sed -e p -e 'w out' plain.txt",
    "sed -n '/a/{w out\n}' plain.txt",
    "sed 's,a,b,;e id' plain.txt",
    "sed -n 's/[/]/x/;w out/' plain.txt",
    "sed '1{p};e' plain.txt",
    "sed -s --posix p plain.txt",
    "sort -o plain.txt plain.txt",
    "sort --output=x plain.txt",
    "sort --outp=x plain.txt",
    "sort --compress-program=sh plain.txt",
    "sort -T /tmp plain.txt",
    "sort -R --random-source=/etc/passwd plain.txt",
    "sort --files0-from=/etc/passwd",
    "sort -S 10G plain.txt",
    "uniq plain.txt out.txt",
    "wc --files0-from=plain.txt",
    "tail -f plain.txt",
    "tail --follow=name plain.txt",
    "tail -F plain.txt",
    "grep -R x .",
    "grep -f /etc/passwd plain.txt",
    "grep --exclude-from=/etc/passwd x plain.txt",
    "grep x /etc/passwd",
    "ls /",
    "ls -L outside.txt",
    "ls ..",
    "cut --files x plain.txt",
    "nl /etc/passwd",
    "comm /etc/passwd plain.txt",
    "test -f /etc/passwd",
    "[ -f ../x ]",
    "test -f a -a -f b",
    "awk 1 plain.txt",
    "tee out.txt",
    "yes",
    "curl http://127.0.0.1/",
    "python3 -c 1",
    "bash -c id",
    "env rg x plain.txt",
    "git log",
    "exec rg x plain.txt",
    "eval rg x",
    "source plain.txt",
    ". plain.txt",
    "command cat plain.txt",
    "timeout 5 cat plain.txt",
    "sudo cat plain.txt",
    "cd /; cat plain.txt",
    "xargs -a /etc/passwd rg x",
    "cat *.txt",
    "rg bird *.txt",
    "cat [p]lain.txt",
    "echo /etc/pass*",
    "echo /etc/no-such-name*",
    "echo ../no-such-name*",
    "echo 'Ünï'/../../no-such-name*",
    "set -x; cat plain.txt",
    "cat plain.txt | set -e",
    "echo x | printf -v y z",
    "/bin/cat plain.txt",
    "./plain.txt",
    "trap id EXIT",
    "alias a=b",
    "rg --no-ignore --follow x plain.txt",
    "rg -uL x plain.txt",
    "cat scope_1.txt | xargs -d '\\n' tr a b",
    "cat scope_1.txt | xargs -d '\\n' cat plain.txt",
    "true; " * 101,
    "cat",
    "grep bird",
    "wc -l; echo",
    "tr a b",
    "echo x > plain.txt; tail plain.txt",
    "cat < plain.txt < plain.txt",
    "cat plain.txt 2>&1 >/dev/null",
    "printf '%1000000000s' x",
    "printf '%*s' 1000000000 x",
    "printf '%.99999d' 1",
    "printf '%(%Y)T'",
    "printf '%n' x",
    "printf '%q' x",
    "printf --help",
    "cat scope_1.txt | xargs -d '\\n' printf '%*s'",
    "echo -e '\\u0041'",
    "nl -w 999999999 plain.txt",
    "ls -l --time-style=+%9999999Y",
    "ls --dereference-command-line outside.txt",
    "find . -printf '%99999999p'",
    "find . -printf %Y",
    "find . -xtype f",
    "find . -newermt '2020-01-01'",
    "find . -files0-from plain.txt",
    "sort -2 plain.txt",
    "sort -R plain.txt",
    "sort --sor numeric plain.txt",
    "tail -5f plain.txt",
    "tail --retry plain.txt",
    "tail ---presume-input-pipe plain.txt",
    "grep -d recurse x .",
    "sed 's\u6f22a\u6f22b\u6f22' plain.txt",
    "sed -n 's/[^]/]/x/;w out/]/' plain.txt",
    "sed -n 's/[\\]/x/;s/]/y/' plain.txt",
    "sed -n 's/[\\/]/x/' plain.txt",
    "sed -n 's/\\c/X/;s/w out\\n/Z/' plain.txt",
    "rg --regex-size-limit=99G x plain.txt",
    "set foo -e",
    "set -- a",
    "set -e -",
    "/usr/bin/rg bird plain.txt",
    "pwd",
    "exit 0",
]

ERRORS = [
    "cat scope_9.txt | xargs -d '\\n' rg x",
    "cat scope_01.txt",
    "cat scope_1.txt | xargs -d '\\n' rg",
    "cat scope_1.txt | xargs -d '\\n'",
    "cat scope_1.txt | xargs -d 'ab' rg x",
    "xargs -d '\\n' rg x",
    "rg",
    "rg -e",
    "rg -A",
    "head -n x plain.txt",
    "sed -n",
    "sed '' plain.txt",
    "grep",
    "tr",
    "[ -f plain.txt",
    "find . -name",
    "printf",
    "sed -n '/a' plain.txt",
    "cat ''",
    "cat < no-such.txt",
    "cat < pl[a]in.txt",
    "grep -f no-such.txt plain.txt",
    "rg -C \u00b2 x plain.txt",
    f"rg -A {'9' * 5_000} x plain.txt",
    "head -n \u0663 plain.txt",
    "uniq -f x plain.txt",
    "echo 'it is' | grep -m x y",
]


@pytest.fixture
def policy(hostile_corpus: Hostile, tmp_path: Path) -> Policy:
    return Policy(str(hostile_corpus.root), str(tmp_path / "run"), (1, 2), whole_corpus=False)


@pytest.mark.parametrize("command", RUN)
def test_runs(command: str, policy: Policy) -> None:
    assert check(parse(command), policy)


@pytest.mark.parametrize("command", REFUSED)
def test_refused(command: str, policy: Policy) -> None:
    with pytest.raises(Refused, match=r"\w.*[.]$"):
        check(parse(command), policy)


@pytest.mark.parametrize("command", ERRORS)
def test_errors(command: str, policy: Policy) -> None:
    with pytest.raises(CommandError, match=r"\w.*[.]$"):
        check(parse(command), policy)


@pytest.mark.parametrize(
    "command", ["rg -n bird", "rg bird .", "rg --files", "grep -rn bird .", "rg -l bird Ünï"]
)
def test_the_whole_corpus_is_a_matter_of_policy(
    command: str, hostile_corpus: Hostile, tmp_path: Path
) -> None:
    assert check(parse(command), Policy(str(hostile_corpus.root), str(tmp_path), (), whole_corpus=True))


def test_a_scope_is_the_runs_whatever_lies_in_the_corpus(policy: Policy) -> None:
    (Path(policy.root) / "scope_1.txt").symlink_to("/etc/passwd")
    check(parse("cat scope_1.txt"), policy)
    check(parse(f"cat {policy.run_dir}/scope_2.txt"), policy)
    with pytest.raises(Refused, match="outside"):
        check(parse("cat Ünï/../scope_1.txt"), policy)
    with pytest.raises(Refused, match="outside"):
        check(parse("cat /tmp/elsewhere/scope_1.txt"), policy)


def test_an_unknown_scope_names_those_there_are(policy: Policy) -> None:
    with pytest.raises(CommandError, match=r"scope_1\.txt, scope_2\.txt"):
        check(parse("cat scope_3.txt"), policy)
    none = Policy(policy.root, policy.run_dir, (), whole_corpus=False)
    with pytest.raises(CommandError, match="embed_recall"):
        check(parse("cat scope_1.txt"), none)


def test_the_whole_corpus_sentence_names_a_scope(policy: Policy) -> None:
    with pytest.raises(Refused, match=r"cat scope_2\.txt \| xargs"):
        check(parse("rg bird ."), policy)


def test_a_number_after_an_option_or_two_dashes_is_no_option(tmp_path: Path) -> None:
    """``-3`` stands for ``-C 3`` only where an option may stand."""
    policy = Policy(str(tmp_path), str(tmp_path), (), whole_corpus=False)
    for command in ("grep -e -3 f.txt", "grep -- -3 f.txt"):
        (step,) = check(parse(command), policy)[0].pipelines[0].steps
        assert isinstance(step, Program)
        assert step.argv[-2:] == ("-e", "-3")
        assert "-C" not in step.argv
    (step,) = check(parse("grep -3 x f.txt"), policy)[0].pipelines[0].steps
    assert isinstance(step, Program)
    assert step.argv[1:3] == ("-C", "3")


def steps_of(command: str, policy: Policy) -> tuple[Step, ...]:
    return check(parse(command), policy)[0].pipelines[0].steps


def test_a_file_of_patterns_is_the_corpus_own_wherever_the_program_stands(policy: Policy) -> None:
    """A program that reads only scopes stands in the run's directory, with the files of the run."""
    (Path(policy.root) / "words.txt").write_text("bird\n")
    for command, option in (("grep -f words.txt", "-f {}"), ("rg --file=words.txt", "--file={}")):
        (step,) = steps_of(f"{command} scope_1.txt", policy)
        assert isinstance(step, Program)
        assert option.format(f"{policy.root}/words.txt") in " ".join(step.argv)
        (both,) = steps_of(f"{command} -c scope_1.txt plain.txt", policy)
        assert isinstance(both, Program)
        assert option.format("words.txt") in " ".join(both.argv)


def test_sort_keeps_to_memory(policy: Policy) -> None:
    """From a pipe it would soon go on in files of /tmp."""
    _, step = steps_of("cat plain.txt | sort -rn", policy)
    assert isinstance(step, Program)
    assert step.argv == ("sort", "--buffer-size=1G", "--temporary-directory=/dev/null", "-r", "-n")


def test_programs_print_what_those_of_bash_would(policy: Policy) -> None:
    for command, argv in (
        ("echo --help", ("echo", "-E", "--help")),
        ("echo --help x", ("echo", "--help", "x")),
        ("true --help", ("true",)),
        ("tail +3 plain.txt", ("tail", "-n", "+3")),
        ("tail +3 plain.txt bom.txt", ("tail",)),
        ("find , .", ("find", "-P", "./,", ".")),
    ):
        (step,) = steps_of(command, policy)
        assert isinstance(step, Program)
        assert step.argv == argv


@pytest.mark.parametrize("odd", ["x" * 9_000, "\x1b[2J", "a\nb", "\u202e", " ", "/" + "\udc80" * 500])
def test_a_sentence_is_one_short_line_whatever_it_quotes(odd: str, policy: Policy) -> None:
    for command in ("'{}'", "cat '../{}'", "rg '-z{}' x", "head -n '{}' plain.txt", "sed '{}' plain.txt",
                    "find . '-{}'", "printf '%Z{}'", "cat scope_1.txt | xargs -d 'a{}' rg x", "cat x > '{}'",
                    "grep -f 'z{}' plain.txt", "nl -w '{}' plain.txt"):  # fmt: skip
        with pytest.raises(RargError) as caught:
            check(parse(command.format(odd)), policy)
        assert len(str(caught.value)) < 400
        assert str(caught.value).isprintable()


def test_an_abbreviated_option_is_written_out_by_the_model(policy: Policy) -> None:
    with pytest.raises(Refused, match=r"--invert is no whole option; write it out: --invert-match\."):
        check(parse("grep --invert x plain.txt"), policy)
