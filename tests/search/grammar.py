"""Random command lines to attack the guard with: its own grammar, and everything else that bash has."""

from __future__ import annotations

from hypothesis import strategies as st

#: Operands: documents and scopes, names that do not exist, and all that must not be read.
GOOD = (
    "plain.txt", "scope_1.txt", "./scope_2.txt", "'with space.txt'", "-- -rf.txt", "./-rf.txt", "link.txt",
    "'it'\\''s \"quoted\".txt'", "'$(touch pwned).txt'", "'`id`;echo.txt'", '"colon:12:name.txt"',
    "with\\ space.txt", "$'tab\\tname.txt'", "Ünï/'漢字 🧭.txt'", "no-such.txt", "/dev/null",
    "loop/plain.txt",
    "'[bold]x[/].txt'", "deep", ".",
)  # fmt: skip
BAD = (
    "/etc/passwd", "../plain.txt", "../../../../etc/passwd", "outside.txt", ".hidden.txt", ".git/config",
    "pipe.txt", "~", "~/x", "~root/.ssh", "a=~/x", "/proc/self/environ", "/proc/self/root/etc/passwd",
    "/dev/stdin", "/dev/fd/0", "/dev/zero", "//dev/null", "/dev/../etc/passwd", "scope_9.txt", "scope_01.txt",
    "deep/../../x", "loop/../../x", "''", "-", "--", "/", "..", "*", "*.txt", "[p]lain.txt", "pl?in.txt",
    "scope_*.txt", "/etc/pass*", "'Ünï'/../../*", "{plain,bom}.txt", "{1..3}", "{1..10000000}", "{a,b}{c,d}",
    "$HOME", "${HOME}", "$(id)", "`id`", "<(id)", ">(id)", "$((1+1))", "$[1+1]", "$'\\x2fetc'", '$"x"',
    "$IFS", "@(a|b)", "!(a)", "plain.txt/..", "∕etc", "／etc／passwd", "\ud7ff\udcff", "n" * 300,
)  # fmt: skip
#: What may stand where the name of a program does, and should not.
PROGRAMS = (
    "rm", "sh", "bash", "awk", "env", "exec", "eval", "source", ".", "command", "builtin", "time", "coproc",
    "tee", "python3", "./plain.txt", "/bin/cat", "cd", "export", "function", "if", "{", "(", "[[", "!",
    "cat()", "x=1", "PATH=.", "a[0]=1", "LD_PRELOAD=x", "ca\\t", "c'a't", '"cat"', "$'cat'", "ｃａｔ",
    "cat\u200b", "\xa0cat", "CAT", "cat\\\n", "select", "until", "case", "declare", "alias", "trap", "wait",
    "yes", "seq",
)  # fmt: skip
#: Operators, blanks, quotes, redirects, comments, and what looks like them.
OPERATORS = (
    " | ", "|", " && ", "&&", " || ", "; ", ";", "\n", " & ", "&", " |& ", ";;", ";&", "(", ")", " { ", " }",
    "{", "}", "`", "$(", "${", "$", "'", '"', "\\", "\\\n", "\\ ", " #", "#", " # it's\n", "!", " ! ", "~",
    "=", "[", "]", " [ ", " ] ", "[[", "]]", "((", "))", "*", "?", "\t", "\r", "\r\n", "\x0b", "\x0c",
    "\x00",
    "\x1b[2J", "\x7f", "\xa0", "\u2003", "\u3000", "\u200b", "\ufeff", "\u2028", "\x85",
    "｜", "；", "＆", "＞",
    "‘", "’", "“", "\ud800", "\udc80", "\udcff", "é", "$'", '$"', "'\\''", "\"'\"", "\\'", '\\"', "\\$",
    "\\`", " > out", ">out", " >> out", ">|out", " &> out", "&>out", " <> out", " < plain.txt", "<plain.txt",
    " < no-such.txt", " <<< x", "<<E\nx\nE\n", "<<-E\n", " 2> out", "2>out", " 2>/dev/null", " 2>/dev/null ",
    " 2>&1", " 2>&1 ", ">&2", " >&3 ", " >/dev/null", " &>/dev/null ", ">&/dev/null", " {fd}>out", " 3>&1",
    "1>&2", " >&- ", "<&-", " 2>&1>/dev/null", " >/dev/null 2>&1", " < /dev/null", " </etc/passwd", "<&0",
    " 0< plain.txt", " in ", " do ", " done", " then ", " fi", " esac", "function f ", "f() ", "a=b ",
    "a+=b ", " -- ", " - ", "@", "%", "^", "+", ",", "..", "1", " 2", "2", "0", "\\x41", "\\n", "$?", "$!",
    "$$", "$#", "$@", "$0", "$1", "$_", "$-", "!!", "!$", "^a^b", "$'\\0'", "$'\\x00'", "$'\\u0027'",
    "$'\\''", "$'\\c'", "{,}", "{a,}", "{}", "{1..2}", "{a..z..2}", "a{b", "c}", "\\{a,b}", "'{'a,b}",
)  # fmt: skip
#: Options by program: what a table knows, and what it must not.
OPTIONS: dict[str, tuple[str, ...]] = {
    "cat": ("-n", "-A", "-vet", "--number", "--show-ends", "-b", "--num", "-z", "--help", "-nz"),
    "head": (
        "-5", "-n 5", "-n5", "--lines=5", "--lines 5", "-n -3", "-c 10", "-qn2", "-v", "-z", "-5c", "-n x",
        "-n 99999999999999999999", "--li=5", "-c5k", "-n +3",
    ),
    "tail": (
        "-5", "-n 5", "-n +3", "+3", "-f", "-F", "--follow", "--follow=name", "--retry", "--pid=1", "-5f",
        "+3f", "-nf", "-s 1", "---disable-inotify", "---presume-input-pipe", "-c +3", "-qf", "--fol",
    ),
    "sed": (
        "-n", "-n 1,3p", "-n '$p'", "-e p", "-ne p", "-E", "-s", "-z", "-u", "-i", "-i.bak", "-ni",
        "--in-place", "-n -i", "-f plain.txt", "--file=plain.txt", "-e 'w out'", "-e 's/a/b/w out'",
        "-e 1e\\ id", "--posix", "--debug", "--follow-symlinks", "--in-pl", "-l 5", "-e 'r /etc/passwd'",
        "--expression=p", "s/a/b/", "-e 's/a/b\\' -e 'w out/'", "-e ':a;N;ba'", "'1{p};e id'", "--sandbox",
    ),
    "sort": (
        "-n", "-rn", "-k2", "-k 2,2n", "-t: -k1", "-t '\\t'", "-u", "-o out", "-oout", "--output=out",
        "--out=x", "-T /tmp", "-S 1G", "--compress-program=sh", "--compress-program sh",
        "--files0-from=plain.txt", "-R", "--random-source=/etc/passwd", "+1 -2", "+1", "-2", "--parallel=9",
        "-c", "-C", "--check=quiet", "-m", "--debug", "--batch-size=2", "-ro out", "-nu", "--sort=numeric",
        "-kor", "-y9", "--rev",
    ),
    "uniq": (
        "-c", "-d", "-u", "-i", "-f 1", "-w3", "-D", "--all-repeated=separate", "--group", "-1", "+1", "out",
        "- out", "-- - out", "-cd",
    ),
    "wc": (
        "-l", "-lw", "-c", "-m", "-L", "--lines", "--files0-from=plain.txt", "--files0-from plain.txt",
        "--files0=x",
    ),
    "cut": (
        "-c1-3", "-f1", "-d: -f1", "-d ' ' -f 2-", "-b 1", "-s", "--complement", "--output-delimiter=x", "-n",
        "-z", "-c1 -n", "--fields=1",
    ),
    "tr": ("a b", "-d a", "-s ' '", "-cd a-z", "a-z A-Z", "'\\n' ' '", "-t a b", "-x", "a b c"),
    "nl": ("-ba", "-b a", "-w 5", "-w 999999999", "-s x", "-v -5", "-i 2", "-n ln", "-h a", "-d xy", "-p"),
    "comm": ("-12", "-3", "--total", "-z", "--output-delimiter=x", "scope_1.txt", "- -"),
    "grep": (
        "-n x", "-in x", "-c x", "-e x", "-e -3", "-f plain.txt", "-f /etc/passwd", "-f -", "-fplain.txt",
        "--file=/etc/passwd", "-r x", "-R x", "-rn x", "--recursive x", "-d recurse x", "-D read x", "-A3 x",
        "-C 2 x", "-3 x", "-m1 x", "-o x", "-P x", "-l x", "-L x", "--include=a x",
        "--exclude-from=plain.txt x", "--include-dir=a x", "--color x", "--color=always x", "-hn x", "-z x",
        "--directories=recurse x", "-V", "--dereference-recursive x", "-iR x", "--label=x x", "-A x", "-e",
        "--rec x", "-nf/etc/passwd",
    ),
    "ls": (
        "-l", "-la", "-1", "-R", "-S", "-L", "-lL", "-H", "--color=auto", "-d", "--dereference", "-Z",
        "-w 80", "--time-style=+%9999999Y", "--sort=size", "-I x", "--hyperlink", "--deref", "-D",
    ),
    "rg": (
        "-n x", "-i x", "-nSw x", "-e x -e y", "-C2 x", "-C=2 x", "-l x", "-c x", "-o x", "-P x", "-F x",
        "-m1 x", "-f plain.txt", "-f=plain.txt", "-f /etc/passwd", "--file=/proc/self/environ", "-f-",
        "--pre sh x", "--pre=sh x", "--pre-glob=x x", "--hostname-bin=sh x", "-z x", "--search-zip x", "-L x",
        "--follow x", "--ignore-file=plain.txt x", "--ignore-file plain.txt x", "--json x", "--debug x",
        "--trace x", "--generate man", "--type-list", "--files", "--stats x", "-uuu x", "-uL x",
        "--hyperlink-format=file x", "--path-separator=x x", "--threads=4 x", "-j8 x", "--sort path x",
        "-g '*.md' x", "--no-config x", "-A x", "-nz x", "-iL x", "--regex-size-limit=99G x", "-- -x",
        "--reg=x", "-r y x", "--passthru x", "-.x", "-n=x", "--colors=match:fg:red x", "--no-pre x", "-e",
        "--context-separator=x -C1 x", "-M9 x", "-E utf8 x",
    ),
    "echo": (
        "a", "-n a", "-e 'a\\tb'", "-e '\\u0041'", "--help", "--version", "-nE x", "'$HOME'", "-e '\\101'",
        "- x",
    ),
    "printf": (
        "'%s\\n' a", "x", "'%5d' 1", "'%1000000000s' x", "'%*s' 1000000000 x", "'%n'", "-v x y", "-- '%s' -v",
        "'%.99999f' 1", "'%(%Y)T'", "'%q' x", "--help", "'%s' -v", "'\\u0041'", "'%5$s' a", "'%'",
    ),
    "true": ("", "x", "--help"),
    "false": ("",),
    ":": ("", "x"),
    "test": (
        "-f", "-e", "-d", "! -f", "-n x", "a = b", "a -nt b", "-f a -a -f b", "a == b -o", "-L", "-t 0", "-r",
        "-v x", "-ef", "1 -lt 2", "x -ef",
    ),
    "find": (
        "-name x", "-name '*.txt'", "-type f", "-maxdepth 2", "! -name x", "-exec id ';'", "-exec id {} +",
        "-execdir id ';'", "-ok id ';'", "-okdir id ';'", "-delete", "-fprint out", "-fprint0 out",
        "-fls out", "-fprintf out x", "-printf '%p\\n'", "-printf '%999999999p'", "-printf %Y",
        "-newer plain.txt", "-newermt x", "-files0-from plain.txt", "-follow", "-L", "-H", "-P", "-D all",
        "-O3", "-xtype f", "'(' -name x -o -name y ')'", "-size +1k", "-ls", "-quit", "-prune", "-print0",
        ",", "-samefile x",
    ),
    "xargs": (
        "-d '\\n' rg -n x", "-d '\\n' -r rg -l x", "-0 rg x", "-rd '\\n' cat", "-d '\\n' -n 5 head -n1",
        "-a scope_1.txt -d '\\n' rg x", "-a /etc/passwd rg x", "-d '\\n' sh -c id", "-d '\\n' rm",
        "-I{} rg x {}", "-d '\\n' rg --pre sh x", "-t rg x", "-p rg x", "-o rg x",
        "--process-slot-var=PATH rg x", "-i rg x", "-P 4 -d '\\n' wc -l", "-d '\\n' xargs rg x",
        "-d '\\n' sort -o out", "-d '\\n' sed -n w\\ out", "-E x cat", "-d '\\n' grep -f /etc/passwd",
        "-d '\\n' uniq", "-d '\\n' tail -f", "-d '\\n' find", "-e rg x", "-l cat", "-d '\\n' env rg",
        "-d '\\n' rg -z x", "-d '\\n' echo", "--arg-file=/etc/passwd cat", "-d '\\n' ls -L",
        "--max-args=3 -d '\\n' sed -n 1p", "-d '\\n' printf '%s\\n'", "--show-limits",
        "-d '\\n' rg x /etc/passwd", "-s 99999999 -d '\\n' rg x", "-L 1 -d '\\n' rg x", "-d x rg y",
        "-d '\\n' -- rg x", "-d '\\n' test -f",
    ),
    "set": ("-e", "-o pipefail", "-euo pipefail", "+e", "-x", "-- a", "-o", "foo -e", "-", "-o emacs", "-f"),
}  # fmt: skip
#: What came through once, or whose kind might.
KNOWN = (
    "[ a = b ]#", "![ -f x ]", "echo  0< plain.txt", "echo '0'< plain.txt", "echo a {fd}>/dev/null",
    "echo $\\\nHOME", 'echo "$\\\nHOME"', "echo $\\\n'a'", "echo \\\n~", "echo a=~/x", "echo a\\\n=~",
    "[ a\n= b ]", "[ -f $'a\\' b' ]", "[ a\xa0= b ]", "[ a # ]", "\ufeff", "\ufeffcat plain.txt",
    "echo a 2>&1 >/dev/null | cat", "echo a &>/dev/null | cat", "echo a >&/dev/null", "echo a |& cat",
    "echo a >/dev/null |& cat", "echo x < no-such.txt", "echo x < no-such.txt < plain.txt", "cat < *",
    "cat < pl[a]in.txt", "echo *.txt", "echo Ü*/*", "echo a\\\nb", "echo a\x0bb", "echo \u2003x", "echo a\rb",
    "echo a \\\r\nb", "echo $[1+1]", 'echo "$[1+1]"', "echo $'\\x41\\'b'", "echo $'a\\0b'", "echo {a,b}",
    "echo {a\\\n,b}", "echo '{'a,b}", "echo a{1..2}", "echo !", "echo == a", 'echo ~"x"',
    "uniq plain.txt out", "uniq -- plain.txt out", "grep -f events.jsonl scope_1.txt",
    "rg -f events.jsonl scope_1.txt", "rg -C ² x plain.txt", "sort -no out plain.txt",
    "sort plain.txt -o out", "sort plain.txt --outp=out", "sort -k1 -t: -- -o out", "tail -5f plain.txt",
    "tail +3f plain.txt", "tail -n5 -f plain.txt", "tail +3 plain.txt", "tail +3 plain.txt bom.txt",
    "head -5 plain.txt", "sed -n p -i plain.txt", "sed -ni p plain.txt", "sed -n --in-place=x p plain.txt",
    "sed --expr=p plain.txt", "grep x -R .", "grep -xR .", "grep -e x --dereference-rec .",
    "rg -nz x plain.txt", "rg x plain.txt --pre=sh", "rg -e x -L", "rg --regexp=x --fol plain.txt",
    "find . -delete", "find . -name x -exec id ';'", "find -L .", "find . -name -delete", "find , plain.txt",
    "find plain.txt ,", "find -- -delete", "find ./-x -o -fprint out", "xargs -a plain.txt -d '\\n' -I x rg",
    "xargs --arg-file /etc/passwd -d '\\n' cat", "cat scope_1.txt | xargs -d '\\n' rg -nL x",
    "cat scope_1.txt | xargs -d '\\n' -- sort -o", "cat scope_1.txt | xargs -d '\\n' uniq",
    "cat scope_1.txt | xargs -d '\\n' sed -n -i p", "set foo -e; echo x", "set -e; ! echo a; echo b",
    "set -eo pipefail; echo a | cat b; echo", "set -o pipefail -e; echo a && cat b; echo c",
    "set +e; false; echo", "! ! echo a && cat b || test c", "echo a; ! [ b = c ] || echo d | cat > /dev/null",
    "' | '", "'\u202e'", "'\x1b[2J' x", "ls -lL deep", "ls --deref deep", "comm plain.txt", "printf -v x y",
    "echo -e '\\u0041'", "test -e /etc/passwd -a -e x", "[ -ef /etc/passwd ]",
    "test /etc/passwd -ef /etc/passwd", "test /etc/passwd -nt x",
    f"rg -C {'9' * 5_000} x plain.txt",
)  # fmt: skip
#: Pieces of sed scripts, those that write and run among them.
SED = (
    "s/a/b/", "s,a,b,", "p", "d", ";", "\n", "{", "}", "!", "1", "2,3", "$", "/x/", "\\,x,", "w out", "e id",
    "e", "r x", "R x", "W x", "w", "s/a/b/w out", "s/a/b/e", "g", "I", "M", "m", "/", "\\", "[", "]", "[^]/]",
    "[]/]", "[[:alpha:]/]", "[\\]", "\\/", "\\n", "&", "#", " ", "\t", "a\\", "i x", "c", "y/a/b/", ":a",
    "ba", "t", "T x", "q5", "Q", "l 1", "=", "n;N", "0~2", "+1", "~3", "F", "z", "v", "x", "\r", "é", "漢",
    "\udce6", ",", "s", "b",
)  # fmt: skip
#: Commands as models write them; all of them run.
USUAL = (
    "cat scope_1.txt | xargs -d '\\n' rg -n -i -e 'a' -e 'b' | head -40",
    "cat scope_1.txt | xargs -d '\\n' rg -n -i \"observatory|telescope\"",
    "cat scope_1.txt | xargs -d '\n' rg -n \"first light\" | head -n 40",
    "cat scope_1.txt | xargs -d \"\\n\" rg -n -S -C 2 'comet hunter' | sed -n '1,60p'",
    "cat scope_1.txt | xargs -d '\\n' rg -l 'eclipse' | head -20",
    "cat scope_1.txt | xargs -d '\\n' rg -c 'eclipse' | sort -t: -k2 -nr | head",
    "cat scope_1.txt | xargs -d '\\n' rg -n 'prize' | rg -i 'astronom' | head -n 30",
    "cat scope_2.txt | xargs -d '\\n' -r rg -o -i '[0-9]{4}' | sort | uniq -c | sort -rn | head -n 15",
    "cat scope_1.txt | xargs -d '\\n' rg -n -e 'alpha' -e 'beta' --max-count 3 2>/dev/null | head || true",
    "head -200 scope_1.txt | xargs -d '\\n' rg -n 'glass plate'",
    "cat scope_1.txt | xargs -d '\\n' rg -n -P '(?<=Dr\\. )[A-Z]\\w+' | head",
    "sed -n '10,20p' plain.txt",
    "sed -n '10,40p' 'with space.txt'; echo ---; sed -n \"5,9p\" plain.txt",
    "cat scope_1.txt | wc -l && head -5 scope_1.txt",
    "ls | wc -l",
    "ls -la | head -20",
    "find . -name '*x*' | head",
    "find . -type f -iname \"*bird*\" -not -path './deep/*' | sort | head -n 5",
    "cat plain.txt bom.txt | head",
    "rg -n x scope_1.txt",
    "head -c 300 plain.txt",
    "nl -ba plain.txt | sed -n '1,5p'",
    "tail -n +10 plain.txt | head -n 20",
    "grep -n -i 'a\\|b' plain.txt | cut -c1-200",
    "grep -oE '[0-9]{4}' plain.txt | sort | uniq -c | sort -rn",
    "printf '%s\\n' 'a b.txt' 'c.txt' | xargs -d '\\n' rg -n x",
    "printf \"== %s ==\\n\" one; echo; echo \"two: $\"",
    "set -o pipefail; cat scope_1.txt | xargs -d '\\n' rg -n 'x' | cut -c1-300 | tail -n 20",
    "test -f plain.txt && cat plain.txt | tr '[:upper:]' '[:lower:]' | rg -n x || echo none",
    "[ -s plain.txt ] && echo there",
    "cat scope_1.txt \\\n  | xargs -d '\\n' rg -n 'a' \\\n  | head -n 5  # the first ones",
    "cat scope_1.txt | xargs -d '\\n' rg -n -U 'a.*\nb' | head",
    "cat scope_1.txt | grep -v 'x' | xargs -d '\\n' grep -n -i -H y | head -n 3",
    "comm -12 scope_1.txt scope_2.txt | head; cat scope_1.txt | sed 's/^/> /' | sed -n '1,3p'",
    "cat scope_1.txt | xargs -d '\\n' -P 4 -n 100 rg --no-heading --color=never -n x 2>&1 | head",
)  # fmt: skip


@st.composite
def simple_commands(draw: st.DrawFn) -> str:
    """A program with options and operands, most of them its own."""
    name = draw(st.sampled_from(sorted(OPTIONS)))
    words = [name if draw(st.integers(0, 15)) else draw(st.sampled_from(PROGRAMS))]
    words += draw(st.lists(st.sampled_from(OPTIONS[name]), max_size=2))
    operands = st.sampled_from(GOOD) if draw(st.integers(0, 3)) else st.sampled_from(BAD)
    words += draw(st.lists(operands, max_size=2))
    return draw(st.sampled_from([" ", " ", " ", "  ", "\t", " \\\n "])).join(words)


_joints = st.sampled_from(
    [" | ", " | ", " | ", "; ", " && ", " || ", "\n", "|", " |& ", " 2>/dev/null | ", "; ! "]
)
_ends = st.sampled_from(
    ["", "", "", "", " 2>/dev/null", " 2>&1", " >/dev/null", " >/dev/null 2>&1", ";", " # x", "\n"]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Simple commands, joined: most are allowed or nearly so."""
    pieces = draw(st.lists(simple_commands(), min_size=1, max_size=3))
    text = pieces[0]
    for piece in pieces[1:]:
        text += draw(_joints) + piece
    return text + draw(_ends)


_atoms = st.one_of(
    st.sampled_from(OPERATORS), st.sampled_from(BAD), st.sampled_from(PROGRAMS), st.text(max_size=2)
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A usual command, or a random one, with pieces put in, taken out or moved."""
    text = draw(st.one_of(st.sampled_from(USUAL), lines()))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        to = min(len(text), at + draw(st.integers(0, 3)))
        text = text[:at] + draw(st.one_of(_atoms, st.just(""), st.just(text[at:to] * 2))) + text[to:]
    return text


@st.composite
def soups(draw: st.DrawFn) -> str:
    """Anything after anything."""
    words = st.one_of(_atoms, st.sampled_from([" ", "cat", "echo ", "rg x", "a", "b "]))
    return "echo " * draw(st.integers(0, 1)) + "".join(draw(st.lists(words, max_size=8)))


attacks = st.one_of(lines(), lines(), mutated(), mutated(), soups())


_sed_pieces = st.one_of(
    st.sampled_from(
        ("p", ";", "d", "\n", "1", "2,3", "$", "/x/", "s/a/b/", "g", "{p}", "N;D", "$!N", "{", "}")
    ),
    st.sampled_from(
        ("p;", "s/a/b/;", "1,5{p;", "}", "\\,x,p;", "s,/,x,g\n", "s/[^]]/[/p;", ":a\n", "ta;", "y/a/b/;")
    ),
    st.sampled_from(SED),
)
#: Scripts for sed, some of them right.
sed_scripts = st.lists(_sed_pieces, min_size=1, max_size=8).map("".join)
